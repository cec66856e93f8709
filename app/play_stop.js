// Plotly draws Play and Stop as shapes that only react to clicks. This script makes them buttons: Tab reaches them, Enter
// and Space press them, and screen readers announce them. Pressing one also presses its counterpart in the other picture,
// so that both sides move together. The slider of the epochs moves with the pictures, and stays where they stop.
(() => {
  if (window.labkitButtons) return;
  window.labkitButtons = true;
  let played = false, shown = null;
  const name = button => button.textContent.replace(/[^\p{L} ]/gu, '').trim();
  const thumb = () => document.querySelector('.st-key-epoch [role=slider]');
  const epochs = picture => (picture._transitionData?._frames ?? []).map(frame => frame.name);
  const value = slider => [...slider.querySelectorAll('*')].find(each => /^\d+$/.test(each.textContent) && !each.children.length);

  // The slider at the epoch that a picture shows; React is told only when the picture rests.
  function follow(picture, epoch) {
    const slider = thumb(), all = epochs(picture);
    if (!slider || !all.length) return;
    shown = all.indexOf(epoch);
    const steps = shown - Number(slider.getAttribute('aria-valuenow'));
    slider.style.translate = `${steps / (all.length - 1) * slider.parentElement.clientWidth}px 0`;
    const number = value(slider);
    if (number) number.firstChild.nodeValue = epoch;
  }

  async function rest(picture) {
    const slider = thumb(), all = epochs(picture);
    if (!slider || shown === null) return;
    const now = Number(slider.getAttribute('aria-valuenow')), steps = shown - now, number = value(slider);
    slider.style.translate = '';
    if (number) number.firstChild.nodeValue = all[now];
    shown = null;
    const tell = kind => slider.dispatchEvent(new KeyboardEvent(kind, { key: steps < 0 ? 'ArrowLeft' : 'ArrowRight', bubbles: true }));
    for (let step = 0; step < Math.abs(steps); step++) {
      tell('keydown');
      await new Promise(then => setTimeout(then, 20)); // for React to take the step
    }
    if (steps) tell('keyup');
  }

  function press(button, alone) {
    const click = new MouseEvent('click', { bubbles: true });
    click.alone = alone;
    button.dispatchEvent(click);
  }

  function equip(button) {
    button.setAttribute('role', 'button');
    button.setAttribute('tabindex', '0');
    button.setAttribute('aria-label', name(button));
    button.addEventListener('keydown', key => {
      if (key.key !== 'Enter' && key.key !== ' ') return;
      key.preventDefault(); // the space bar would scroll the page
      press(button, false);
    });
    button.addEventListener('click', click => {
      if (click.alone) return;
      for (const other of document.querySelectorAll('.updatemenu-button'))
        if (other !== button && name(other) === name(button)) press(other, true);
    });
    const picture = button.closest('.js-plotly-plot');
    if (picture?.on && !picture.labkitFollowed) {
      picture.labkitFollowed = true;
      picture.on('plotly_animatingframe', frame => follow(picture, frame.name));
      picture.on('plotly_animated', () => rest(picture));
    }
    if (name(button) !== 'Play' || played || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    played = true; // once, when the page is opened, unless a link names an epoch
    const slider = thumb();
    if (!slider || slider.getAttribute('aria-valuenow') === slider.getAttribute('aria-valuemax'))
      setTimeout(() => press(button, false), 800);
  }
  // when an animation is stopped, plotly rejects a promise without a reason, which is not an error
  addEventListener('unhandledrejection', broken => { if (broken.reason === undefined) broken.preventDefault(); });
  const looks = document.head.appendChild(document.createElement('style'));
  looks.textContent = `.updatemenu-button:focus {outline: none}
    .updatemenu-button:focus-visible rect {stroke: #0072B2 !important; stroke-width: 3px !important}`;
  const look = () => document.querySelectorAll('.updatemenu-button:not([role])').forEach(equip);
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
})();
