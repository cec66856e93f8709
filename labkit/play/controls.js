// Controls of hyperparameters: a slider, a row of choices, a list. Each calls `change(name, value)`.

import { el, remark } from "./dom.js";
import { CHOICES, RANGES, shown } from "./settings.js";

const STEPS = 200; // of a logarithmic slider
let count = 0; // for ids, which labels need

/** A slider, with its value beside its name. */
function slider(name, value, change, most = RANGES[name].high) {
  const { title, low, high: top, log, step } = RANGES[name];
  const high = Math.min(top, most);
  const id = `${name}-${(count += 1)}`;
  const number = el("span", { className: "value" }, shown(name, value)); // the slider itself says it to screen readers
  number.setAttribute("aria-hidden", "true");
  const input = el("input", { type: "range", id });
  const toPlace = (number) => (log ? (STEPS * Math.log(number / low)) / Math.log(high / low) : number);
  const toValue = (place) => (log ? low * (high / low) ** (place / STEPS) : place);
  Object.assign(input, log ? { min: 0, max: STEPS, step: 1 } : { min: low, max: high, step });
  input.value = toPlace(value);
  input.setAttribute("aria-valuetext", shown(name, value));
  input.addEventListener("input", () => {
    const chosen = toValue(Number(input.value));
    number.textContent = shown(name, chosen);
    input.setAttribute("aria-valuetext", shown(name, chosen));
    change(name, chosen);
  });
  return el("div", { className: "control" }, el("label", { htmlFor: id }, title, number), input);
}

/** A row of choices, one of them chosen. */
function segments(name, value, change) {
  const { title, options } = CHOICES[name];
  const group = `${name}-${(count += 1)}`;
  const buttons = options.map(([option, text]) => {
    const input = el("input", { type: "radio", name: group, checked: option === value });
    input.addEventListener("change", () => change(name, option));
    return el("label", {}, input, text);
  });
  return el(
    "fieldset", { className: "control" },
    el("legend", {}, title), el("div", { className: "segments" }, ...buttons), note(name, value),
  );
}

/** A list of choices. */
function list(name, value, change) {
  const { title, options } = CHOICES[name];
  const id = `${name}-${(count += 1)}`;
  const select = el("select", { id }, ...options.map(([option, text]) => el("option", { value: option }, text)));
  select.value = value;
  select.addEventListener("change", () => change(name, options[select.selectedIndex][0]));
  return el("div", { className: "control" }, el("label", { htmlFor: id }, title), select, note(name, value));
}

/** What a choice means, where that needs a sentence. */
function note(name, value) {
  const { notes } = CHOICES[name];
  return notes ? remark(notes[value]) : null;
}

/** The control that suits a hyperparameter: where there is room, choices are a row. */
export function control(name, value, change, { roomy = false, most } = {}) {
  if (name in RANGES) return slider(name, value, change, most);
  return roomy ? segments(name, value, change) : list(name, value, change);
}
