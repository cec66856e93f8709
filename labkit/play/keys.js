// The keys of the page.

import { byId } from "./dom.js";

/** Keys, unless the control in focus uses them: a slider and a row of choices use the arrows alone. */
export function pressed(event, page) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  page.pointed = false;
  if (key === "Escape") {
    if (target.closest(".term")) return target.blur();
    return page.chosen || page.lab.typed ? page.close() : page.present(false);
  }
  const turns = ["ArrowLeft", "ArrowRight", "PageUp", "PageDown"].includes(key);
  if (target.closest("#scenes") ? !turns : target.closest("[type=text], [type=file], select, textarea")) return;
  if (key.startsWith("Arrow") && target.closest("input")) return;
  if (key === " " && target.closest("button")) return;
  const keys = {
    ArrowRight: () => page.turnTo(1),
    PageDown: () => page.turnTo(1),
    ArrowLeft: () => page.turnTo(-1),
    PageUp: () => page.turnTo(-1),
    " ": () => page.play(!page.playing),
    s: () => page.oneStep(),
    r: () => page.again(),
    m: () => page.openPanel(byId("panel").hidden),
    p: () => page.present(!page.presenting),
  };
  if (!keys[key]) return;
  event.preventDefault();
  keys[key]();
}
