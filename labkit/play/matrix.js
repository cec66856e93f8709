// The batch as a matrix: row i is anchor i, the cell (i, j) the weight that its loss gives the pair; blue pulls.

import { pen, theme } from "./palette.js";

export class Matrix {
  constructor(canvas) {
    Object.assign(this, { canvas, cell: 1 });
  }

  /** Draw G (m, m) of a batch that is sorted by class; `pair` [i, j] is framed, and the row and column of `place`. */
  draw(batch, labels, pair = null, place = -1) {
    const { G, m } = batch;
    const tones = theme();
    const { context: c, width } = pen(this.canvas);
    this.cell = width / m;
    const most = G.reduce((high, slope) => Math.max(high, Math.abs(slope)), 1e-12);
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < m; j++) {
        const share = Math.abs(G[i * m + j]) / most;
        if (!share) continue;
        c.globalAlpha = 0.08 + 0.92 * Math.sqrt(share); // the root, so that small weights are seen
        c.fillStyle = G[i * m + j] < 0 ? tones.pull : tones.push;
        c.fillRect(j * this.cell, i * this.cell, this.cell + 0.3, this.cell + 0.3);
      }
    }
    c.globalAlpha = 1;
    c.strokeStyle = tones.soft;
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 1; i < m; i++) {
      if (labels[batch.rows[i]] === labels[batch.rows[i - 1]]) continue;
      c.moveTo(0, i * this.cell);
      c.lineTo(width, i * this.cell);
      c.moveTo(i * this.cell, 0);
      c.lineTo(i * this.cell, width);
    }
    c.stroke();
    c.strokeStyle = tones.ink;
    c.lineWidth = 2;
    if (place >= 0) {
      c.strokeRect(0, place * this.cell, width, this.cell);
      c.strokeRect(place * this.cell, 0, this.cell, width);
    }
    if (pair) {
      c.strokeRect(pair[1] * this.cell - 1, pair[0] * this.cell - 1, this.cell + 2, this.cell + 2);
    }
  }

  /** The pair [i, j] under a place of the canvas. */
  pairAt(x, y, m) {
    const [i, j] = [Math.floor(y / this.cell), Math.floor(x / this.cell)];
    return i >= 0 && j >= 0 && i < m && j < m && i !== j ? [i, j] : null;
  }
}
