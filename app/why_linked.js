// The bars of an anchor and its row in the squares of the batch are the same pairs: the pair under the mouse in one of
// them gets a frame in the others.

const SQUARES = ['similarity_heatmap', 'weight_heatmap'], BARS = 'anchor_bars';
const pictures = key => [...document.querySelectorAll(`.st-key-${key} .js-plotly-plot`)].filter(each => each._fullData);
let anchor = 0;

function outline(picture, axes, x, y) {
  const plot = picture._fullLayout._plots[axes];
  const [left, right] = x.map(plot.xaxis.d2p), [top, bottom] = y.map(plot.yaxis.d2p).sort((a, b) => a - b);
  const frame = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const looks = { class: 'labkit-linked', x: left - 1, y: top - 1, width: right - left + 2, height: bottom - top + 2 };
  Object.assign(looks, { fill: 'none', stroke: '#D55E00', 'stroke-width': 2.5, 'pointer-events': 'none' });
  for (const name in looks) frame.setAttribute(name, looks[name]);
  plot.plot.node().append(frame);
}

function link(other) {
  document.querySelectorAll('.labkit-linked').forEach(frame => frame.remove());
  if (other === null) return;
  for (const square of SQUARES.flatMap(pictures))
    outline(square, 'xy', [other - 0.5, other + 0.5], [anchor - 0.5, anchor + 0.5]);
  for (const bars of pictures(BARS))
    for (const trace of bars._fullData) {
      const at = (trace.customdata ?? []).findIndex(each => each[0] === other);
      if (at < 0) continue;
      const axes = trace.xaxis + trace.yaxis, { range } = bars._fullLayout._plots[axes].yaxis;
      outline(bars, axes, [trace.x[at] - 0.5, trace.x[at] + 0.5], range);
    }
}

function equip(picture, paired) {
  if (picture.labkitLinked || !picture.on) return;
  picture.labkitLinked = true;
  picture.on('plotly_hover', event => link(paired(event.points[0])));
  picture.on('plotly_unhover', () => link(null));
}

const look = () => {
  for (const bars of pictures(BARS)) equip(bars, point => point.customdata?.[0] ?? null);
  for (const square of SQUARES.flatMap(pictures)) equip(square, point => (point.y === anchor ? point.x : null));
};
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });

export default function ({ data }) {
  anchor = data.anchor;
  look();
}
