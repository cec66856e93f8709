// Two buttons that save a picture as PNG or SVG: they press plotly's own button, in a toolbar that the page hides. Its
// type is one that every computer has: a saved picture has no fonts of its own, and wider letters would be cut.

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll('button')) {
    button.onclick = () => {
      const picture = document.querySelector(`.st-key-${data.key} .js-plotly-plot`);
      const { layout, _context: context } = picture, { font } = layout;
      context.toImageButtonOptions = { ...context.toImageButtonOptions, format: button.name };
      layout.font = { ...font, family: 'Arial, Liberation Sans, sans-serif' };
      picture.querySelector('.modebar-btn[data-title^="Download plot"]').click(); // which copies the layout at once
      layout.font = font;
    };
  }
}
