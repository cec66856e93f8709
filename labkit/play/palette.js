// Colours and shapes of the page. Each class has both, so that neither colour-blind eyes nor grey print lose it.

// Six colours of Okabe and Ito (2008), as in labkit.palette: they keep apart for all eyes, on light and dark.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"];
const SHAPES = ["circle", "diamond", "square", "triangle", "cross", "star"];

const PULL = { light: "#0072b2", dark: "#56b4e9" };
const PUSH = { light: "#b86e00", dark: "#e69f00" };

/** Colour and shape of a class: all 36 combinations before one comes again, and no shape twice in the two blues. */
export function look(label) {
  const turn = Math.floor(label / COLOURS.length);
  const shape = SHAPES[(label + 3 * turn + Math.floor(turn / 2)) % SHAPES.length];
  return { colour: COLOURS[label % COLOURS.length], shape };
}

/** The colours of now, light or dark, as the style sheet has them. */
export function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const mode = dark ? "dark" : "light";
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { ground: value("--ground"), ink: value("--ink"), soft: value("--soft"), line: value("--line"),
    pull: PULL[mode], push: PUSH[mode], font: style.fontFamily };
}

/** The outline of a shape around (x, y), `r` about half as wide. */
export function trace(pen, shape, x, y, r) {
  pen.beginPath();
  if (shape === "circle") pen.arc(x, y, r, 0, 2 * Math.PI);
  else for (const [dx, dy] of CORNERS[shape]) pen.lineTo(x + r * dx, y + r * dy);
  pen.closePath();
}

const spikes = (count, outer, inner) =>
  Array.from({ length: 2 * count }, (_, at) => {
    const angle = (Math.PI * at) / count - Math.PI / 2;
    const reach = at % 2 ? inner : outer;
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  });
const arm = 0.42; // half of a cross' width
const CORNERS = {
  diamond: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  triangle: [[0, -1.2], [1.15, 0.85], [-1.15, 0.85]],
  cross: [
    [-arm, -1.15], [arm, -1.15], [arm, -arm], [1.15, -arm], [1.15, arm], [arm, arm],
    [arm, 1.15], [-arm, 1.15], [-arm, arm], [-1.15, arm], [-1.15, -arm], [-arm, -arm],
  ],
  star: spikes(5, 1.4, 0.6),
};

/** A canvas' pen in units of CSS pixels, cleared, with its width and height; sharp on every screen. */
export function pen(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
