// The page: it ties the lab to what is on screen. One clock, one picture a frame, one sentence for screen readers.

import { pairCard, rowCard } from "./card.js";
import { control } from "./controls.js";
import { idsOf } from "./corpus.js";
import { byId, el } from "./dom.js";
import { pressed } from "./keys.js";
import { Lab, ownScene } from "./lab.js";
import { fromHash, place, toHash } from "./link.js";
import { drawCharts } from "./charts.js";
import { Panel } from "./panel.js";
import { READOUTS } from "./readouts.js";
import { CHOICES, RANGES, shown } from "./settings.js";
import { Stage } from "./stage.js";
import { withTerms } from "./terms.js";

const LEAP = 20; // steps a picture where motion is not wanted, one picture a second
const FASTEST = 12; // milliseconds from step to step, so that fast screens do not train faster than the eye follows
const READ = 2500; // milliseconds in which the sentences of a scene are read and its start is seen
const [FIRST, SLOW, SLOWLY] = [600, 40, 80]; // a restart is seen, too, and the first steps one by one
const SILENCE = 900; // milliseconds after a change before it is said
const SAID = 2000; // milliseconds that a button says what it did
const MORE_STEPS = 400; // after a hyperparameter was touched, or Play was pressed at the end
const SPIN = 0.003; // radians a picture
const CARD_EVERY = 20; // pictures between two states of an open card

class Page {
  constructor(data) {
    this.lab = new Lab(data);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.phone = matchMedia("(max-width: 680px)");
    Object.assign(this, { playing: false, chosen: null, chosenSide: 0, hovered: null, drawn: 0, last: 0 });
    this.camera = { turn: 0.5, tilt: 0.35 }; // one for both sides, so that what agrees looks alike
    this.pointed = false; // whether the last input came from a pointer, not from the keyboard
    this.stages = [0, 1].map((number) => new Stage(number, this));
    for (const { figure, curveFigure } of this.stages) byId("side").before(curveFigure, figure);
    this.card = byId("card");
    this.panel = new Panel(byId("panel"), this);
    this.place = place();
    this.around = this.place && this.place !== location ? parent : window; // the window whose address names the scene
    this.wire();
    document.documentElement.classList.toggle("in-app", this.around !== window); // which asks the question above it
    if (this.around !== window) new ResizeObserver(() => this.fit()).observe(document.body);
    byId("share").hidden = !this.place;
    if (this.around !== window) window.focus(); // the app opens on this page, so its keys work at once
    this.arrive(this.place?.hash.includes("=") ? fromHash(this.lab, this.place.hash) : null);
    requestAnimationFrame((now) => this.frame(now));
  }

  get batch() {
    return this.lab.sides[0].training.batch;
  }

  get presenting() {
    return document.documentElement.classList.contains("present");
  }

  get steps() {
    return this.lab.sides[0].training.steps;
  }

  wire() {
    const click = (id, act) => byId(id).addEventListener("click", act);
    click("previous", () => this.turnTo(-1));
    click("next", () => this.turnTo(1));
    click("play", () => this.play(!this.playing));
    click("step", () => this.oneStep());
    click("again", () => this.again());
    click("more", () => this.openPanel(byId("panel").hidden));
    click("share", () => this.share());
    click("present", () => this.present(!this.presenting));
    const menu = byId("scenes");
    menu.append(...this.lab.scenes.map(({ title }, at) => el("option", { value: at }, `${at + 1}  ${title}`)));
    menu.addEventListener("change", () => {
      this.open(this.lab.scenes[menu.selectedIndex]);
      if (this.pointed) menu.blur(); // the keys are the page's again
    });
    document.addEventListener("keydown", (event) => pressed(event, this));
    document.addEventListener("pointerdown", () => (this.pointed = true), true);
    document.addEventListener("fullscreenchange", () => {
      if (!document.fullscreenElement) this.present(false);
    });
    addEventListener("resize", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.fill());
    const leaving = new AbortController(); // the app's window outlives this page
    if (this.place) this.around.addEventListener("hashchange", () => this.read(), { signal: leaving.signal });
    addEventListener("pagehide", ({ persisted }) => persisted || leaving.abort());
  }

