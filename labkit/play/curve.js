// Weight against similarity: the batch's pairs as dots, and the curve that a pair would follow if it alone moved.

import { mean } from "./metrics.js";
import { pen, theme } from "./palette.js";
import { LOSSES } from "./pairs.js";

const SAMPLES = 41; // places of the curve
const ANCHORS = 8; // whose curves are averaged
const SIDE = 10; // pixels left and right of the picture
const HEADROOM = 1.06; // so that the heaviest pair is not on the frame

/**
 * The mean weight over a few anchors of a positive (kind "P") or negative ("N") at each similarity from -1 to 1, all
 * other pairs as they are. The one that is moved is the anchor's middle one.
 */
function weightCurve(settings, { S, P, N, m }, kind) {
  const { gradient, wholeBatch } = LOSSES[settings.loss];
  const lists = kind === "P" ? P : N;
  const anchors = P.map((_, i) => i).filter((i) => lists[i].length && P[i].length && N[i].length);
  const every = Math.max(1, Math.floor(anchors.length / ANCHORS));
  const chosen = anchors.filter((_, at) => at % every === 0).slice(0, wholeBatch ? 1 : ANCHORS);
  if (!chosen.length) return [];
  const everywhere = (all) => all.flatMap((row, i) => row.map((j) => i * m + j));
  const [wholeP, wholeN] = wholeBatch ? [everywhere(P), everywhere(N)] : [];
  const parts = chosen.map((i) => {
    const s = wholeBatch ? S.slice() : S.slice(i * m, (i + 1) * m);
    const order = [...lists[i]].sort((a, b) => S[i * m + a] - S[i * m + b]);
    const j = order[order.length >> 1] + (wholeBatch ? i * m : 0);
    return { s, j, P: wholeP ?? P[i], N: wholeN ?? N[i], scale: wholeBatch ? m : 1 };
  });
  return Array.from({ length: SAMPLES }, (_, at) => {
    const similarity = -1 + (2 * at) / (SAMPLES - 1);
    const weights = parts.map((part) => {
      const g = new Float64Array(part.s.length);
      part.s[part.j] = similarity;
      gradient(part.s, part.P, part.N, settings, g);
      return Math.abs(g[part.j]) * part.scale;
    });
    return [similarity, mean(weights)];
  });
}

export class Curve {
  constructor(canvas) {
    Object.assign(this, { canvas, top: 1 });
  }

  /** Draw the batch; `pair` [i, j] is set off. */
  draw(settings, batch, pair = null) {
    const tones = theme();
    const { context: c, width, height } = pen(this.canvas);
    const size = parseFloat(getComputedStyle(this.canvas).fontSize);
    const [top, bottom] = [1.7 * size, height - 2.4 * size]; // of the picture, between the words
    const dots = [...pairsOf(batch, "P", batch.P), ...pairsOf(batch, "N", batch.N)];
    const curves = { P: weightCurve(settings, batch, "P"), N: weightCurve(settings, batch, "N") };
    const weights = [...dots.map(({ weight }) => weight), ...[...curves.P, ...curves.N].map(([, weight]) => weight)];
    const highest = weights.reduce((high, weight) => Math.max(high, weight), 0);
    this.top = HEADROOM * highest || 1;
    const x = (similarity) => SIDE + ((similarity + 1) / 2) * (width - 2 * SIDE);
    const y = (weight) => bottom - (weight / this.top) * (bottom - top);
    this.axes(c, tones, size, x, y, width, height);
    this.leftOut(c, tones, batch, x, bottom);
    c.save();
    c.beginPath();
    c.rect(0, top - 6, width, height - top);
    c.clip();
    for (const { kind, similarity, weight } of dots) {
      c.globalAlpha = 0.45;
      c.fillStyle = kind === "P" ? tones.pull : tones.push;
      if (kind === "P") c.fillRect(x(similarity) - 2, y(weight) - 2, 4, 4);
      else diamond(c, x(similarity), y(weight), 2.6);
    }
    c.globalAlpha = 1;
    for (const kind of ["P", "N"]) line(c, curves[kind], x, y, kind === "P" ? tones.pull : tones.push, kind === "N");
    if (!dots.some(({ weight }) => weight)) this.say("no pair has any weight", c, tones, width, top + size);
    if (pair) this.mark(c, tones, batch, pair, x, y);
    c.restore();
  }

  axes(c, tones, size, x, y, width, height) {
    c.strokeStyle = tones.line;
    c.fillStyle = tones.soft;
    c.lineWidth = 1;
    c.font = `${size}px ${tones.font}`;
    c.beginPath();
    for (const tick of [-1, -0.5, 0, 0.5, 1]) {
      c.moveTo(x(tick), y(this.top));
      c.lineTo(x(tick), y(0));
    }
    c.moveTo(x(-1), y(0));
    c.lineTo(x(1), y(0));
    c.stroke();
    c.fillText(`weight, up to ${(this.top / HEADROOM).toPrecision(2)}`, x(-1) + 2, size);
    c.fillText("−1", x(-1) - 6, height - 6);
    c.fillText("1", x(1) - 4, height - 6);
    const caption = "similarity of the pair";
    c.fillText(caption, (width - c.measureText(caption).width) / 2, height - 6);
  }

  /** Pairs that the miner kept from the loss, as grey ticks below the axis. */
  leftOut(c, tones, batch, x, bottom) {
    c.fillStyle = tones.soft;
    c.globalAlpha = 0.3;
    for (const kind of ["P", "N"]) {
      const kept = batch[kind];
      batch.known[kind].forEach((row, i) => {
        for (const j of row) {
          if (!kept[i].includes(j)) c.fillRect(x(batch.S[i * batch.m + j]), bottom + 1, 1, 7);
        }
      });
    }
    c.globalAlpha = 1;
  }

  say(text, c, tones, x, y) {
    c.fillStyle = tones.soft;
    c.fillText(text, x - SIDE - 6 - c.measureText(text).width, y);
  }

  mark(c, tones, { S, G, m }, [i, j], x, y) {
    c.strokeStyle = tones.ink;
    c.lineWidth = 2.5;
    c.beginPath();
    c.arc(x(S[i * m + j]), y(Math.abs(G[i * m + j])), 7, 0, 2 * Math.PI);
    c.stroke();
  }
}

function pairsOf({ S, G, m }, kind, lists) {
  const weigh = (i, j) => ({ kind, similarity: S[i * m + j], weight: Math.abs(G[i * m + j]) });
  return lists.flatMap((row, i) => row.map((j) => weigh(i, j)));
}

function diamond(c, x, y, r) {
  c.beginPath();
  c.moveTo(x, y - r);
  c.lineTo(x + r, y);
  c.lineTo(x, y + r);
  c.lineTo(x - r, y);
  c.fill();
}

function line(c, places, x, y, colour, dashed) {
  c.strokeStyle = colour;
  c.lineWidth = 2.5;
  c.setLineDash(dashed ? [7, 4] : []);
  c.beginPath();
  for (const [similarity, weight] of places) c.lineTo(x(similarity), y(weight));
  c.stroke();
  c.setLineDash([]);
}
