// Two buttons that save a picture as PNG or SVG: they press plotly's own button, in a toolbar that the page hides. Its
// type is one that every computer has: a saved picture has no fonts of its own, and wider letters would be cut. Its title
// stands on the page, so the file gets one from the alt text: what stands before the first colon or full stop.

const LINE = 36; // pixels for the title

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll('button')) {
    button.onclick = () => {
      const picture = document.querySelector(`.st-key-${data.key} .js-plotly-plot`);
      const { layout, _context: context, _fullLayout: drawn } = picture, { font, title, margin } = layout;
      const [text] = data.alt.split(/[:.](?: |$)/);
      const how = { format: button.name, height: drawn.height + LINE };
      context.toImageButtonOptions = { ...context.toImageButtonOptions, ...how };
      Object.assign(layout, {
        font: { ...font, family: 'Arial, Liberation Sans, sans-serif' },
        title: { text, font: { size: 14 }, x: 0, y: 1, yref: 'container', yanchor: 'top', pad: { t: 12, l: 12 } },
        margin: { ...margin, t: drawn._size.t + LINE },
      });
      picture.querySelector('.modebar-btn[data-title^="Download plot"]').click(); // which copies the layout at once
      Object.assign(layout, { font, title, margin });
    };
  }
}
