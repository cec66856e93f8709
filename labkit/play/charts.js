// Two small charts over the steps: hit@1, and inter/intra on a logarithmic scale; trained solid, unseen dashed.

import { byId, el } from "./dom.js";
import { pen, theme } from "./palette.js";

const LOG = { low: 0.1, high: 1000 };
const CHARTS = {
  hit: { of: (part) => part.hit, share: (value) => value, ticks: [0, 0.5, 1], written: (value) => value.toFixed(2) },
  ratio: {
    of: (part) => part.ratio,
    share: (value) => Math.log(Math.min(LOG.high, Math.max(LOG.low, value)) / LOG.low) / Math.log(LOG.high / LOG.low),
    ticks: [0.1, 1, 10, 100, 1000],
    written: (value) => value.toFixed(value < 10 ? 1 : 0),
  },
};

/** Draw both charts with their numbers, one list of measurements a side, and return the numbers of hit@1. */
export function drawCharts(histories) {
  const [hit] = Object.keys(CHARTS).map((name) => {
    if (byId(name).clientWidth) drawChart(byId(name), name, histories);
    const written = (value) => (Number.isNaN(value) ? "–" : CHARTS[name].written(value)); // NaN: no unseen sentences
    const texts = histories.map((history, side) => {
      const { step, train, unseen } = history.at(-1);
      const which = histories.length > 1 ? (side ? "right " : "left ") : "";
      return `${which}${written(train[name])}, unseen ${written(unseen[name])}, at step ${step}`;
    });
    const lines = texts.map((text, side) => el("span", { className: `side${side}` }, text));
    byId(`${name}-values`).replaceChildren(...lines);
    return texts.join("; ");
  });
  return hit;
}

/** Draw `histories`: the second side's lines are thinner. */
function drawChart(canvas, name, histories) {
  const { of, share, ticks } = CHARTS[name];
  const tones = theme();
  const { context: c, width, height } = pen(canvas);
  const size = parseFloat(getComputedStyle(canvas).fontSize);
  const left = size * 2.6;
  const bottom = size * 1.4; // for the axis of the steps
  const last = Math.max(50, ...histories.map((history) => history.at(-1)?.step ?? 0));
  const x = (step) => left + (step / last) * (width - left - 4);
  const y = (value) => height - bottom - share(value) * (height - bottom - 7);
  c.font = `${size}px ${tones.font}`;
  c.strokeStyle = tones.line;
  c.fillStyle = tones.soft;
  c.lineWidth = 1;
  for (const tick of ticks) {
    c.beginPath();
    c.moveTo(left, y(tick));
    c.lineTo(width - 4, y(tick));
    c.stroke();
    if (tick === ticks[0] || tick === 1 || tick === ticks.at(-1)) c.fillText(String(tick), 0, y(tick) + size / 3);
  }
  for (const [text, place] of [["0", 0], ["training step", 0.5], [String(last), 1]]) {
    c.fillText(text, x(place * last) - place * c.measureText(text).width, height - size / 3);
  }
  histories.forEach((history, side) => {
    for (const part of ["train", "unseen"]) {
      c.strokeStyle = c.fillStyle = side ? tones.push : tones.ink;
      c.lineWidth = side ? 1.6 : 2.2;
      c.setLineDash(part === "unseen" ? [4, 3] : []);
      c.beginPath();
      for (const entry of history) c.lineTo(x(entry.step), y(of(entry[part])));
      c.stroke();
      const now = history.at(-1);
      if (part === "train") c.fillRect(x(now.step) - 2.5, y(of(now[part])) - 2.5, 5, 5); // one measurement is no line
    }
  });
  c.setLineDash([]);
}
