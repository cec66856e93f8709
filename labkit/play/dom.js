// Elements of the page. Text goes in as text, never as HTML: sentences and pasted files are not trusted.

/** An element with properties, attributes (`data-`, `aria-`, ...) and children, which are elements or texts. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A remark in small type. */
export const remark = (text) => el("p", { className: "note" }, text);

export const byId = (id) => document.getElementById(id);
