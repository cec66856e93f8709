"""What all pages share: the head, pictures with their export, code and link, and one error handler.

All text from visitors goes through `plain` before it becomes part of a text with markup.
"""

from __future__ import annotations

import gc
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

import classroom
import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile
from trainings import Owned

from labkit.atomic import amount, sentence_of
from labkit.runs import read_record
from labkit.spreadsheet import spreadsheet

_MARKUP = re.compile(r"([\\`*_\[\]<>$~|#])")
Rows = Callable[[], Iterable[Mapping[str, Any]]]
LONGEST, LINE = 80, 35  # letters of a name; pixels of a line of a table
OWN = "your own file"  # among the corpora
KEPT = "kept"  # in the session: the parameters for the address
SHARE, CHOICES = "share", "choices"  # in the session: the containers of the link and of the shared choices
LARGER, TYPE = 1.5, 13  # for a projector, times the size of type in a picture; pixels where the picture has none
PRESENT = "Enlarge the pictures and hide the controls, for example when presenting on a projector."
HERE = ("127.0.0.1", "localhost", "::1")  # the names by which only this machine reaches itself
KEEP = {"bind": "query-params"}  # for a widget whose value is kept in the page's address, under its key
SAVE = st.components.v2.component(
    "labkit_save",
    html='<button name="png">Picture as PNG</button> <button name="svg">Picture as SVG</button>',
    js=(Path(__file__).parent / "save_picture.js").read_text("utf-8"),
    isolate_styles=False,
)
BUTTONS = f"<script>{(Path(__file__).parent / 'play_stop.js').read_text('utf-8')}</script>"  # of a moving picture


@dataclass(frozen=True)
class File:
    """A visitor's file: its name and content."""

    name: str
    data: bytes = field(repr=False)

    @cached_property
    def key(self) -> str:
        """The key by which files are compared: a hash of the content, and the name."""
        return f"{hashlib.sha256(self.data).hexdigest()[:32]} {self.name}"


@cache
def plotly_early() -> str:
    """The line that makes the browser fetch plotly's script; empty if this Streamlit has no script by this name."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    script = next(folder.glob("PlotlyChart.*.js"), None)
    return f"import(new URL('static/js/{script.name}', document.baseURI)).catch(() => null);" if script else ""


def view(views: Sequence[str], key: str = "view", first: str = "", label: str = "View", **options: Any) -> str:
    """The selected view of the page: initially `first` or the first of all, later the one that the visitor left.

    Pages share the key but not the views, so it is not bound to the address, which would keep the previous page's view.
    """
    first, memory = first or views[0], f"{key} of {views[0]}"
    linked = st.query_params.get(key)
    if address_changed(key) and linked in views:
        st.session_state[key] = linked
    elif st.session_state.get(key) not in views:  # from another page, without a view in the address
        left = st.session_state.get(memory)
        st.session_state[key] = linked if linked in views else left if left in views else first
    elif address_changed(key):
        st.session_state[key] = first
    chosen = str(st.segmented_control(label, views, required=True, key=key, label_visibility="collapsed", **options))
    st.session_state[memory] = chosen
    keep_in_address(key, None if chosen == first else chosen)
    return chosen


def run(page: Callable[[], None]) -> None:
    """The page; invalid input from a visitor is rejected in one sentence, and the rest of the page stays."""
    try:
        page()
    except (ValueError, OSError) as mistake:  # OSError: a run or a file that is gone
        st.error(plain(sentence_of(mistake)))
    write_address()


def plain(text: str) -> str:
    """A text whose markup is shown literally: no link, no picture, no formula, no HTML.

    >>> plain("![x](http://a) <b>")
    '!\\\\[x\\\\](http://a) \\\\<b\\\\>'
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def head(question: str, about: str = "", *formulas: str, present: bool = True) -> Any:
    """The question of the page, its explanation and link, and below them the choices that all pages share.

    `present`: the page can be enlarged, without its controls. What is returned holds the explanation, which can come
    later if it depends on the view.
    """
    st.session_state[KEPT] = {}  # drops the values of a page that was interrupted
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.markdown(f"### {question}", width="stretch")
        explained = st.container(width="content")
        if about:
            with explained:
                what_is_shown(about, *formulas)
        st.session_state[SHARE] = st.container(width="content", key="share")
        if present:
            st.toggle("Present", key="present", help=PRESENT, **KEEP)
    st.session_state[CHOICES] = st.container(horizontal=True, vertical_alignment="bottom", key="choices")
    return explained


