"""The result of a comparison: a record, text for the terminal, and one HTML page that opens anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from labkit.evaluation.threshold import Threshold
from labkit.figure_names import written
from labkit.palette import COLOURS
from labkit.trials.doctor import Finding
from labkit.trials.metrics import NAMES, PROBE
from labkit.trials.mistakes import Mistake
from labkit.trials.plan import Plan, listed
from labkit.trials.verdict import MARGIN, UNITS, Ranked, verdict_of

ROWS = 10  # thresholds shown on the page
NEAREST = "The other sentence is the nearest one in the training rows that has the predicted label. "
HEAD = ("method", "score", "verdict", "95 % interval", "behind the best", "training", "per sentence", "size")


@dataclass(frozen=True)
class Line:
    """One method in the table."""

    ranked: Ranked
    settings: Mapping[str, Any]
    dev: float
    dev_at_first: float | None  # None if the default settings could not be trained
    trials: int
    figures: Mapping[str, float]  # the means of all other test scores
    seconds: float  # CPU seconds of one run
    microseconds: float  # per sentence
    megabytes: float


@dataclass(frozen=True)
class Report:
    """The result of `bench`; `print` shows the verdict and the table."""

    corpus: str
    sizes: Mapping[str, int]
    metric: str
    findings: tuple[Finding, ...]
    plan: Plan
    lines: tuple[Line, ...] = ()
    curve: Mapping[str, Mapping[float, tuple[float, float, float]]] = field(default_factory=dict)
    gain: tuple[float, float, float] | None = None  # of the winner, with all labels compared with half of them
    mistakes: tuple[Mistake, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    unleaked: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # with and without leaking test rows
    unleaked_rows: int = -1  # test rows that repeat no row of another split
    cut: Threshold | None = None  # for the winner, on pairs with 0/1 labels
    code: str = ""
    exported: str = ""
    finished: bool = True
    took: float = 0.0  # minutes of the last call

    @property
    def verdict(self) -> str:
        """Whether one method leads, several tie for first place, or the comparison is open."""
        return verdict_of([line.ranked for line in self.lines])

    @property
    def front(self) -> list[Line]:
        """The best method, and all methods not shown to be behind it."""
        return [line for line in self.lines if line.ranked.against_best != "behind"]

    def __str__(self) -> str:
        return as_text(self)

    def to_json(self) -> dict[str, Any]:
        """Return the whole report in a form that can be written as JSON."""
        verdict, said = (self.verdict, verdict_sentence(self)) if self.lines else ("", "")
        return asdict(self) | {"verdict": verdict, "said": said}


def verdict_sentence(report: Report) -> str:
    """The decision in a sentence or two."""
    best, others = report.lines[0], report.front[1:]
    name = best.ranked.name
    at, low, high = (written(each, ".3f") for each in (best.ranked.score, best.ranked.low, best.ranked.high))
    score = f"{at} [{low}, {high}] ({NAMES[report.metric]})"
    if len(report.lines) == 1:
        return f"{name} scores {score}; no other method was compared."
    if not others:
        second = report.lines[1].ranked
        leads = f"{name} leads on your data"
        if report.plan.untried:  # one of the others may be better
            leads = f"Of the {len(report.lines)} methods tried, {name} leads"
        return (
            f"{leads}: {score}. The next, {second.name}, is {second.lead:.3f} behind "
            f"[{second.lead_low:.3f}, {second.lead_high:.3f}]."
        )
    ties, still_open = (
        [line.ranked.name for line in others if line.ranked.against_best == state] for state in ("tie", "open")
    )
    said = f"{name} scores highest: {score}."
    if ties:
        said += f" Its lead over {listed(ties)} is too small to matter."
    if still_open:
        said += f" Whether it is better than {listed(still_open, 'or')} is open."
    if best.ranked.units < UNITS:
        said += f" The test split has {best.ranked.units} independent rows, too few to decide anything."
    near = [best, *(line for line in others if line.ranked.lead <= MARGIN)]
    for cheap in (min(each, key=lambda line: line.microseconds) for each in (near, report.front)):
        if cheap.microseconds <= best.microseconds / 2:
            break
    else:
        return said
    ratio = best.microseconds / cheap.microseconds
    faster = f"{ratio:.0f} times" if ratio >= 3 else f"{ratio:.1f} times"
    alike = "scores about the same" if cheap.ranked.lead <= MARGIN else f"scores {cheap.ranked.lead:.3f} lower"
    return f"{said} {cheap.ranked.name} {alike} and encodes {faster} faster."


def leak_sentence(report: Report) -> str:
    """The scores without leaking test rows."""
    rows, test = report.unleaked_rows, report.sizes.get("test", 0)
    if rows in (-1, test):
        return ""
    rest = f"{rows:,} of the {test:,} test rows do not repeat, or nearly repeat, rows of other splits"
    scores = [f"{name} {without:.3f} ({whole:.3f})" for name, (whole, without) in report.unleaked.items()]
    if not scores:
        return f"Only {rest}, too few to score the methods on them alone."
    return f"{rest}. Scores of the first seed on them alone (on all rows): {', '.join(scores)}."


def curve_sentence(report: Report) -> str:
    """Whether more labels would help."""
    if report.gain is None:
        return ""
    gain, low, high = report.gain
    name = report.lines[0].ranked.name
    if not (gain or low or high):  # as of a method that is not trained
        return (
            f"{name} gives the same scores with half of the training rows. This says nothing about methods that learn "
            "more from labels."
        )
    interval = ", ".join(map(written, (low, high)))
    change = f"{written(gain)} [{interval}]"
    about = f"from half of the training rows to all of them, the score of {name} changes by {change}"
    if high < 0.005:
        return f"More labels would hardly help: {about}."
    if low > 0:
        return f"More labels would help: {about}."
    return f"Whether more labels would help is open: {about}."


def cells(line: Line) -> list[str]:
    """A line of the table."""
    row = line.ranked
    best = row.against_best == "best"
    against = "" if best else row.against_best
    score, low, high, *lead = (
        written(each, ".3f") for each in (row.score, row.low, row.high, row.lead, row.lead_low, row.lead_high)
    )
    behind = "" if best else f"{lead[0]} [{lead[1]}, {lead[2]}]"
    size = f"{line.megabytes:.1f} MB" if line.megabytes >= 0.1 else f"{1000 * line.megabytes:.0f} kB"
    costs = [f"{line.seconds:.1f} s", f"{line.microseconds:.0f} µs", size]
    return [row.name, score, against, f"[{low}, {high}]", behind, *costs]


def as_text(report: Report) -> str:
    """Return the report as text for the terminal."""
    parts = ["\n".join(f"{'! ' if each.level == 'warning' else '  '}{each.sentence}" for each in report.findings)]
    if report.lines:
        rows = [list(HEAD), *(cells(line) for line in report.lines)]
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        aligned = [str.ljust if at in (0, 2) else str.rjust for at in range(len(HEAD))]
        table = ["  ".join(to(cell, w) for to, cell, w in zip(aligned, row, wide, strict=True)) for row in rows]
        parts += ["\n".join(map(str.rstrip, table)), verdict_sentence(report), report.plan.untried]
        parts += [leak_sentence(report), curve_sentence(report)]
        parts += [] if report.cut is None else [str(report.cut)]
    else:
        parts.append("Stopped before the first method was scored on test; repeat the command to resume.")
    left = "\n".join(f"left out: {each}" for each in _left_out(report))
    return "\n\n".join(part for part in (*parts, left, report.code) if part)


def _left_out(report: Report) -> list[str]:
    return [f"{name}: {why}" for name, why in {**report.plan.left_out, **report.failed}.items()]


# --- pictures ----------------------------------------------------------------------------------------------------

WIDTH, LEFT, RIGHT, STEP = 480, 132, 56, 32  # narrow, so that the text is readable on a phone


def intervals_svg(report: Report) -> str:
    """Scores with their intervals, one method per line."""
    rows, metric = [line.ranked for line in report.lines], NAMES[report.metric]
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    room = 0.05 * ((high - low) or 1.0)
    low, high = low - room, high + room
    height = STEP * len(rows) + 50

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    drawn = []
    for value in _ticks(low, high):
        drawn.append(f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="10" y2="{height - 38}"/>')
        drawn.append(_text(x(value), height - 22, written(value, ".2f"), "middle"))
    for at, row in enumerate(rows):
        y, fill = 24 + STEP * at, "none" if row.against_best == "behind" else COLOURS[0]
        look = f'stroke="{COLOURS[0]}" stroke-width="2"'
        drawn += [
            _text(LEFT - 12, y + 4, row.name, "end"),
            f'<line x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{y}" y2="{y}" {look}/>',
            f'<circle cx="{x(row.score):.1f}" cy="{y}" r="6" fill="{fill}" {look}/>',
            _text(x(row.high) + 8, y + 4, written(row.score, ".3f"), "start"),
        ]
    drawn.append(_text((LEFT + WIDTH - RIGHT) / 2, height - 4, metric, "middle"))
    said = "; ".join(f"{row.name} {row.score:.3f} from {row.low:.3f} to {row.high:.3f}" for row in rows)
    return _picture(height, drawn, f"{metric} with 95 % intervals: {said}")


def curve_svg(report: Report) -> str:
    """The scores with their intervals over the share of the training rows, one line per method."""
    points = [score for curve in report.curve.values() for score in curve.values()]
    low, high = min(point[1] for point in points), max(point[2] for point in points)
    room, height, said = 0.05 * ((high - low) or 1.0), 260, []
    left, right = 76, WIDTH - LEFT  # the names are on the right
    low, high = low - room, high + room

    def x(share: float) -> float:
        return left + (right - left) * (share - 0.25) / 0.75

    def y(value: float) -> float:
        return 10 + (height - 70) * (high - value) / (high - low)

    drawn = [_text(x(share), height - 30, f"{100 * share:.0f} %", "middle") for share in (0.25, 0.5, 1.0)]
    for value in _ticks(low, high):
        drawn.append(f'<path class="grid" d="M{left - 16} {y(value):.1f}H{right + 8}"/>')
        drawn.append(_text(left - 24, y(value) + 5, written(value, ".2f"), "end"))
    ends = sorted(report.curve, key=lambda name: [*report.curve[name].values()][-1][0])  # the lowest first
    for at, (name, curve) in enumerate(report.curve.items()):
        look, dashes = f'stroke="{COLOURS[at]}" stroke-width="2" fill="none"', ' stroke-dasharray="6 4"' if at else ""
        places = [(x(float(share)) + 5 * at, *map(y, score)) for share, score in curve.items()]
        line = " ".join(f"{place:.1f},{middle:.1f}" for place, middle, _, _ in places)
        drawn.append(f'<polyline points="{line}" {look}{dashes}/>')
        drawn += [f'<path d="M{place:.1f} {least:.1f}V{most:.1f}" {look}/>' for place, _, least, most in places]
        label = places[-1][1] + (13 if name == ends[0] else -5)  # so that two labels at one height stay apart
        drawn.append(_text(places[-1][0] + 8, label, name, "start"))
        scores = [f"{100 * float(share):.0f} % {score[0]:.3f}" for share, score in curve.items()]
        said.append(f"{name}: {', '.join(scores)}")
    drawn.append(_text((left + right) / 2, height - 6, "share of the training rows", "middle"))
    return _picture(height, drawn, f"{NAMES[report.metric]} by share of the training rows. {'; '.join(said)}")


def _picture(height: int, drawn: Sequence[str], said: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(said)}">{"".join(drawn)}</svg>'


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round values within a range."""
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / step <= 6 or step == 1.0)
    first = int(low / step) + (low > 0)
    return [round(step * at, 4) for at in range(first, int(high / step) + 1) if low <= step * at <= high]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


