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

/** A formula whose parts are separated by commas; what stands on both sides of " / " becomes a fraction. */
export function formula(text) {
  return text.split(", ").flatMap((part, at) => [at ? ", " : "", ...fraction(part)]);
}

function fraction(part) {
  const [, before, top, bottom] = part.match(/^(.* = )?(.+) \/ (.+)$/u) ?? [];
  const whole = (side) => side?.split("(").length === side?.split(")").length;
  if (!bottom || !whole(top)) return typeset(part);
  const side = (text) => el("span", {}, ...typeset(text.replace(/^\((.*)\)$/u, "$1")));
  const over = el("span", { className: "unseen-text" }, " / ");
  return [...typeset(before ?? ""), el("span", { className: "fraction" }, side(top), over, side(bottom))];
}

/** A formula on one line: exponents in brackets and indices after _ are small, and single letters are slanted. */
export function typeset(text) {
  return text.split(/\^(\((?:[^()]|\([^()]*\))*\))|_(P∪N|[PN])/u).flatMap((part, at) => {
    if (at % 3 === 1) return part ? el("sup", {}, ...typeset(part.slice(1, -1))) : [];
    if (at % 3 === 2) return part ? el("sub", {}, ...typeset(part)) : [];
    const letters = part.split(/(?<![A-Za-z0-9])([A-Za-zα-ω])(?![A-Za-z])/u);
    return letters.map((each, odd) => (odd % 2 ? el("i", {}, each) : each));
  });
}

export const byId = (id) => document.getElementById(id);