def what_is_shown(about: str, *formulas: str) -> None:
    """The explanation of the page, in words and formulas."""
    with st.popover("What am I looking at?", icon=":material/help:"):
        st.markdown(about)
        for formula in formulas:
            st.latex(formula)


def dialog(title: str, show: Callable[[], None], width: Literal["medium", "large"] = "large") -> None:
    """Open a panel over the page; an error appears in it as one sentence."""

    def panel() -> None:
        # a dialog is outside the element that sets the colour scheme, which the text in pictures depends on
        st.html(f"<style>.stDialog {{color-scheme: {st.context.theme.type or 'normal'}}}</style>")
        run(show)

    st.dialog(title, width=width)(panel)()


def choices() -> Any:
    """The row at the top of every page, or of its panel: corpus, file, models."""
    return st.session_state[CHOICES]


@contextmanager
def choices_behind(label: str) -> Iterator[None]:
    """Choices behind one button in the row at the top."""
    row = choices()
    with row:
        st.session_state[CHOICES] = st.popover(label, icon=":material/database:", key="data")
    yield
    st.session_state[CHOICES] = row


def save_button(name: str, key: str) -> Any:
    """The button that opens the choices for saving."""
    return st.popover(name, icon=":material/download:", type="tertiary", key=f"{key}-save")


def enlarged(figure: go.Figure) -> go.Figure:
    """The figure; if the page is presented, with larger type, and with margins and a height that grow with it."""
    if not st.session_state.get("present"):
        return figure
    layout, legend = figure.layout, figure.layout.legend
    sides = {side: size for side, size in layout.margin.to_plotly_json().items() if side in ("l", "r", "t", "b")}
    figure.update_layout(
        height=layout.height and LARGER * layout.height,
        margin={side: LARGER * size for side, size in sides.items()},
        font_size=_larger(layout.font.size),
        legend_font_size=_larger(legend.font.size),
    )
    if legend.entrywidth and legend.entrywidthmode != "fraction":
        legend.entrywidth *= LARGER
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.update(tickfont_size=_larger(axis.tickfont.size), title_font_size=_larger(axis.title.font.size))
    for note in layout.annotations:
        shifts = {name: LARGER * (note[name] or 0) for name in ("xshift", "yshift")}
        note.update(font_size=_larger(note.font.size), **shifts)
    for trace in figure.data:
        if "textfont" in trace and trace.textfont.size is not None:
            trace.textfont.size = np.multiply(LARGER, trace.textfont.size)
    return figure


def _larger(size: float | None) -> float:
    return LARGER * (size or TYPE)


def picture(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    rows: Rows,
    tools: Collection[str] = (),
    save: Any = None,
    **chart: Any,
) -> Any:
    """The figure, with alt text, and below it the formats in which it can be saved.

    `rows` computes the data behind it, only on request; `tools` are plotly's selection buttons; `save` holds the save
    buttons if they are not below the picture.
    """
    name = file_name(key)
    enlarged(figure)
    if not tools and "on_select" not in chart:  # without a toolbar, a zoom could hardly be undone
        figure.layout.dragmode = False
    figure.layout.paper_bgcolor = figure.layout.plot_bgcolor = None  # the page's, which a saved picture keeps
    config = {
        "displaylogo": False,  # it links to another site
        "toImageButtonOptions": {"filename": name, "scale": 2},
        "modeBarButtonsToRemove": [tool for tool in ("select2d", "lasso2d", "autoScale2d") if tool not in tools],
    }
    height = round(figure.layout.height or 0) or "content"
    chart = {"height": height} | chart  # the picture takes its room even before its script is loaded
    event = st.plotly_chart(figure, key=key, alt=alt, config=config, **chart)
    with save or save_button("Save", key):
        if not tools:  # otherwise the toolbar has a button for each format
            SAVE(key=f"{key}-image", data={"key": key, "alt": alt})
        download("Picture as HTML", lambda: page_of(figure, alt), f"{name}.html", "text/html", f"{key}-html")
        csv_button(rows, key)
    return event


def small_picture(figure: go.Figure, key: str, alt: str) -> None:
    """A figure without a toolbar and files."""
    st.plotly_chart(figure, key=key, alt=alt, height=round(figure.layout.height), config={"displayModeBar": False})


