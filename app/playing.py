"""Play and Stop for those who use no mouse, and for two pictures at once.

Plotly draws its buttons as shapes that take a click and nothing else. Here they become buttons to the browser: Tab goes
to them, Enter and Space press them, a screen reader says their names. One that is pressed presses its like in the
other picture too, so that both sides travel together. The motion itself stays plotly's, in the browser.
"""

from __future__ import annotations

import streamlit as st

BUTTONS = """\
<style>
.updatemenu-button:focus {outline: none}
.updatemenu-button:focus-visible rect {stroke: #0072B2 !important; stroke-width: 3px !important}
</style>
<script>
(() => {
  if (window.labkitButtons) return;
  window.labkitButtons = true;
  const name = button => button.textContent.replace(/[^\\p{L} ]/gu, '').trim();
  const press = (button, alone) => {
    const click = new MouseEvent('click', {bubbles: true});
    click.alone = alone;
    button.dispatchEvent(click);
  };
  const equip = button => {
    button.setAttribute('role', 'button');
    button.setAttribute('tabindex', '0');
    button.setAttribute('aria-label', name(button));
    button.addEventListener('keydown', key => {
      if (key.key !== 'Enter' && key.key !== ' ') return;
      key.preventDefault();  // the space bar would scroll the page
      press(button, false);
    });
    button.addEventListener('click', click => {
      if (click.alone) return;
      for (const other of document.querySelectorAll('.updatemenu-button'))
        if (other !== button && name(other) === name(button)) press(other, true);
    });
  };
  // a journey that is stopped is to plotly a promise that it broke, for no reason: no mistake of anybody
  addEventListener('unhandledrejection', broken => { if (broken.reason === undefined) broken.preventDefault(); });
  const look = () => document.querySelectorAll('.updatemenu-button:not([role])').forEach(equip);
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
  look();
})();
</script>"""


def playable() -> None:
    """Put it into a page whose pictures can be played; nothing of it is seen."""
    st.html(BUTTONS, unsafe_allow_javascript=True)
