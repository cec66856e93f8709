// Plotly draws Play and Stop as shapes that only react to clicks. This script makes them buttons: Tab reaches them, Enter
// and Space press them, and screen readers announce them. Pressing one also presses its counterpart in the other picture,
// so that both sides move together. The slider of the epochs moves with the pictures, and stays where they stop.
(() => {
  if (window.labkitButtons) return;
  window.labkitButtons = true;
  const played = new Set();
  const opened = performance.getEntriesByType('navigation')[0]?.name; // Streamlit drops defaults from the address
  const linked = /[?&]epoch=/.test(opened);
  let shown = null, held = false;
  const name = button => button.textContent.replace(/[^\p{L} ]/gu, '').trim();
  const slider = () => document.querySelector('.st-key-epoch input[type=range]');
  const epochs = picture => (picture._transitionData?._frames ?? []).map(frame => frame.name);

  // Show an epoch on the slider; without `steps`, where React has it.
  function place(range, epoch, steps = 0) {
    const thumb = range.closest('[style*=left]'), said = thumb.querySelector('p')?.firstChild;
    thumb.style.translate = `${steps / Number(range.max) * thumb.parentElement.clientWidth}px 0`;
    if (said) said.nodeValue = epoch;
  }

  // The slider moves with a picture, and React is told only where it stops: the server would draw each epoch.
  function follow(picture, epoch) {
    const range = slider(), all = epochs(picture);
    if (held || !range || all.length < 2) return;
    shown = all.indexOf(epoch);
    playing(true);
    place(range, epoch, shown - Number(range.value));
  }

  // While pictures play, the page hides what the server says of another epoch.
  const playing = on => document.body.classList.toggle('labkit-playing', on);

  function rest(picture) {
    const range = slider(), to = shown;
    shown = null;
    playing(false);
    if (!range || to === null) return;
    place(range, epochs(picture)[range.value]);
    const way = Math.sign(to - range.value);
    if (!way) return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(range, to - way);
    range.dispatchEvent(new Event('input', { bubbles: true }));
    const key = { key: way < 0 ? 'ArrowLeft' : 'ArrowRight', bubbles: true, cancelable: true };
    for (const kind of ['keydown', 'keyup']) range.dispatchEvent(new KeyboardEvent(kind, key)); // only a key ends a move
  }

  // Who moves the slider stops the pictures, and its handle is where the slider is. Share stops them, too: its link
  // names the epoch that is seen.
  function hold(event) {
    const range = slider();
    if (!event.isTrusted || !range) return;
    if (event.target.closest?.('.st-key-share')) return shown === null || pressAll('Stop');
    if (!event.target.closest?.('.st-key-epoch')) return;
    if (shown !== null) place(range, range.ariaValueText);
    [shown, held] = [null, true];
    playing(false);
    pressAll('Stop');
  }
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, hold, true);

  // Press all buttons of this name but one, which was pressed.
  function pressAll(label, but) {
    const click = () => Object.assign(new MouseEvent('click', { bubbles: true }), { alone: true });
    for (const each of document.querySelectorAll('.updatemenu-button'))
      if (each !== but && name(each) === label) each.dispatchEvent(click());
  }

  function equip(button) {
    button.setAttribute('role', 'button');
    button.setAttribute('tabindex', '0');
    button.setAttribute('aria-label', name(button));
    button.addEventListener('keydown', key => {
      if (key.key !== 'Enter' && key.key !== ' ') return;
      key.preventDefault(); // the space bar would scroll the page
      button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });
    button.addEventListener('click', click => {
      if (name(button) === 'Play') held = false;
      if (click.alone) return;
      pressAll(name(button), button);
    });
    const picture = button.closest('.js-plotly-plot');
    if (picture?.on && !picture.labkitFollowed) {
      picture.labkitFollowed = true;
      picture.on('plotly_animatingframe', frame => follow(picture, frame.name));
      picture.on('plotly_animated', () => rest(picture));
    }
    const run = picture?.layout.meta?.title;
    if (name(button) !== 'Play' || played.has(run)) return;
    played.add(run); // each run once, unless a link names an epoch
    if (slider() && (slider().value !== slider().min || linked)) return;
    setTimeout(() => {
      if (!matchMedia('(prefers-reduced-motion: reduce)').matches) return pressAll('Play');
      shown = epochs(picture).length - 1; // without motion, it opens where it would end
      rest(picture);
    }, 800);
  }
  // when an animation is stopped, plotly rejects a promise without a reason, which is not an error
  addEventListener('unhandledrejection', broken => { if (broken.reason === undefined) broken.preventDefault(); });
  const looks = document.head.appendChild(document.createElement('style'));
  looks.textContent = `.updatemenu-button:focus {outline: none}
    .updatemenu-button:focus-visible rect {stroke: #0072B2 !important; stroke-width: 3px !important}`;
  const look = () => {
    if (!slider()) played.clear(); // on another page: whoever comes back sees it move again
    document.querySelectorAll('.updatemenu-button:not([role])').forEach(equip);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
})();
