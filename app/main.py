"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`.

The browser's Back and Forward go through pages and settings one step at a time. Streamlit writes a step of its own for
each row number that a page puts into its address, and none for a setting. Here a change of the address is a step if
somebody has pressed something before it. Any other mends the step that one stands on; so do arrow keys that go on in
the same setting within two seconds, as on a slider.

In a classroom whoever has shown the teacher's token has one page more, and without its guard no page is shown.

When the first page stands, UMAP, which it offers, prepares itself in a process of its own.
"""

import sys
from functools import partial

import classroom
import streamlit as st
from frame import PLACES, READABLE, freeze_modules, plotly_early

PAGES = {  # file -> title; the first is the page that opens
    "clusters_page.py": "Clusters",
    "play_page.py": "Play",
    "pairs_page.py": "Pairs",
    "film_page.py": "FILM rows",
    "neighbourhoods_page.py": "Neighbourhoods",
    "paraphrases_page.py": "Paraphrases",
    "themes_page.py": "Themes",
    "train_page.py": "Train and compare",
    "compare_page.py": "Papers",
}
PATHS = {"compare_page.py": "paper_tables"}  # its former address had other views, too
MOVED = {  # address of a former page, with a view -> the page that has it now, and what is to be shown there
    "corpora_page": ("train_page", {"view": "Data"}),
    "compare_page": ("train_page", {"view": "Runs"}),
    "compare_page: The papers": ("compare_page", {}),
}
TEACHERS = {"teacher_page.py": "Teacher"}
UNGUARDED = (
    "This app listens to other machines, and no token guards it: start it by `labkit app --classroom`, which prints an "
    "address with one."
)

AFTER = 5.0  # seconds, in which a browser draws the page
STEPS = """\
<script>
(() => {
  if (window.labkitSteps) return;
  window.labkitSteps = true;
  const wide = formula => { if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0; };  // for arrow keys
  const formulas = () => document.querySelectorAll('.katex-display:not([tabindex])').forEach(wide);
  new MutationObserver(formulas).observe(document.body, {childList: true, subtree: true});
  PLOTLY  // its script is fetched at once, not only when a first picture has come
  const push = history.pushState.bind(history), mend = history.replaceState.bind(history);
  let pressed = false, moving = false, last = '', at = 0;
  addEventListener('pointerdown', () => { pressed = true; moving = false; }, true);
  addEventListener('keydown', key => { pressed = true; moving = /^(Arrow|Page|Home|End)/.test(key.key); }, true);
  addEventListener('popstate', () => { pressed = false; last = ''; });
  const changed = (before, after) => [...new Set([...before.keys(), ...after.keys()])]
    .filter(name => before.getAll(name).join() !== after.getAll(name).join()).join();
  history.pushState = history.replaceState = (state, title, address) => {
    const to = new URL(address, location), turned = to.pathname !== location.pathname;
    const names = turned ? '' : changed(new URLSearchParams(location.search), to.searchParams);
    const step = turned || (pressed && names !== '' && !(moving && names === last && Date.now() - at < 2000));
    if (pressed) [last, at] = [names, Date.now()];
    pressed = false;
    (step ? push : mend)(state, title, address);
  };
})();
</script>"""

st.set_page_config(page_title="labkit", layout="wide")
st.html(  # the picture above the fold at 720 px; a long formula on a narrow screen can be pushed aside
    "<style>.stMainBlockContainer {padding: 3.9rem 2rem 2rem 2rem} .katex-display {overflow: auto hidden}"
    "div:has(> .st-key-steps) {display: none}"
    f"{READABLE}</style>"
)
with st.container(key="steps"):
    st.html(STEPS.replace("PLOTLY", plotly_early()), unsafe_allow_javascript=True)
if classroom.is_on() and not classroom.PRESENT.guarded:
    st.error(UNGUARDED)
    st.stop()
# no icons here: that of the open page would be fetched from a font server, as the picture in the tab
titles = PAGES | (TEACHERS if classroom.is_teacher() else {})
pages = [
    st.Page(file, title=title, url_path=PATHS.get(file), default=file == next(iter(PAGES)))
    for file, title in titles.items()
]
places = {file.removesuffix(".py"): page for file, page in zip(titles, pages, strict=True)}


def lead_on(address: str) -> None:
    """Open the page that has what a former page had, with the settings of its address."""
    place, settings = MOVED.get(f"{address}: {st.query_params.get('view')}", MOVED[address])
    st.switch_page(
        places[place], query_params=settings | {name: st.query_params.get_all(name) for name in st.query_params}
    )


former = {
    address: st.Page(partial(lead_on, address), title=address, url_path=address, visibility="hidden")
    for address in MOVED
    if ":" not in address
}
st.session_state[PLACES] = former | places
shown = st.navigation([*pages, *former.values()])
classroom.PRESENT.turned(classroom.me(), shown.title)
shown.run()
freeze_modules(len(sys.modules))
if shown == pages[0]:
    from cached import picture_process

    picture_process().warm(after=AFTER)
