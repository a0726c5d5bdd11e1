// The picture of a sweep: menus choose metric, axis and series, the other keys have a control each.
(() => {
  "use strict";
  const LIMIT = "what limits";
  const make = (tag, more = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...inside);
    return made;
  };
  const spread = (values, times = 50) => {
    const above = values.filter((value) => value !== null);
    const [low, high] = [Math.min(...above), Math.max(...above)];
    return low > 0 && high >= times * low ? { type: "log" } : { zero: false };
  };
  const ticks = ({ values, texts }) => {
    if (values.length > 12) return {};
    const text = Object.fromEntries(values.map((value, at) => [value, texts[at]]));
    return { values, labelExpr: `${JSON.stringify(text)}[datum.value]`, labelOverlap: "greedy", labelSeparation: 6 };
  };
  const start = (root) => {
    const data = JSON.parse(root.querySelector("script").textContent);
    const keys = Object.keys(data.keys);
    const all = data.open.map((_, at) => at);
    const most = (key) => data.keys[key].values.length;
    const limited = data.limit.some((text) => text);
    const others = keys.filter((key) => key !== data.x && most(key) <= 8).sort((one, other) => most(one) - most(other));
    const chosen = { metric: Object.keys(data.metrics)[0], x: data.x, series: others[0] ?? (limited ? LIMIT : "") };
    const fixed = Object.fromEntries(keys.map((key) => [key, data.all ? -1 : 0]));
    const [controls, plot, status] = [".controls", ".plot", ".state"].map((name) => root.querySelector(name));
    const menu = (label, name, options) => {
      const select = make("select", { name }, ...options.map(([value, text]) => make("option", { value, textContent: text })));
      select.value = chosen[name];
      select.addEventListener("change", () => { chosen[name] = select.value; arrange(); });
      return make("label", {}, `${label} `, select);
    };
    const slider = (key) => {
      const { texts } = data.keys[key];
      const shown = make("output", { textContent: texts[fixed[key]] ?? "all" });
      const range = make("input", { type: "range", name: key, min: -1, max: texts.length - 1, step: 1, value: fixed[key] });
      const say = () => {
        shown.textContent = texts[fixed[key]] ?? "all";
        range.setAttribute("aria-valuetext", shown.textContent);
      };
      say();
      range.addEventListener("input", () => { fixed[key] = Number(range.value); say(); update(); });
      return make("label", {}, `${key} `, range, " ", shown);
    };
    const buttons = (key) => make("fieldset", {}, make("legend", { textContent: key }), ...["all", ...data.keys[key].texts].map((text, place) => {
      const radio = make("input", { type: "radio", name: `${root.id}-${key}`, value: place - 1, checked: fixed[key] === place - 1 });
      radio.addEventListener("change", () => { fixed[key] = place - 1; update(); });
      return make("label", {}, radio, ` ${text}`);
    }));
    const free = () => keys.filter((key) => key !== chosen.x && key !== chosen.series);
    const series = (at) => {
      if (chosen.series === LIMIT) return data.limit[at] || "nothing";
      const key = data.keys[chosen.series];
      return key ? key.texts[key.at[at]] : "all points";
    };
    const rows = () => {
      const [metric, axis, set] = [data.metrics[chosen.metric], data.keys[chosen.x], free()];
      return all
        .filter((at) => metric.value[at] !== null && set.every((key) => fixed[key] < 0 || data.keys[key].at[at] === fixed[key]))
        .map((at) => ({
          x: axis.numeric ? axis.values[axis.at[at]] : axis.texts[axis.at[at]],
          y: metric.value[at], low: metric.low[at], high: metric.high[at],
          series: series(at), limit: data.limit[at] || "nothing",
          standing: data.apart[at] ? "saturated" : data.open[at] ? "not settled" : "settled",
        }))
        .sort((one, other) => (axis.numeric ? one.x - other.x : 0));
    };
    const spec = () => {
      const [metric, axis] = [data.metrics[chosen.metric], data.keys[chosen.x]];
      const scale = spread(metric.value);
      const known = metric.value.filter((value) => value !== null);
      const ends = scale.type ? [Math.min(...known) / 1.1, Math.max(...known) * 1.1] : undefined;
      const names = [...new Set(all.map(series))];
      const colour = { field: "series", type: "nominal", scale: { domain: names, range: data.colours }, legend: names.length > 1 ? {} : null };
      const joined = axis.numeric && chosen.series !== LIMIT && !data.all;
      const y = { field: "y", type: "quantitative", title: metric.title, scale: { ...scale, ...(ends ? { domain: ends } : {}) } };
      const banded = { y: { ...y, field: "lower" }, y2: { field: "high" }, color: colour };
      const lower = [{ filter: "datum.low < datum.high" }, { calculate: ends ? `max(datum.low, ${ends[0]})` : "datum.low", as: "lower" }];
      const kept = { filter: "datum.standing != 'saturated'" };
      const apart = { filter: "datum.standing == 'saturated'" };
      const open = { condition: { test: "datum.standing == 'settled'", value: 1 }, value: 0 };
      const shape = { field: "standing", type: "nominal", scale: { domain: ["settled", "not settled", "saturated"], range: ["circle", "circle", "triangle-up"] }, legend: null };
      const tooltip = ["series", "x", "y", "low", "high", "standing", "limit"].map((field) => ({ field }));
      return {
        data: { name: "rows", values: rows() }, width: "container", height: 380, config: data.config,
        encoding: { x: axis.numeric
          ? { field: "x", type: "quantitative", title: chosen.x, scale: { ...spread(axis.values, 10), nice: false, padding: 12 }, axis: ticks(axis) }
          : { field: "x", type: "nominal", title: chosen.x, sort: axis.texts } },
        layer: [
          ...(joined ? [{ transform: [...lower, kept], mark: { type: "area", opacity: 0.2 }, encoding: banded }] : []),
          { transform: [...lower, ...(joined ? [apart] : [])], mark: { type: "rule", strokeWidth: 1.5 }, encoding: banded },
          ...(joined ? [{ transform: [kept], mark: { type: "line", strokeWidth: 2 }, encoding: { y, color: colour } }] : []),
          { mark: { type: "point", size: 60, opacity: 1 }, encoding: { y, color: colour, fill: { ...colour, legend: null }, fillOpacity: open, shape, tooltip } },
        ],
      };
    };
    const say = (drawn) => {
      const weak = ["not settled", "saturated"].map((name) => [drawn.filter((row) => row.standing === name).length, name]);
      status.textContent = [`${drawn.length} points`, ...weak.filter(([count]) => count).map((pair) => pair.join(" "))].join(", ");
      const ends = drawn.length ? [drawn[0], drawn[drawn.length - 1]] : [];
      const values = ends.map((row) => `${row.y} at ${row.x}`).join(" to ");
      plot.setAttribute("aria-label", `${data.metrics[chosen.metric].title} over ${chosen.x}: ${values || "no point was run there"}.`);
    };
    let view = null;
    const draw = async () => {
      const embed = await window.dvsim.vega();
      const target = make("div", { className: "vega" });
      plot.replaceChildren(target);
      const made = await embed(target, spec(), { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } });
      view = made.view;
      say(rows());
      performance.mark(`drawn ${root.id}`);
    };
    const update = () => {
      const drawn = rows();
      say(drawn);
      if (view) view.data("rows", drawn).run();
    };
    const arrange = () => {
      if (chosen.series === chosen.x) chosen.series = "";
      const axes = keys.map((key) => [key, key]);
      controls.replaceChildren(
        menu("metric", "metric", Object.entries(data.metrics).map(([name, { title }]) => [name, title])),
        menu("x axis", "x", axes),
        menu("series", "series", [...axes.filter(([key]) => key !== chosen.x), ...(limited ? [[LIMIT, LIMIT]] : []), ["", "none"]]),
        ...free().map((key) => (data.keys[key].numeric || most(key) > 12 ? slider(key) : buttons(key))));
      return draw();
    };
    arrange();
  };
  document.querySelectorAll(".explorer").forEach(start);
})();