  /** Open what the address says now, unless that is a heading of the app. */
  read() {
    const { hash } = this.place;
    if (hash && !hash.includes("=")) return;
    if (!hash) this.lab.begin();
    this.arrive(hash ? fromHash(this.lab, hash) : null);
  }

  turnTo(by) {
    const { scenes, scene } = this.lab;
    if (!scenes.length) return;
    this.open(scenes[(scenes.indexOf(scene) + by + scenes.length) % scenes.length]);
  }

  open(scene) {
    this.lab.open(scene);
    this.arrive();
    this.write(`#scene=${scene.name}`, window === top ? "pushState" : "replaceState"); // in a frame, Back leaves it
  }

  /** Put a hash into the address, so that reload and Back find what it names. */
  write(hash, how) {
    if (!this.place || this.place.hash === hash) return;
    const { history } = this.around;
    history[how](history.state, "", this.place.href.split("#")[0] + hash);
  }

  /** Show the lab's scene from its start; `chosen` is the row that a link names, with its side. */
  arrive(chosen = null) {
    const { scene, scenes } = this.lab;
    this.until = scene.until;
    Object.assign(this, { chosen: chosen && { row: chosen.row }, chosenSide: chosen?.side ?? 0, hovered: null });
    byId("title").textContent = scene.title;
    document.querySelector("header nav").hidden = !scenes.length;
    byId("scenes").selectedIndex = scenes.indexOf(scene);
    this.last = performance.now() + READ;
    if (this.lab.typed) this.openPanel(true);
    this.fillStory();
    this.fill();
    this.play(true);
    this.say(`${scene.title}. ${scene.sentences.join(" ")}`);
  }

  /** The scene's sentences, or, where they no longer hold, what was changed. */
  fillStory() {
    const { scene, changed } = this.lab;
    const seen = new Set();
    for (const [at, id] of ["first", "second"].entries()) {
      byId(id).replaceChildren(...withTerms(scene.sentences[at], seen));
    }
    if (changed.length && scene.name !== "own") {
      byId("first").textContent = "You have left this scene. Its sentences may not hold with your own settings.";
      const back = el("button", {}, "Back to the scene");
      back.addEventListener("click", () => this.open(scene));
      byId("second").replaceChildren(back);
    }
  }

  /** Controls and names for the settings of now. */
  fill() {
    const { lab } = this;
    const focused = byId("dial").contains(document.activeElement);
    const change = (name, value) => this.change(name, value, 0);
    const how = { roomy: true, most: lab.most(lab.control) };
    byId("dial").replaceChildren(control(lab.control, lab.settings[lab.control], change, how));
    if (focused) (byId("dial").querySelector("input:checked") ?? byId("dial").querySelector("input, select")).focus();
    const two = Boolean(lab.right);
    document.querySelector("main").classList.toggle("two", two);
    for (const { figure, curveFigure } of this.stages.slice(1)) figure.hidden = curveFigure.hidden = !two;
    if (!byId("panel").hidden) this.panel.fill();
    this.refreshNames();
  }

  /** Names of sides, classes and sentences, which any setting may change. */
  refreshNames() {
    const { lab } = this;
    lab.sides.forEach((side, number) => this.stages[number].label(side, Boolean(lab.right)));
    if (!byId("panel").hidden) this.panel.listSentences();
    this.showCard();
    this.redraw();
  }

  /** What a side has of its own, for its title. */
  differences(side) {
    const names = Object.keys(this.lab.right ?? {}).filter((name) => name !== "loss");
    const title = (name) => (RANGES[name] ?? CHOICES[name]).title.split(",")[0];
    return names.map((name) => `, ${title(name)} ${shown(name, this.lab.settingsOf(side)[name])}`).join("");
  }

