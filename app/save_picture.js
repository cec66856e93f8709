// Two buttons that save a picture as PNG or SVG: they press plotly's own button, in a toolbar that the page hides.

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll('button')) {
    button.onclick = () => {
      const picture = document.querySelector(`.st-key-${data.key} .js-plotly-plot`), context = picture._context;
      context.toImageButtonOptions = { ...context.toImageButtonOptions, format: button.name };
      picture.querySelector('.modebar-btn[data-title^="Download plot"]').click();
    };
  }
}