def table(
    rows: Iterable[Mapping[str, Any]],
    alt: str,
    *,
    formats: Mapping[str, str] = MappingProxyType({}),
    heads: Mapping[str, str] = MappingProxyType({}),
    widths: Mapping[str, Any] = MappingProxyType({}),
    pinned: str = "",
    **options: Any,
) -> None:
    """Rows as a table, with number formats, headings and widths by column; a `height` is at most that of the rows. The
    column `pinned` stays in sight.
    """
    rows = list(rows)
    if "height" in options:
        options["height"] = min(options["height"], options.get("row_height", LINE) * len(rows) + LINE + 3)
    columns = {name: st.column_config.NumberColumn(heads.get(name), format=form) for name, form in formats.items()}
    columns |= {name: st.column_config.Column(width=width, pinned=name == pinned) for name, width in widths.items()}
    st.dataframe(rows, hide_index=True, column_config=columns, alt=alt, **options)


def file_name(key: str) -> str:
    """The file name of this picture, made from the corpus and the picture's key.

    >>> file_name("training_curves")
    'training-curves'
    """
    return re.sub(r"[^a-z0-9]+", "-", f"{corpus_name()} {key}".lower()).strip("-")[-LONGEST:]


def corpus_name() -> str:
    """The name of the chosen corpus; for a visitor's file, the file name."""
    name, file = str(st.session_state.get("corpus", "")), st.session_state.get("file")
    return Path(file.name).stem if file and name == OWN else name


def csv_button(rows: Rows, key: str) -> None:
    """A button that downloads the rows as CSV; no cell can start a formula."""
    download("Data as CSV", lambda: spreadsheet(rows()), f"{file_name(key)}.csv", "text/csv", f"{key}-csv")


def download(label: str, content: Callable[[], str | bytes], file: str, kind: str, key: str) -> None:
    """A button that downloads a file, whose content is made on request."""
    st.download_button(label, content, file, kind, key=key, on_click="ignore")


MODEL = 100 * 2**20  # bytes of a run that can be downloaded: it is packed in memory


def save_model(folder: Path, key: str) -> None:
    """A button that saves a run, for who may still see it when they click: another one may have its name by then."""
    size, sees = Owned(folder, "").size, classroom.sight()
    if size > MODEL:
        st.caption(f"This model is too large to download ({amount(size)}; the limit is {amount(MODEL)}).")
        return

    def content() -> bytes:
        if not sees(folder):
            raise ValueError("this run belongs to another visitor and is no longer shared")
        return zipped(folder)

    download("Model as ZIP", content, f"{folder.name}.zip", "application/zip", key)


OPENING = """\
from labkit import load_run
model = load_run("{name}")  # the folder next to this script
print(model.encode(["A sentence.", "Another one."]).shape)"""
CONTAINS = "The folder has the vocabulary of the training data and can have some of its sentences (`probe.csv`)."


def zipped(folder: Path) -> bytes:
    """A run as a ZIP file: the folder that `labkit.load_run` opens, with its model card."""
    from labkit.hub import card_of
    from labkit.methods import load_run

    name, metrics = folder.name, read_record(folder)["metrics"]
    card = card_of(load_run(folder), name, "labkit", OPENING.format(name=name), metrics, limits=CONTAINS)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            archive.write(path, f"{name}/{path.name}")
        archive.writestr(f"{name}/README.md", card)
    return file.getvalue()


def page_of(figure: go.Figure, title: str) -> str:
    """The picture as a standalone page that loads nothing from the network."""
    shown = go.Figure(figure).update_layout(paper_bgcolor="#FFFFFF", plot_bgcolor="#FFFFFF", font={"color": "#404040"})
    shown.layout.dragmode = figure.layout.dragmode or None  # which is off on the page
    html = shown.to_html(include_plotlyjs=True, include_mathjax=False, config={"displaylogo": False})
    title = title.replace("&", "&amp;").replace("<", "&lt;")
    html = html.replace("<head>", f"<head><title>{title}</title>", 1)
    return html.replace("</body>", f"{BUTTONS}</body>", 1) if figure.layout.updatemenus else html


def code(lines: str, of: str = "") -> None:
    """The code that makes this picture, ready to run. `of`: which picture, if there are several."""
    name = f"Show the code: {plain(of)}" if of else "Show the code"
    with st.popover(name, icon=":material/code:", type="tertiary"):
        st.code(lines)


