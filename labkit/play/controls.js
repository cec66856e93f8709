// Controls of hyperparameters: a slider, a row of choices, a list. Each calls `change(name, value)`. A slider has
// `show(value)`, because two sliders may stand for one hyperparameter.

import { el, remark } from "./dom.js";
import { CHOICES, RANGES, shown } from "./settings.js";

const STEPS = 200; // of a logarithmic slider
let count = 0; // for ids, which labels need

/** A slider, with its value beside its name. */
function slider(name, value, change, most = RANGES[name].high) {
  const { title, low, high: top, log, step } = RANGES[name];
  const high = Math.min(top, most);
  const id = `${name}-${(count += 1)}`;
  const number = el("span", { className: "value" }); // the slider itself says it to screen readers
  number.setAttribute("aria-hidden", "true");
  const input = el("input", { type: "range", id });
  const toPlace = (number) => (log ? (STEPS * Math.log(number / low)) / Math.log(high / low) : number);
  const toValue = (place) => (log ? low * (high / low) ** (place / STEPS) : place);
  Object.assign(input, log ? { min: 0, max: STEPS, step: 1 } : { min: low, max: high, step });
  input.addEventListener("input", () => change(name, toValue(Number(input.value))));
  const made = el("div", { className: "control" }, el("label", { htmlFor: id }, title, number), input);
  made.show = (now) => {
    number.textContent = shown(name, now);
    input.value = toPlace(now);
    input.setAttribute("aria-valuetext", shown(name, now));
  };
  made.show(value);
  return made;
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

/** The control of a side's hyperparameter that suits it: where there is room, choices are a row. */
export function control(name, value, change, { roomy = false, most, side = 0 } = {}) {
  const made = name in RANGES ? slider(name, value, change, most)
    : roomy ? segments(name, value, change) : list(name, value, change);
  Object.assign(made.dataset, { name, side });
  return made;
}
