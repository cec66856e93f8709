"""`labkit compare RUN...`: the test figures of several runs side by side, the best first."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.commands.opening import corpus_of_run, opened_corpus, opened_method, record_of
from labkit.commands.options import CorpusName, Json, RunFolders
from labkit.commands.saying import answer, columns, step
from labkit.progress import Progress, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.leaderboard import Line, Result


def compare(
    runs: RunFolders,
    corpus: CorpusName = None,
    json: Json = False,
) -> None:
    """Put the test figures of runs side by side; those that differ only in the seed are one line."""
    from labkit.leaderboard import leaderboard

    records = {run: record_of(run) for run in _distinct(runs)}
    opened = opened_corpus(corpus) if corpus is not None else _common_corpus(records)
    with step("scored and compared"), terminal("run") as progress:
        lines = leaderboard(_results(records, opened, progress))
    if len(records) > sum(len(line.results) for line in lines):
        warnings.warn("runs that differ in nothing, not even in the seed, count once", stacklevel=2)
    record = {"corpus": opened.name, "split": "test", "lines": [_record(line) for line in lines]}
    said = f"{opened.name}, test: {lines[0].figure}, the best first\n\n{_ranking(lines)}\n\n{_means(lines)}"
    answer(record, said, json=json)


def _distinct(runs: list[Path]) -> list[Path]:
    """Each folder once, however it is written."""
    return list({run.resolve(): run for run in reversed(runs)}.values())[::-1]


def _common_corpus(records: dict[Path, dict[str, Any]]) -> Corpus:
    (first, record), *rest = records.items()
    for run, other in rest:
        if other["fingerprint"] != record["fingerprint"]:
            raise ValueError(
                f"run {str(run)!r} was trained on {other['corpus']}, {str(first)!r} on {record['corpus']} (their "
                "fingerprints differ), expected one corpus for all; name the one to compare them on with --corpus"
            )
    corpus = corpus_of_run(record, first)
    if corpus.fingerprint != record["fingerprint"]:
        warnings.warn(f"{corpus.name} has changed since the runs were trained on it", stacklevel=2)
    return corpus


def _results(records: dict[Path, dict[str, Any]], corpus: Corpus, progress: Progress) -> list[Result]:
    from labkit.leaderboard import Result
    from labkit.scores import score

    made = []
    for number, (run, record) in enumerate(records.items()):
        progress(number, len(records), f"scoring {run}")
        found = score(
            opened_method(run), corpus, apart=True, progress=_within(progress, number, len(records), str(run))
        )
        made.append(Result.of(str(run), record, found))
    return made


def _within(progress: Progress, before: int, runs: int, run: str) -> Progress:
    """The progress of scoring one run as a part of that of all."""

    def told(done: int, total: int | None, what: str) -> None:
        progress(before, runs, f"scoring {run}, {what} {done:,} of {total or 0:,}")

    return told


# --- what is said ----------------------------------------------------------------------------------------------


def _ranking(lines: list[Line]) -> str:
    return columns([[line.name, _figure(line), _verdict(line)] for line in lines])


def _figure(line: Line) -> str:
    if line.spread:
        return str(line.spread)
    return f"{line.mean:.4f} ({len(line.results)} run{'s'[: len(line.results) - 1]})"


def _verdict(line: Line) -> str:
    from labkit.figures.leaders import SAW, SPOKEN

    said = SPOKEN.get(line.verdict, line.verdict)
    if line.lead is not None:
        low, high = line.lead.interval()
        said += f"; {-line.lead.lead:+.4f} [{-high:+.4f}, {-low:+.4f}]"
    said += f"; {SAW}" if line.saw_test else ""
    return f"{said}; {line.sample}" if line.sample else said


def _means(lines: list[Line]) -> str:
    """All figures: a column for each that any line has."""
    figures = list(dict.fromkeys(name for line in lines for name in line.means))
    rows = [["means", *figures]]
    rows += [
        [line.name, *(f"{line.means[name]:.4f}" if name in line.means else "-" for name in figures)] for line in lines
    ]
    return columns(rows, right=range(1, len(figures) + 1))


def _record(line: Line) -> dict[str, Any]:
    first = line.results[0]
    return {
        "name": line.name,
        "method": first.method,
        "settings": dict(first.settings),
        "trained_on": first.trained_on,
        "runs": [result.run for result in line.results],
        "seeds": [result.seed for result in line.results],
        "measure": line.figure,
        "mean": line.means,
        "spread": None if line.spread is None else line.spread.spread,
        "verdict": line.verdict,
        "behind_by": None if line.lead is None else line.lead.lead,
        "interval": None if line.lead is None else line.lead.interval(),
        "saw_test": line.saw_test,
        **({"sample": line.sample} if line.sample else {}),
    }
