// A picture is still until it comes near the screen; then plotly draws it live in its place.
// With #live at the end of the address all of them are drawn at once: so they are lines, not dots, in print.
const here = document.currentScript.src;
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
  const Plotly = await library();
  picture.append(live);
  picture.classList.add("live");
  await Plotly.newPlot(live, data, layout, { responsive: true, displaylogo: false });
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
pictures.forEach(location.hash === "#live" ? draw : (picture) => near.observe(picture));

// what is wider than the screen is scrolled by the keyboard, too
function reach() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .math-block")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reach);
addEventListener("toggle", reach, true);
reach();
