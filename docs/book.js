// A picture is still until it comes near the screen; then plotly draws it live in its place.
// With #print at the end of the address all are drawn at once, to the width of a sheet: lines where a still has dots.
const here = document.currentScript.src;
const sheet = location.hash === "#print";
document.documentElement.classList.toggle("drawn-for-print", sheet);
const pictures = [...document.querySelectorAll(".picture")];
let plotly;

function library() {
  plotly ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: new URL("plotly.min.js", here), onload: () => done(window.Plotly), onerror: failed });
    document.head.append(script);
  });
  return plotly;
}

async function draw(picture) {
  const { data, layout } = JSON.parse(picture.querySelector("script").textContent);
  const live = document.createElement("div");
  Object.assign(live, { role: "figure", ariaLabel: picture.querySelector("img").alt });
  const Plotly = await library();
  picture.append(live);
  picture.classList.add("live");
  await Plotly.newPlot(live, data, layout, { responsive: !sheet, staticPlot: sheet, displaylogo: false });
  reach();
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: "400px" },
);
pictures.forEach(sheet ? draw : (picture) => near.observe(picture));

// what is wider than the screen is scrolled by the keyboard, too
function reach() {
  for (const box of document.querySelectorAll("pre, .math-wrapper, .table-wrapper, .output.text_html")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reach);
addEventListener("toggle", reach, true);
reach();