# --- the page ----------------------------------------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --ground: #fff; --line: #d0d0d0; --quiet: #595959; --warn: #8a4b00 }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #eaeaea; --ground: #16181a; --line: #44484c;
  --quiet: #a9adb1; --warn: #f0b060 } }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.55 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin-bottom: .3rem } h2 { font-size: 1.15rem; margin-top: 2.5rem }
.verdict { font-size: 1.3rem; line-height: 1.4; border-left: 4px solid currentColor; padding-left: 1rem }
.quiet { color: var(--quiet) } .warn { color: var(--warn) } .wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
.text td, .text th { text-align: left; white-space: normal; vertical-align: top; min-width: 5em }
.text td { overflow-wrap: break-word; max-width: 24rem }
svg { display: block; width: 100%; max-width: 34rem }
svg text { font: 15px system-ui, sans-serif; fill: currentColor }
svg .grid { stroke: var(--line) } pre { white-space: pre-wrap; border: 1px solid var(--line); padding: .8rem }
details { margin: .4rem 0 } summary { cursor: pointer }
@media (max-width: 600px) { table { font-size: .7rem } th, td { padding: .25rem } th { white-space: normal }
  .text th, .text td { min-width: 3em } }
@media print { :root { color-scheme: light } body { max-width: none; padding: 0 }
  table { font-size: .7rem } th, td { padding: .2rem } .text th, .text td { min-width: 0 }
  .text td:not(:first-child) { overflow-wrap: anywhere } .wide { overflow: visible } svg, tr { break-inside: avoid } }
