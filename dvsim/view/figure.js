// Figures: each is drawn by Vega when it comes into view, and gives its numbers as CSV.
// A figure is a div of class figure with a script of JSON in it: spec (Vega-Lite), columns, heads.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll(".figure")];
  const known = new Map();
  const content = (figure) => {
    if (!known.has(figure)) {
      const { spec, columns, heads } = JSON.parse(figure.querySelector("script").textContent);
      const whole = Object.entries(columns).map(([name, values]) =>
        [name, values.of ? values.at.map((place) => values.of[place]) : values]);
      const rows = whole[0][1].map((_, row) =>
        Object.fromEntries(whole.map(([name, values]) => [name, values[row]])));
      known.set(figure, { spec, rows, heads });
    }
    return known.get(figure);
  };

  // the library is packed; it is run as soon as the first figure is seen
  let library = null;
  const vega = () => (library ??= (async () => {
    const packed = Uint8Array.from(atob(document.getElementById("vega").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.type = "module";
    const ready = new Promise((done, failed) => { window.vegaReady = done; script.onerror = failed; });
    script.textContent = `${await new Response(stream).text()}\n;window.vegaReady();`;
    document.head.append(script);
    await ready;
    return window.vegaEmbed;
  })());
  const draw = (figure) => {
    if (!figure.drawing) figure.drawing = (async () => {
      const embed = await vega();
      const { spec, rows } = content(figure);
      const target = document.createElement("div");
      target.className = "vega";
      figure.append(target);
      const whole = { ...spec, data: { name: "rows", values: rows.map((row) => ({ ...row })) } };
      // no code is made from text: the page does not allow it
      const made = await embed(target, whole, { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } });
      figure.view = made.view;
      figure.classList.add("drawn");
      performance.mark(`drawn ${figure.id}`); // for bench/report.py
    })();
    return figure.drawing;
  };
  const drawAll = () => Promise.all(figures.map(draw));
  // those that are looked at first, the others as soon as there is time: paper wants all of them
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        seen.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "300px" });
  figures.forEach((figure) => seen.observe(figure));
  const idle = window.requestIdleCallback ?? ((done) => setTimeout(done, 50));
  const next = () => {
    const left = figures.find((figure) => !figure.drawing);
    if (left) draw(left).finally(() => idle(next));
  };
  addEventListener("load", () => idle(next));
  // as wide as the sheet
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    for (const figure of figures) {
      if (figure.view && content(figure).spec.width === "container")
        figure.view.width(figure.querySelector(".vega").clientWidth).run();
    }
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));

  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (figure) => {
    const { rows, heads } = content(figure);
    const names = Object.keys(heads);
    const all = [Object.values(heads), ...rows.map((row) => names.map((name) => row[name]))];
    return all.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  };
  const give = (link, blob) => {
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(blob);
  };
  for (const link of document.querySelectorAll("a.data")) {
    const figure = document.getElementById(link.dataset.figure);
    link.addEventListener("click", () => give(link, new Blob([csv(figure)], { type: "text/csv" })));
  }
  window.dvsim = { vega, csv: (name) => csv(document.getElementById(name)), drawAll };
})();
