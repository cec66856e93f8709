"""How verdicts, hints and progress look in a notebook: one line of text, with a mark and a word beside the colour."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from labkit.check.lessons import LESSONS
from labkit.check.progress import Record

GOOD, BAD, PLAIN = "#009E73", "#D55E00", "#808080"  # Okabe and Ito: told apart by all eyes, and the mark says it too


@dataclass(frozen=True)
class Shown:
    """A text; in a notebook with a coloured edge. `good` is None where nothing was judged."""

    text: str
    good: bool | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        colour = PLAIN if self.good is None else GOOD if self.good else BAD
        style = f"border-left: 4px solid {colour}; padding: 2px 10px; margin: 4px 0; white-space: pre-wrap"
        return f'<div style="{style}">{escape(self.text)}</div>'


def compared(key: str, guess: Any, truth: Any) -> Shown:
    """A guess beside the truth. Numbers get their distance, words whether they are the same."""
    if guess is None:
        return Shown(f"{key}: it is {_written(truth)}. (You made no prediction.)")
    if _number(guess) and _number(truth):
        return Shown(f"{key}: you predicted {_written(guess)}; it is {_written(truth)}.")
    same = str(guess).strip().lower() == str(truth).strip().lower()
    return Shown(f"{key}: you predicted {guess!r}; it is {truth!r}{', as you said' if same else ''}.")


def summary(record: Record, notebook: str | None) -> Shown:
    """A line a notebook."""
    wanted = [notebook] if notebook else list(LESSONS)
    lines = [_line(record, name) for name in wanted if name in LESSONS]
    if not lines:
        raise ValueError(f"notebook is {notebook!r}, expected one of {', '.join(LESSONS)}")
    return Shown("\n".join(lines))


def _line(record: Record, notebook: str) -> str:
    keys = list(LESSONS[notebook].exercises)
    marks = {key: "◐" if record.of(key).seen else "●" if record.of(key).right else "○" for key in keys}
    right, seen, still = ([key for key in keys if marks[key] == mark] for mark in "●◐○")
    rest = (f"; solution read: {', '.join(seen)}" if seen else "") + (f"; open: {', '.join(still)}" if still else "")
    return f"{notebook}  {''.join(marks.values())}  {len(right)} of {len(keys)} answered{rest or ', all of them'}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