@media print { details::details-content { content-visibility: visible; height: auto } }
"""


def as_html(report: Report) -> str:
    """Return the report as an HTML page."""
    title = f"Which method for {escape(report.corpus)}?"
    state = (
        "" if report.finished else '<p class="warn">This comparison was stopped; repeat the command to resume it.</p>'
    )
    body = [f"<h1>{title}</h1>", state]
    if report.lines:
        body += [
            f'<p class="verdict">{escape(verdict_sentence(report))} {escape(report.plan.untried)}</p>',
            intervals_svg(report),
            '<p class="quiet">A filled circle marks a method that has not been shown to be worse than the best. The '
            "intervals account for the choice of both seeds and test rows.</p>",
            _table(HEAD, [cells(line) for line in report.lines]),
        ]
        body += [f"<p>{escape(leak)}</p>"] if (leak := leak_sentence(report)) else []
    if report.curve:
        body += ["<h2>Would more labels help?</h2>", f"<p>{escape(curve_sentence(report))}</p>", curve_svg(report)]
    if report.cut is not None:
        body += ["<h2>Which threshold to use</h2>", *_cut(report.cut)]
    if report.code:
        body += ["<h2>Use it</h2>", f"<pre>{escape(report.code)}</pre>", f"<p>{escape(report.exported)}</p>"]
    body += ["<h2>The data</h2>", *map(_finding, report.findings)]
    if report.mistakes:
        nearest = NEAREST * (report.metric == PROBE and report.cut is None)  # with pairs, the other is theirs
        rows = [[each.a, each.b, each.truth, each.said, each.words or "no time to explain"] for each in report.mistakes]
        body += [
            f"<h2>Where {escape(report.lines[0].ranked.name)} makes mistakes</h2>",
            f'<p class="quiet">{nearest}The last column shows the parts of both that add most to their similarity.</p>',
            _table(("sentence", "other sentence", "label", "the method says", "why"), rows, "text"),
        ]
    body += ["<h2>How this was measured</h2>", *_how(report)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{title}</title><style>{STYLE}</style></head>\n<body>'
        + "\n".join(body)
        + "</body></html>\n"
    )


def _cut(cut: Threshold) -> list[str]:
    """The threshold, the scores at other thresholds, and the calibration of the similarities."""
    every = max(1, len(cut.curve) // ROWS)
    curve = [[written(at, ".3f"), str(precision), str(recall)] for at, precision, recall in cut.curve[::every]]
    bins = [[written(each.score, ".3f"), str(each.pairs), str(each.same)] for each in cut.calibration]
    return [
        f"<p>{escape(str(cut))}</p>",
        _table(("same above", "precision", "recall"), curve),
        f'<p class="quiet">Share of pairs with the same meaning, by similarity, on {escape(cut.measured_on)}:</p>',
        _table(("mean similarity", "pairs", "share that means the same"), bins),
    ]


def _finding(found: Any) -> str:
    sentence = f'<span class="{"warn" if found.level == "warning" else ""}">{escape(found.sentence)}</span>'
    if not found.rows:
        return f"<p>{sentence}</p>"
    head = list(dict.fromkeys(key for row in found.rows for key in row))
    rows = [[str(row.get(key, "")) for key in head] for row in found.rows]
    count = f"<p>The first {len(rows)} of {len(found.places):,}:</p>" * (len(rows) < len(found.places))
    return f"<details><summary>{sentence}</summary>{count}{_table(head, rows, 'text')}</details>"


def _how(report: Report) -> list[str]:
    plan = report.plan
    rows = [
        [
            line.ranked.name,
            str(line.trials),
            "failed" if line.dev_at_first is None else f"{line.dev_at_first:.3f}",
            f"{line.dev:.3f}",
            str(line.ranked.runs),
            ", ".join(f"{name}={value}" for name, value in line.settings.items()) or "defaults",
        ]
        for line in report.lines
    ]
    left = _left_out(report)
    again = "" if plan.part == 1 else " The three best and the default settings were then trained on all rows."
    done = [
        f"<p>Each method had {plan.trials} trials on {plan.seen}, or fewer if its settings have fewer combinations; "
        f"the trial with the best {escape(NAMES[report.metric])} on dev was chosen.{again} The test split was scored "
        f"once, with the chosen settings and {plan.seeds} seeds (one for methods without randomness). Every method is "
        "compared with the best one; these intervals are Bonferroni-corrected. The best method is the one that scores "
        f"highest on test, so its own score is slightly optimistic. The limit was {plan.minutes:g} minutes; the "
        f"last call took {report.took:.1f}.</p>",
        _table(("method", "trials", "dev, default settings", "dev, chosen", "runs", "settings"), rows, "text"),
    ]
    return [
        *(done if rows else [f"<p>Planned: {escape(str(plan))}.</p>"]),
        "<p>Left out:</p><ul>" + "".join(f"<li>{escape(each)}</li>" for each in left) + "</ul>" if left else "",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