  /** A hyperparameter moved: it acts at once, and a scene that rested trains on. */
  change(name, value, side) {
    const before = this.lab.control;
    const { steps } = this;
    this.last = Math.min(this.last, performance.now());
    const resting = !this.playing && steps >= this.until;
    this.lab.set(name, value, side);
    const restarted = this.steps < steps;
    if (restarted || !steps) this.until = this.lab.scene.until;
    else this.until = Math.max(this.until, steps + MORE_STEPS);
    if (resting || restarted) this.play(!this.still.matches || this.playing);
    this.fillStory();
    if (restarted) this.chosen = null;
    if (name in CHOICES || this.lab.control !== before) this.fill();
    else {
      for (const made of document.querySelectorAll(`[data-name=${name}]`)) { // a slider that moves is not replaced
        made.show(this.lab.settingsOf(Number(made.dataset.side))[name]);
      }
      this.refreshNames();
    }
    this.sayLater();
  }

  setTwo(two) {
    this.lab.setTwo(two);
    this.chosen = null;
    this.until = this.lab.scene.until;
    this.fillStory();
    this.fill();
    this.play(true);
  }

  bring(data) {
    if (data) this.lab.open(ownScene(data), data);
    else this.lab.begin();
    this.arrive();
  }

  play(on) {
    this.playing = on;
    if (on) this.leavePair();
    if (on && this.steps >= this.until) this.until = this.steps + MORE_STEPS;
    byId("play").textContent = on ? "❚❚ Pause" : "▶ Play";
    byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    this.redraw();
  }

  oneStep() {
    this.play(false);
    this.leavePair();
    this.lab.step();
    this.redraw();
    this.sayLater();
  }

  /** Start again, with the same seed. */
  again() {
    this.lab.restart();
    this.chosen = null;
    this.until = this.lab.scene.until;
    this.showCard();
    this.play(true);
    this.say("Restarted.");
  }

  openPanel(open) {
    byId("panel").hidden = !open;
    byId("more").setAttribute("aria-expanded", String(open));
    if (open) {
      this.panel.fill();
      byId("side").scrollTop = 0;
      this.fit();
      if (this.phone.matches) byId("panel").scrollIntoView(); // it is far below
    }
    this.redraw();
  }

  /** Copy a link to this state; without a clipboard it is in the address bar. Pasted sentences are not in it. */
  async share() {
    this.write(toHash(this.lab, this.chosen?.row, this.chosenSide), "replaceState");
    const copied = await navigator.clipboard.writeText(this.place.href).then(() => true, () => false);
    byId("share").textContent = copied ? "Copied" : "In the address";
    this.say(copied ? "Link copied" : "The link is in the address");
    setTimeout(() => (byId("share").textContent = "Share"), SAID);
  }

  /** Full screen where the browser allows it, type at 150 %, and nothing but the scene. */
  present(on) {
    if (on) this.openPanel(false);
    document.documentElement.classList.toggle("present", on);
    byId("present").textContent = on ? "Leave (Esc)" : "Present";
    if (on) document.documentElement.requestFullscreen?.().catch(() => null);
    else if (document.fullscreenElement) document.exitFullscreen();
    this.redraw();
  }

  /** A point, a pair or nothing was chosen on a side; time stops, so that it can be read. */
  choose(what, side = 0) {
    this.chosen = what;
    this.chosenSide = side;
    if (what && !this.stages[side].held) this.play(false);
    this.showCard();
    if (what && !this.card.hidden && !this.stages[side].held) {
      byId("side").scrollTop = 0;
      this.card.scrollIntoView({ block: "nearest" });
      this.say([...this.card.children].slice(1, 4).map((part) => part.textContent).join(" "));
    }
    this.redraw();
  }

  /** A pair is one of its batch: with the next one it is no longer chosen. */
  leavePair() {
    if (!this.chosen?.pair) return;
    this.chosen = null;
    this.showCard();
  }

  close() {
    this.lab.typed = "";
    this.choose(null);
    if (!byId("panel").hidden) this.panel.fill();
  }

  type(text) {
    this.lab.typed = text;
    this.chosen = null;
    this.showCard();
    this.redraw();
    clearTimeout(this.saying);
    this.saying = setTimeout(() => this.say(this.panel.answer.textContent), SILENCE);
  }

