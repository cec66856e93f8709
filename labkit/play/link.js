// A state as an address: #scene=temperature&temperature=0.02&right.loss=supcon&labels=12:3&removed=5,8&typed=...&row=7

import { ownScene } from "./lab.js";
import { SCENES } from "./scenes.js";
import { checked, DEFAULTS } from "./settings.js";

const TYPED = 200; // characters

/** What the address of now says: the scene, all that differs from it, and the row chosen on a side. */
export function toHash(lab, row, side = 0) {
  const scene = { ...DEFAULTS, ...lab.scene.settings };
  const words = new URLSearchParams();
  words.set("scene", lab.scene.name);
  for (const name of Object.keys(DEFAULTS)) {
    if (lab.settings[name] !== scene[name]) words.set(name, short(lab.settings[name]));
  }
  if (lab.right) for (const [name, value] of Object.entries(lab.right)) words.set(`right.${name}`, short(value));
  else if (lab.scene.right) words.set("right", "none");
  if (lab.byHand.size) words.set("labels", [...lab.byHand].map((pair) => pair.join(":")).join());
  if (lab.removed.size) words.set("removed", [...lab.removed].join());
  if (lab.typed) words.set("typed", lab.typed);
  if (row !== undefined) words.set(side ? "right.row" : "row", row);
  return `#${words}`;
}

/** The address that a link leads to: this page, or the app around it; null in the frame of a notebook. */
export function place() {
  if (location.protocol !== "about:") return location;
  try {
    return parent.document.querySelector(".st-key-playground") && parent.location;
  } catch {
    return null; // a frame that may not see what is around it
  }
}

const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : value);

/** Open what an address says, and return the chosen row and its side. What it says wrongly is taken as not said. */
export function fromHash(lab, hash) {
  const words = new URLSearchParams(hash.slice(1));
  const name = words.get("scene");
  if (lab.bundled.scenes && name !== "own") lab.open(SCENES.find((scene) => scene.name === name) ?? SCENES[0]);
  else lab.open(ownScene(lab.bundled, lab.bundled.start));
  for (const name of Object.keys(DEFAULTS)) if (words.has(name)) lab.settings[name] = checked(name, words.get(name));
  const right = Object.keys(DEFAULTS).filter((name) => words.has(`right.${name}`));
  const value = (name) => checked(name, words.get(`right.${name}`));
  if (right.length) lab.right = Object.fromEntries(right.map((name) => [name, value(name)]));
  else if (words.get("right") === "none") lab.right = null;
  lab.restart(true);
  const { rows, classes } = lab.sides[0].training.corpus;
  const trained = (row) => row in rows && !rows[row].unseen;
  for (const pair of (words.get("labels") ?? "").split(",")) {
    const [row, label] = pair.split(":").map(Number);
    if (trained(row) && label in classes) lab.byHand.set(row, label);
  }
  const removed = (words.get("removed") ?? "").split(",").filter(Boolean).map(Number);
  for (const row of removed.filter(trained)) lab.removed.add(row);
  lab.typed = (words.get("typed") ?? "").slice(0, TYPED);
  lab.restart();
  const side = lab.right && words.has("right.row") ? 1 : 0;
  const row = Number(words.get(side ? "right.row" : "row") ?? NaN);
  return row in rows ? { row, side } : null;
}
