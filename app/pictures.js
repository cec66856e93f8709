// Additions to the plotly pictures of the Space page: a toolbar like that of a map, which the keyboard can reach, too; a
// ring around the clicked sentence; in the other picture, the points in view in this one; and clicks in three dimensions,
// which are sent as the event `marked`: {row: number}.

const EVENTS = ['afterplot', 'selected', 'deselect', 'relayout', 'animatingframe'];
const TOOLS = [ // name, label, the button of plotly's own that it presses
  ['Pan', '', 'Pan'], ['Lasso', '', 'Lasso Select'], ['Box', '', 'Box Select'], ['+', 'Zoom in', 'Zoom in'],
  ['−', 'Zoom out', 'Zoom out'], ['Fit', '', 'Reset'], ['PNG', '', 'Download plot'], ['SVG', '', 'Download plot'],
];
let tell = () => {};

const rows = trace => trace.customdata ?? [];
const SIDES = ['left', 'right', 'moved'].map(side => `.st-key-tall-${side} .js-plotly-plot`).join();
const pictures = () => [...document.querySelectorAll(SIDES)].filter(each => each._fullData);
const plane = picture => picture._fullLayout?._plots?.xy;

// The ring around a sentence that was clicked here, if the figure has none.
function draw(picture) {
  const plot = plane(picture);
  picture.querySelectorAll('.labkit-ring').forEach(ring => ring.remove());
  picture.querySelectorAll('.annotation').forEach(name => { name.style.opacity = ''; });
  if (!plot || !picture._fullData.some(trace => trace.customdata)) return;
  fade(picture);
  const drawn = picture._fullData.some(trace => trace.marker?.symbol === 'circle-open' && trace.marker.size >= 20 && trace.x.length);
  const chosen = picture._fullData.flatMap(trace => [...(trace.selectedpoints || [])].map(at => [trace.x[at], trace.y[at]]));
  if (drawn || chosen.length !== 1) return;
  const ring = document.createElementNS('http://www.w3.org/2000/svg', 'circle'), [x, y] = chosen[0];
  const looks = { class: 'labkit-ring', r: 13, fill: 'none', stroke: '#D55E00', 'stroke-width': 4 };
  Object.assign(looks, { cx: plot.xaxis.d2p(x), cy: plot.yaxis.d2p(y) });
  for (const name in looks) ring.setAttribute(name, looks[name]);
  plot.plot.node().append(ring);
  const around = ring.getBoundingClientRect();
  for (const name of picture.querySelectorAll('.annotation')) { // none covers the ring
    const box = name.getBoundingClientRect();
    const apart = box.left > around.right || box.right < around.left || box.top > around.bottom || box.bottom < around.top;
    name.style.opacity = apart ? '' : 0.2;
  }
}

// Points whose sentences are not in view in the other picture are pale.
function fade(picture) {
  const seen = picture.labkitSeen;
  for (const trace of picture._fullData) {
    const points = picture.querySelectorAll(`.trace${trace.uid} .point`);
    rows(trace).forEach((row, at) => points[at]?.classList.toggle('labkit-away', !!seen && !seen.has(Number(row))));
  }
}

// The rows in view, null if all are.
function inView(picture) {
  const { xaxis, yaxis } = plane(picture), seen = new Set(), within = (axis, value) =>
    (value - axis.range[0]) * (value - axis.range[1]) <= 0;
  let count = 0;
  for (const trace of picture._fullData)
    rows(trace).forEach((row, at) => {
      count += 1;
      if (within(xaxis, trace.x[at]) && within(yaxis, trace.y[at])) seen.add(Number(row));
    });
  return seen.size === count ? null : seen;
}

// The other picture has its own coordinates; sentences in view here stay bright there.
function light(picture) {
  if (!plane(picture)) return;
  const seen = inView(picture);
  for (const other of pictures()) if (other !== picture) { other.labkitSeen = seen; fade(other); }
}

// A saved picture has a title.
function save(picture, button, format) {
  const { layout, _context: context } = picture, { title } = layout, options = context.toImageButtonOptions;
  layout.title = { text: layout.meta?.title, x: 0.02, y: 0.99, yanchor: 'top', font: { size: 14 } };
  context.toImageButtonOptions = { ...options, format };
  button.click(); // which copies both at once
  layout.title = title;
  context.toImageButtonOptions = options;
}

// Plotly's own toolbar cannot be reached by keyboard, and appears only under the mouse, so these buttons press its own.
function tools(picture) {
  const bar = document.createElement('div');
  bar.className = 'labkit-tools';
  bar.setAttribute('role', 'toolbar');
  bar.setAttribute('aria-label', 'Tools of the picture');
  for (const [name, label, title] of TOOLS) {
    const own = () => [...picture.querySelectorAll('.modebar-btn')].find(each => each.dataset.title?.startsWith(title));
    if (!own()) continue;
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name });
    if (label) button.setAttribute('aria-label', label);
    const saves = title === 'Download plot';
    button.onclick = () => {
      if (saves) save(picture, own(), name.toLowerCase());
      else own()?.click();
      press(picture);
    };
    button.labkitPressed = () => own()?.dataset.attr === 'dragmode' && String(own().classList.contains('active'));
    bar.append(button);
  }
  picture.append(bar);
  press(picture);
}

// The selected tool.
function press(picture) {
  for (const button of picture.querySelectorAll('.labkit-tools button')) {
    const pressed = button.labkitPressed();
    if (pressed) button.setAttribute('aria-pressed', pressed);
  }
}

function equip(picture) {
  if (picture.labkitEquipped || !picture.on || !picture.querySelector('.modebar-btn')) return; // it is still being made
  picture.labkitEquipped = true;
  for (const event of EVENTS) picture.on('plotly_' + event, () => requestAnimationFrame(() => draw(picture)));
  picture.on('plotly_relayout', () => { light(picture); press(picture); });
  picture.on('plotly_click', event => {
    const row = event.points?.[0]?.customdata;
    if (picture._fullLayout.scene && row !== undefined) tell({ row: Number(row) });
  });
  tools(picture);
  draw(picture);
}

const look = () => pictures().forEach(equip);
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });

export default function ({ setTriggerValue }) {
  tell = mark => setTriggerValue('marked', mark);
  look();
}
