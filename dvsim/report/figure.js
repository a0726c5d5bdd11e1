// Figures: each is drawn when it comes into view, and gives its points as CSV.
// A figure is a div of class figure with a script of JSON in it: data, layout and config, as for Plotly.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll(".figure")];
  const specs = new Map();

  const spec = (figure) => {
    if (!specs.has(figure)) specs.set(figure, JSON.parse(figure.querySelector("script").textContent));
    return specs.get(figure);
  };
  const draw = (figure) => {
    if (figure.classList.contains("drawn")) return;
    figure.classList.add("drawn");
    const { data, layout, config } = spec(figure);
    // Plotly decodes arrays in place: the CSV needs what was written
    Plotly.newPlot(figure, structuredClone(data), structuredClone(layout), config);
    performance.mark(`drawn ${figure.id}`); // for bench/report.py
  };
  const drawAll = () => figures.forEach(draw);

  if ("IntersectionObserver" in window) {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) {
          seen.unobserve(entry.target);
          draw(entry.target);
        }
      }
    }, { rootMargin: "300px" });
    figures.forEach((figure) => seen.observe(figure));
  } else {
    drawAll();
  }
  // on paper all of them, as wide as the sheet: it is laid out too late to ask for its width
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    drawAll();
    // at once: Plotly.Plots.resize waits a moment, and the sheet would be printed by then
    figures.forEach((figure) => Plotly.relayout(figure, { autosize: true }));
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));

  const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, i2: Int16Array, i1: Int8Array };
  const numbers = (array) => {
    if (!array || !array.bdata) return array || [];
    const bytes = Uint8Array.from(atob(array.bdata), (letter) => letter.charCodeAt(0));
    return Array.from(new KINDS[array.dtype](bytes.buffer), (value) =>
      array.dtype === "f4" ? Number(value.toPrecision(7)) : value);
  };
  const quoted = (value) => {
    const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  // names are escaped for Plotly, which reads a small HTML; a CSV wants them plain
  const plain = (html) => new DOMParser().parseFromString(html, "text/html").documentElement.textContent;
  const titleOf = (axis, otherwise) => (axis && axis.title && axis.title.text) || otherwise;

  // an axis of names has them at 0, 1, 2 ...; marks that share a name stand side by side
  const nameOf = ({ tickvals = [], ticktext = [] } = {}) => {
    const named = tickvals.length > 0 && tickvals.every((at, place) => at === place);
    return (at) => (named ? plain(ticktext[Math.round(at)]) : at);
  };

  const csv = (figure) => {
    const { data, layout } = spec(figure);
    const [across, up] = [nameOf(layout.xaxis), nameOf(layout.yaxis)];
    const rows = [["line", titleOf(layout.xaxis, "x"), titleOf(layout.yaxis, "y"), "low", "high", "z"]];
    const solid = data.some((trace) => trace.z); // a figure in space
    for (const trace of data) {
      if (trace.fill === "toself" || !trace.x) continue; // a band: its line has the values
      const [x, drawn, true_] = [numbers(trace.x), numbers(trace.y), numbers(trace.customdata)];
      const name = plain(trace.name || "");
      const y = true_.length === drawn.length && !Array.isArray(true_[0]) ? true_ : drawn;
      const bars = trace.error_y || trace.error_x || {};
      const middle = trace.error_y ? drawn : x;
      const [above, below] = [numbers(bars.array), numbers(bars.arrayminus || bars.array)];
      const z = numbers(trace.z);
      x.forEach((at, place) => {
        const from = middle[place];
        const bar = above.length ? [from - below[place], from + above[place]] : ["", ""];
        rows.push([name, across(at), up(y[place]), ...bar, z[place]]);
      });
    }
    return rows.map((row) => row.slice(0, solid ? 6 : 5).map(quoted).join(",")).join("\n") + "\n";
  };
  for (const link of document.querySelectorAll("a.data")) {
    const figure = document.getElementById(link.dataset.figure);
    link.addEventListener("click", () => {
      if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
      link.href = URL.createObjectURL(new Blob([csv(figure)], { type: "text/csv" }));
    });
  }
  window.dvsim = { csv: (name) => csv(document.getElementById(name)), drawAll };
})();
