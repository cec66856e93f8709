"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`.

The browser's Back and Forward go through pages and settings one step at a time: a change of the address is a step if a
key or the mouse was pressed before it. Any other change replaces the current step, and so do arrow keys pressed within
two seconds of each other, as on a slider. The settings of a place that is left stay in its address, for Back.

Addresses of version 0.1.0 lead to the places that replaced their pages. A classroom without its guard shows no page.
"""

import sys
from functools import partial
from typing import Any

import classroom
import streamlit as st
from frame import READABLE, freeze_modules, plotly_early

PLACES = {  # file -> title; the first is the place that opens
    "play_page.py": "Play",
    "space_page.py": "Space",
    "why_page.py": "Why",
    "train_page.py": "Train and compare",
    "papers_page.py": "Papers",
}
TEACHERS = {"teacher_page.py": "Teacher"}
MOVED = {  # another address, such as one of version 0.1.0 -> the place that it leads to, with what it opens
    "play": ("play_page.py", {}),  # which is the first place, so its address is empty
    "clusters_page": ("space_page.py", {}),
    "pairs_page": ("why_page.py", {}),
    "film_page": ("why_page.py", {"view": "FILM's rows"}),
    "compare_page": ("train_page.py", {"view": "Runs"}),
    "corpora_page": ("train_page.py", {"view": "Data"}),
    "train_page": ("train_page.py", {"view": "Train"}),
    "neighbourhoods_page": ("papers_page.py", {"try": "sbert-lp"}),
    "paraphrases_page": ("papers_page.py", {"try": "pthought"}),
    "themes_page": ("papers_page.py", {"try": "thematic"}),
}
UNGUARDED = (
    "Other machines can reach this app without a token. Start it with `labkit app --classroom`, which prints an "
    "address with one."
)

STEPS = """\
<script>
(() => {
  if (window.labkitSteps) return;
  window.labkitSteps = true;
  const wide = formula => { if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0; };  // for arrow keys
  const formulas = () => document.querySelectorAll('.katex-display:not([tabindex])').forEach(wide);
  new MutationObserver(formulas).observe(document.body, {childList: true, subtree: true});
  // a file that is dropped anywhere goes to the place for a corpus
  const bring = () => document.querySelector('.st-key-bring-file input[type=file]');
  addEventListener('dragenter', () => {
    if (!bring()) document.querySelector('.st-key-data button[aria-expanded=false]')?.click();
  });
  addEventListener('dragover', event => {
    if (bring() && event.dataTransfer.types.includes('Files')) event.preventDefault();
  });
  addEventListener('drop', event => {
    const input = bring();
    if (!input || !event.dataTransfer.files.length || event.target === input) return;
    event.preventDefault();
    const files = new DataTransfer();
    files.items.add(event.dataTransfer.files[0]);
    input.files = files.files;
    input.dispatchEvent(new Event('change', {bubbles: true}));
  });
  PLOTLY  // its script is fetched at once, not only when a first picture has come
  const push = history.pushState.bind(history), mend = history.replaceState.bind(history);
  let pressed = false, moving = false, leaving = false, last = '', at = 0;
  addEventListener('pointerdown', () => { pressed = true; moving = false; }, true);
  addEventListener('click', event => {
    const link = event.target.closest('[data-testid$=NavLink]');
    leaving = !!link && new URL(link.href).pathname !== location.pathname;
  }, true);
  addEventListener('keydown', key => { pressed = true; moving = /^(Arrow|Page|Home|End)/.test(key.key); }, true);
  addEventListener('popstate', () => { pressed = leaving = false; last = ''; });
  const changed = (before, after) => [...new Set([...before.keys(), ...after.keys()])]
    .filter(name => before.getAll(name).join() !== after.getAll(name).join()).join();
  history.pushState = history.replaceState = (state, title, address) => {
    const to = new URL(address, location), turned = to.pathname !== location.pathname;
    if (leaving && !turned) return;  // the settings of the place that is left stay in its address
    leaving = false;
    const names = turned ? '' : changed(new URLSearchParams(location.search), to.searchParams);
    const step = turned || (pressed && names !== '' && !(moving && names === last && Date.now() - at < 2000));
    if (pressed) [last, at] = [names, Date.now()];
    pressed = false;
    (step ? push : mend)(state, title, address);
  };
})();
</script>"""


def lead_to(file: str, opens: dict[str, str]) -> None:
    """Open a place with the settings of the address that led here."""
    settings: dict[str, Any] = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(places[file], query_params=opens | settings)


st.set_page_config(page_title="labkit", layout="wide")
st.html(  # the picture above the fold at 720 px; a long formula on a narrow screen can be pushed aside
    "<style>.stMainBlockContainer {padding: 3.9rem 2rem 2rem 2rem} .katex-display {overflow: auto hidden}"
    "div:has(> .st-key-steps) {display: none} .st-key-head h3 {font-size: 1.4rem; padding: 0}"
    "[class*=st-key-bring] :is([data-testid=stFileUploaderDropzoneInstructions], [data-testid=stFileChips])"
    " {display: none}"
    "[class*=st-key-bring] section {padding: 0; border: 0; background: none; min-height: 0}"
    f"{READABLE}</style>"
)
with st.container(key="steps"):
    st.html(STEPS.replace("PLOTLY", plotly_early()), unsafe_allow_javascript=True)
if classroom.is_on() and not classroom.PRESENT.guarded:
    st.error(UNGUARDED)
    st.stop()
# no icons here: that of the open page would be fetched from a font server, as the picture in the tab
titles = PLACES | (TEACHERS if classroom.is_teacher() else {})
places = {
    file: st.Page(file, title=title, url_path=file.removesuffix("_page.py") if place else None, default=not place)
    for place, (file, title) in enumerate(titles.items())
}
earlier = [
    st.Page(partial(lead_to, *where), title=address, url_path=address, visibility="hidden")
    for address, where in MOVED.items()
]
shown = st.navigation([*places.values(), *earlier], position="top")
classroom.PRESENT.turned(classroom.me(), shown.title)
shown.run()
freeze_modules(len(sys.modules))
