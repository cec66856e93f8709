"""Page "Train": any method on any corpus, in a line that all visitors share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import cached
import choosing
import frame
import stored
import streamlit as st
from train_line import know_again, show_line, visitor
from train_text import ABOUT, ELSEWHERE, FORMULAS, OWN_FILE
from trainings import Choice, Order, Queue, choices, shared

from labkit.folders import sentence_of

EVERY = 1.5  # seconds between two looks at a training that runs
FRONT = ("epochs", "encoder", "loss", "solver", "form", "base", "size", "hidden", "dimension", "neighbours")


# --- what is wished for ------------------------------------------------------------------------------------------


def wished(opened: cached.Opened) -> Order:
    """Method, settings and seed, as chosen; only settings that are not the method's own are part of it."""
    from labkit.methods import METHODS

    method = st.selectbox("Method", list(METHODS), key="method", **frame.KEEP)
    st.caption(METHODS[method].summary)
    offered = choices(METHODS[method].method.Settings)
    front = [choice for choice in offered if choice.name in FRONT and (choice.name, choice.kind) != ("base", float)]
    found = asked(method, front)
    with st.expander("All settings", icon=":material/tune:"):
        found |= asked(method, [choice for choice in offered if choice not in front])
        seed = st.number_input("seed", 0, 9999, 0, key="seed", help="Same seed, same numbers.", **frame.KEEP)
        st.caption(ELSEWHERE)
    changed = {choice.name: found[choice.name] for choice in offered if found[choice.name] != choice.default}
    if opened.own:
        return Order.of_file(method, *opened.file, seed=int(seed), settings=changed)
    return Order(method, opened.corpus.name, int(seed), changed)


def asked(method: str, offered: Sequence[Choice]) -> dict[str, Any]:
    """A control for each setting, two side by side."""
    found = {}
    columns = st.columns(2)
    for number, choice in enumerate(offered):
        with columns[number % 2]:
            found[choice.name] = control(choice, f"{method}.{choice.name}")
    return found


def control(choice: Choice, key: str) -> Any:
    """The control that fits the kind of setting; what it means is its help."""
    shown: dict[str, Any] = {"key": key, "help": choice.help, **frame.KEEP}
    if choice.kind is bool:
        return st.checkbox(choice.name, choice.default, **shown)
    if choice.kind is str:
        return st.selectbox(choice.name, choice.options, choice.options.index(choice.default), **shown)
    form = "%d" if choice.kind is int else "%g"
    numbers = [choice.kind(value) for value in (choice.least, choice.most, choice.default, choice.step)]
    return st.number_input(choice.name, *numbers, format=form, **shown)


def submit(queue: Queue, order: Order) -> None:
    """Into the line, or one sentence why not."""
    try:
        job = queue.submit(order, **visitor())
    except (ValueError, OSError) as reason:
        st.error(frame.plain(sentence_of(reason)))
        return
    st.session_state["looked-at"] = job.id


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Train: any method, any corpus", ABOUT, *FORMULAS)
    opened = choosing.corpus()
    queue = shared(stored.home())
    left, right = st.columns([2, 3], gap="large")
    with left:
        if opened is not None:
            order = wished(opened)
            if opened.own:
                st.caption(OWN_FILE)
            if st.button("Train", type="primary", icon=":material/play_arrow:", key="train"):
                submit(queue, order)
        know_again()
    st.session_state["followed"] = queue.busy
    with right:
        st.fragment(frame.run, run_every=EVERY if queue.busy else None)(partial(show_line, queue))
    frame.share(own_file=opened is not None and opened.own)


frame.run(page)