def show_link(*, own_file: bool, **shown: Any) -> None:
    """The link to this view, at the top. It contains settings and row numbers, never a sentence.

    `shown`: settings that the address omits at their defaults, although these depend on what is on this machine.
    """
    file = st.session_state.get("file") if own_file else None
    if file or st.session_state.get("corpus") != OWN:
        keep_in_address("file", file and file.name[:LONGEST])  # where the file is missing, the page asks for it
    write_address()
    where = (getattr(st.context, "url", None) or "").split("?")[0]
    params = st.query_params
    settings = urlencode({name: params.get_all(name) for name in params} | shown, doseq=True)
    with st.session_state[SHARE].popover("Share", icon=":material/link:"):
        st.code(f"{where}?{settings}" if settings else where, language=None, wrap_lines=True)
        said = "The link contains your settings and the selected row, but no searches, typed sentences or marks."
        if own_file:
            said = "The link contains your settings and your file's name. Anyone who opens it has to upload the file."
        st.caption(said)
        if urlsplit(where).hostname in HERE:
            st.caption("This address works only on this computer. To share a picture, save it as HTML.")
        elif classroom.is_on():
            st.caption("It works for runs that you share.")


def number_in_address(key: str, count: int, default: int) -> int:
    """A row number from the page's address, or the default if the address has no valid one."""
    value = st.query_params.get(key, "")
    return int(value) if value.isdecimal() and len(value) < 10 and int(value) < count else default


def keep_in_address(key: str, value: int | str | Sequence[str] | None) -> None:
    """Set what the address will contain for this key when the page is done; None: nothing."""
    st.session_state.setdefault(KEPT, {})[key] = value


def write_address() -> None:
    """Put all kept values that are missing from the address into it, in one message.

    Each message contains the whole address of this run, and would undo what a slider has changed in the meantime.
    """
    for key, value in st.session_state.pop(KEPT, {}).items():
        wanted = [] if value is None else [str(value)] if isinstance(value, int | str) else list(value)
        st.session_state[f"{key}-said"] = wanted
        if st.query_params.get_all(key) == wanted:
            continue
        if wanted:
            st.query_params[key] = wanted
        else:
            st.query_params.pop(key)


def address_changed(key: str) -> bool:
    """Whether the address differs from what the page has put there: through a link, another page, Back or Forward."""
    return bool(st.query_params.get_all(key) != st.session_state.get(f"{key}-said", []))


KEPT_FILE = (
    "Your file is kept in the memory of the machine that runs this app, at most until the app is stopped. No other "
    "visitor can see it. Only a training run writes a copy to the disk."
)
GONE = "Your file is no longer in the app's memory. Upload it again."
REFUSED = "Your files can use up to {most} in total. If an upload fails (error 413), remove a file or close other tabs."
PASTED, MOST_PASTED = "pasted.txt", 1_000_000  # the name of pasted text, and its maximum length
EXAMPLE = "text,label\nThe cat sleeps.,animals\nThe train is late.,travel"


def visitor_file(label: str, key: str, *, paste: str = "", then: Callable[[], None] = lambda: None) -> File | None:
    """A visitor's file, from the row at the top. It is kept for all pages while one of them is open.

    `paste` is the text above a box for pasted lines, which also become a file, PASTED, read like any other.
    `then` is called when a file has arrived.
    """
    widget, box = f"{key}-upload", f"{key}-lines"

    def keep_file(file: File | None) -> None:
        st.session_state[key] = file
        if file is not None:
            then()

    def uploaded() -> None:
        upload = st.session_state[widget]
        keep_file(File(upload.name, upload.getvalue()) if isinstance(upload, UploadedFile) else None)

    def pasted() -> None:
        if (lines := st.session_state.get(box, "")).strip():
            keep_file(File(PASTED, lines.encode("utf-8", "surrogatepass")))

    with choices():
        with st.container(width="content", key=f"bring-{key}"):
            st.file_uploader(label, key=widget, on_change=uploaded, label_visibility="collapsed", width=94)
        if paste:
            with st.popover("Paste", icon=":material/content_paste:"):
                st.caption(paste)
                st.text_area("Lines", key=box, max_chars=MOST_PASTED, height=130, placeholder=EXAMPLE)
                st.button("Use these lines", key=f"{key}-paste", on_click=pasted)
                if classroom.is_on():  # Streamlit's own control shows only the status code of a refusal
                    st.caption(REFUSED.format(most=amount(classroom.UPLOADS)))
        file: File | None = st.session_state.get(key)
        if file is not None:
            with st.popover(plain(file.name), icon=":material/draft:"):
                st.markdown(KEPT_FILE)
                st.button("Remove the file", key=f"{key}-forget", on_click=st.session_state.pop, args=(key,))
    if isinstance(st.session_state[widget], DeletedFile):
        st.error(GONE)
    return file


@cache
def freeze_modules(count: int) -> None:
    """Exclude loaded objects from later garbage collections, once for each number of loaded modules.

    A full collection over torch, plotly and the rest would stop all visitors for a third of a second, and imported
    modules stay loaded anyway. Objects without references are still freed at once.
    """
    gc.freeze()
