// The recorded run: packets on concentric cylinders, drawn on a canvas that can be turned.
// Cylinder = radius (0 is the outermost), angle = around, height = up. No library.
"use strict";
(() => {
const still = matchMedia("(prefers-reduced-motion: reduce)");
const TURN = 2 * Math.PI;

function start(root) {
  const $ = (name) => root.querySelector(name);
  const run = JSON.parse($("script").textContent);
  const { height: H, angles: A, cylinders: C } = run;
  const canvas = $("canvas"), pen = canvas.getContext("2d");
  const slider = $(".slot"), play = $(".play"), choice = $(".packet"), speed = $(".speed");
  const svg = $("svg"), cursor = svg && $(".cursor");
  let now = run.first, playing = 0, chosen = null, yaw = 0.5, pitch = 0.42, ink = {}, seen = [];
  const state = new Map(run.queue.slot.map((slot, i) => [slot, i]));

  // ---- where things are -----------------------------------------------------------------------
  const radius = (c) => 1 - 0.74 * c / (C - 1);
  function place(node) { // cylinder, angle and height as radius, turn and elevation
    const h = node % H, a = Math.floor(node / H) % A, c = Math.floor(node / H / A);
    return [radius(c), a / A * TURN, H > 1 ? h / (H - 1) - 0.5 : 0];
  }
  function project([r, turn, up]) { // x, y on the canvas and the depth, 1 in front to -1 behind
    const x = r * Math.cos(turn + yaw), z = r * Math.sin(turn + yaw);
    const scale = size * (width < 500 ? 0.38 : 0.42) * (1 + 0.12 * z);
    const y = up * 1.15 * Math.cos(pitch) - z * Math.sin(pitch);
    return [width / 2 + x * scale, size / 2 - y * scale, z];
  }
  // Between two slots: always one angle on, so a packet goes round its cylinder, never across.
  function between(from, to, share) {
    const a = place(from), b = place(to);
    return [a[0] + (b[0] - a[0]) * share, a[1] + share * TURN / A, a[2] + (b[2] - a[2]) * share];
  }
  const stepAt = (packet, slot) => slot - packet.slots[0]; // one step in every slot
  function whereabouts(packet, time) {
    const slot = Math.ceil(time - 1e-9), share = 1 - (slot - time), i = stepAt(packet, slot);
    if (i < 0 || i >= packet.events.length) return null;
    const event = packet.events[i], here = place(packet.nodes[i]);
    if (event === "e") return { event, at: [here[0] + 0.12 * (1 - share), here[1], here[2]], fade: share };
    if (event === "l" || event === "x")
      return { event, at: event === "x" ? here : [here[0] * (1 - share), here[1], here[2]], fade: 1 - share };
    return { event, at: between(packet.nodes[i - 1], packet.nodes[i], share), fade: 1 };
  }

  // ---- drawing --------------------------------------------------------------------------------
  let width = 300, size = 300;
  function colours() {
    const style = getComputedStyle(root);
    for (const name of ["page", "ink", "soft", "line", "packet", "deflected", "way"])
      ink[name] = style.getPropertyValue("--" + name).trim();
    draw();
  }
  function resize() {
    const wide = canvas.clientWidth, dots = Math.min(devicePixelRatio || 1, 2);
    if (!wide) return;
    width = wide;
    size = Math.min(wide, 560);
    canvas.style.height = size + "px";
    canvas.width = wide * dots;
    canvas.height = size * dots;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    draw();
  }
  function line(points, colour, thick, dash, alpha) {
    pen.beginPath();
    points.forEach((point, i) => pen[i ? "lineTo" : "moveTo"](point[0], point[1]));
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.globalAlpha = alpha;
    pen.setLineDash(dash);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }
  function mark(x, y, event, r, alpha, hollow) {
    pen.globalAlpha = alpha;
    pen.beginPath();
    if (event === "x") {
      pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r);
      pen.moveTo(x + r, y - r); pen.lineTo(x - r, y + r);
      pen.strokeStyle = ink.deflected; pen.lineWidth = 2.5; pen.stroke();
    } else {
      if (event === "d") {
        pen.moveTo(x, y - 1.5 * r); pen.lineTo(x + 1.5 * r, y);
        pen.lineTo(x, y + 1.5 * r); pen.lineTo(x - 1.5 * r, y); pen.closePath();
      } else pen.arc(x, y, r, 0, TURN);
      const colour = event === "d" ? ink.deflected : ink.packet;
      pen.fillStyle = hollow ? ink.page : colour;
      pen.fill();
      pen.strokeStyle = hollow ? colour : ink.page;
      pen.lineWidth = hollow ? 2 : 1;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }
  function scene() {
    for (let c = 0; c < C; c++) {
      for (const up of [-0.5, 0.5]) {
        const ring = Array.from({ length: 65 }, (_, i) => project([radius(c), i / 64 * TURN, up]));
        line(ring, ink.soft, c === 0 ? 1.2 : 0.8, c === 0 ? [] : [3, 3], 0.6);
      }
      if (C * A <= 200)
        for (let a = 0; a < A; a++) // a post through the nodes of one angle
          line([-0.5, 0.5].map((up) => project([radius(c), a / A * TURN, up])), ink.soft, 0.7, [], 0.3);
    }
    const every = Math.max(1, Math.ceil(C * A * H / 2000)); // tall switches: some of the heights
    const r = Math.max(0.7, Math.min(2.2, 90 / Math.sqrt(C * A * H)));
    pen.fillStyle = ink.soft;
    for (let c = 0; c < C; c++)
      for (let a = 0; a < A; a++)
        for (let h = 0; h < H; h += every) {
          const [x, y, z] = project(place((c * A + a) * H + h));
          pen.globalAlpha = 0.45 + 0.3 * z;
          pen.fillRect(x - r, y - r, 2 * r, 2 * r);
        }
    pen.globalAlpha = 1;
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    for (let a = 0; a < A; a++) {
      const [x, y] = project([1.13, a / A * TURN, -0.5]);
      pen.fillText((A <= 8 ? "angle " : "") + a, x, y + 4);
    }
  }
  function way(packet) { // the whole way of one packet: what lies behind it solid, the rest dotted
    const time = Math.min(now, packet.slots[packet.slots.length - 1]);
    for (let i = 1; i < packet.events.length; i++) {
      if (packet.events[i] === "l" || packet.events[i] === "x") continue;
      const part = Array.from({ length: 9 }, (_, k) => project(between(packet.nodes[i - 1], packet.nodes[i], k / 8)));
      const gone = packet.slots[i] <= time + 1e-9;
      line(part, ink.way, gone ? 3 : 2, gone ? [] : [2, 4], gone ? 0.9 : 0.6);
      if (packet.events[i] === "d") {
        const [x, y] = project(place(packet.nodes[i]));
        mark(x, y, "d", 4, 1, true);
      }
    }
  }
  function draw() {
    pen.clearRect(0, 0, width, size);
    scene();
    const packet = run.packets.find((one) => one.id === chosen);
    if (packet) way(packet);
    const time = still.matches ? Math.floor(now) : now;
    seen = [];
    for (const one of run.packets) {
      const found = whereabouts(one, time);
      if (!found || found.fade <= 0) continue;
      const [x, y, z] = project(found.at);
      seen.push({ one, x, y, z, event: found.event, fade: found.fade });
    }
    seen.sort((a, b) => a.z - b.z);
    for (const { one, x, y, z, event, fade } of seen) {
      mark(x, y, event, 4.2 + z, fade * (0.8 + 0.2 * z));
      if (one.id === chosen) {
        pen.beginPath(); pen.arc(x, y, 10, 0, TURN);
        pen.strokeStyle = ink.ink; pen.lineWidth = 2; pen.stroke();
      }
    }
  }

  // ---- what is said beside it -----------------------------------------------------------------
  const node = (index) => "(" + [Math.floor(index / H / A), Math.floor(index / H) % A, index % H].join(", ") + ")";
  function tell() {
    const slot = Math.floor(now), i = state.get(slot);
    slider.value = slot;
    const text = i === undefined ? "" : ": " + run.queue.waiting[i] + " waiting, " +
      run.queue.in_flight[i] + " inside, " + run.queue.deflected[i] + " deflected";
    $(".state").textContent = "Slot " + slot + text;
    slider.setAttribute("aria-valuetext", $(".state").textContent);
    if (cursor) {
      const left = +svg.dataset.left, span = svg.dataset.right - left;
      const share = (now - run.first) / Math.max(1, run.last - run.first);
      cursor.setAttribute("transform", "translate(" + (left + span * share) + " 0)");
    }
    draw();
  }
  function choose(id) {
    chosen = id;
    choice.value = id === null ? "" : String(id);
    const packet = run.packets.find((one) => one.id === id);
    let text = "No packet chosen.";
    if (packet) {
      const hits = packet.slots.filter((_, i) => packet.events[i] === "d");
      const end = packet.events[packet.events.length - 1], last = packet.slots[packet.slots.length - 1];
      text = "Packet " + id + " enters at " + node(packet.nodes[0]) + " in slot " + packet.slots[0] +
        ", goes to angle " + packet.to[0] + ", height " + packet.to[1] + ", and " +
        (end === "l" ? "leaves in slot " + last : end === "x" ? "is lost in slot " + last :
          "is still inside in slot " + last) + ". " +
        (hits.length ? "Deflected " + hits.map((slot) => "in slot " + slot +
          (packet.by[slot] === undefined ? " by a fault" : " by packet " + packet.by[slot])).join(", ") + "." :
          "It is never deflected.");
    }
    $(".chosen").textContent = text;
    draw();
  }

  // ---- controls -------------------------------------------------------------------------------
  let before = 0;
  function frame(clock) {
    now = Math.min(run.last, now + (clock - before) / 1000 * speed.value);
    before = clock;
    tell();
    if (now >= run.last) stop();
    else playing = requestAnimationFrame(frame);
  }
  function stop() {
    cancelAnimationFrame(playing);
    playing = 0;
    play.textContent = "Play";
  }
  function go(slot) {
    stop();
    now = Math.max(run.first, Math.min(run.last, slot));
    tell();
  }
  play.addEventListener("click", () => {
    if (playing) { stop(); return; }
    if (now >= run.last) now = run.first;
    play.textContent = "Pause";
    before = performance.now();
    playing = requestAnimationFrame(frame);
  });
  $(".back").addEventListener("click", () => go(Math.ceil(now) - 1));
  $(".on").addEventListener("click", () => go(Math.floor(now) + 1));
  slider.addEventListener("input", () => go(+slider.value));
  choice.addEventListener("change", () => choose(choice.value === "" ? null : +choice.value));
  if (svg) svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), left = +svg.dataset.left, right = +svg.dataset.right;
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    go(Math.round(run.first + (x - left) / (right - left) * (run.last - run.first)));
  });

  let held = null;
  function turn(x, y) {
    yaw -= x;
    pitch = Math.max(0.05, Math.min(1.4, pitch + y));
    draw();
  }
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, far: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held.x, y = event.clientY - held.y;
    held = { x: event.clientX, y: event.clientY, far: held.far + Math.abs(x) + Math.abs(y) };
    turn(x / 140, event.pointerType === "touch" ? 0 : y / 200); // a finger scrolls the page
  });
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointerup", (event) => {
    const click = held && held.far < 6, box = canvas.getBoundingClientRect();
    held = null;
    if (!click) return;
    const far = (dot) => Math.hypot(dot.x - (event.clientX - box.left), dot.y - (event.clientY - box.top));
    const nearest = seen.filter((dot) => far(dot) < 18).sort((a, b) => far(a) - far(b))[0];
    choose(nearest ? nearest.one.id : null);
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (moves[event.key]) { turn(...moves[event.key]); event.preventDefault(); }
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colours);
  new ResizeObserver(() => requestAnimationFrame(resize)).observe(canvas.parentElement);
  addEventListener("beforeprint", colours);
  addEventListener("afterprint", colours);
  root.classList.add("ready");
  resize();
  colours();
  choose(null);
  tell();
}
document.querySelectorAll(".player").forEach(start);
})();