  showCard() {
    const { lab, chosen } = this;
    const { training } = lab.sides[this.chosenSide] ?? lab.sides[0];
    const acts = {
      choose: (what) => this.choose(what, this.chosenSide),
      setLabel: (row, label) => this.acted(() => lab.setLabel(row, label)),
      remove: (row) => this.acted(() => lab.toggleRemoved(row)),
    };
    const inBatch = chosen?.pair && chosen.pair.every((at) => at < training.batch.m);
    const parts = inBatch ? pairCard(training, chosen.pair, acts)
      : chosen?.row !== undefined ? rowCard(training, chosen.row, this.stages[this.chosenSide].held?.vector, acts)
      : [];
    this.card.hidden = !parts.length;
    const close = el("button", { className: "close" }, "×");
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => this.close());
    const side = lab.right && parts.length ? [el("small", {}, this.chosenSide ? "Right side" : "Left side")] : [];
    this.card.replaceChildren(close, ...side, ...parts);
    if (!byId("panel").hidden) this.panel.answerTyped();
  }

  acted(act) {
    act();
    this.fillStory();
    this.showCard();
    this.redraw();
    this.sayLater();
  }

  redraw() {
    this.dirty = true;
  }

  /** On a phone, the frame in the app is as high as what is in it, so that the page scrolls as one. */
  fit() {
    const { height } = document.body.getBoundingClientRect();
    const wanted = this.phone.matches ? `${Math.ceil(height) + 1}px` : ""; // 1: what only screen readers see
    this.around.document.querySelector(".st-key-playground")?.style.setProperty("--page", wanted);
  }

  /** Milliseconds to the next step. */
  get pause() {
    if (this.still.matches || !this.steps) return FIRST;
    return this.steps < SLOW ? SLOWLY : FASTEST;
  }

  frame(now) {
    if (this.playing && now - this.last >= this.pause) {
      this.last = now;
      const goal = Math.min(this.until, this.steps + (this.still.matches ? LEAP : 1));
      while (this.steps < goal) this.lab.step();
      this.dirty = true;
      if (this.steps >= this.until) {
        this.play(false);
        this.say(this.lab.summary);
      }
    }
    if (this.dirty || (this.playing && now < this.last)) this.draw(); // it turns before it trains
    requestAnimationFrame((next) => this.frame(next));
  }

  draw() {
    this.dirty = false;
    this.drawn += 1;
    const { lab } = this;
    const turning = this.playing && !this.still.matches && !this.stages.some((stage) => stage.inside);
    if (turning) this.camera.turn += SPIN;
    lab.sides.forEach((side, number) => {
      const chosen = number === this.chosenSide ? this.chosen : null;
      const hovered = this.hovered && number === 0 ? { pair: this.hovered } : null;
      const typed = idsOf(lab.typed, side.training.corpus.words);
      this.stages[number].draw(side, { chosen: hovered ?? chosen, typed, playing: this.playing });
    });
    const hit = drawCharts(lab.sides.map(({ history }) => history));
    byId("count").textContent = `step ${this.steps}${this.presenting ? ` · Hit@1 ${hit}` : ""}`; // its chart makes room
    byId("readout").textContent = READOUTS[lab.scene.readout](lab.sides);
    const { pair, row } = this.chosenSide ? {} : (this.chosen ?? {});
    if (!byId("panel").hidden) this.panel.draw(this.hovered ?? pair, this.stages[0].hovered ?? row);
    const reading = this.card.contains(document.activeElement);
    if ((!this.card.hidden || lab.typed) && !reading && this.playing && this.drawn % CARD_EVERY === 0) this.showCard();
  }

  say(text) {
    clearTimeout(this.saying);
    byId("live").textContent = text;
  }

  /** What a change led to, once it has come to rest. */
  sayLater() {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => this.say(`${byId("readout").textContent}. ${this.lab.summary}`), SILENCE);
  }
}

if (typeof document !== "undefined") {
  globalThis.play = new Page(JSON.parse(byId("data").textContent));
}
