"""Write the tables with stored results into the pages of the docs; `make docs-check` fails if a page is out of date.

    python docs/measured.py            write the tables
    python docs/measured.py --check    name the pages that would change, and exit with status 1 if there are any
    python docs/measured.py --picture  also draw docs/pages/leads.png (needs Chromium)

In: `data/results.json` and `data/runs/standings.json`. Out: docs/RESULTS.md, which is fully generated, and in the other
pages the parts between `<!-- measured: begin NAME -->` and `<!-- measured: end -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from labkit.figures import leads_before_and_after
from labkit.papers.bundled_report import TableResult, stored
from labkit.papers.claims import ShownLead
from labkit.papers.data import DATASETS
from labkit.papers.published import PAPERS
from labkit.papers.reports import as_markdown, in_digits, said
from labkit.shipped import DEMONSTRATIONS
from labkit.shipped.making import between_marks, runs_table
from labkit.shipped.runs import RUNS, standing

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- measured: begin (?P<name>[\w-]+) -->\n).*?(?=<!-- measured: end -->)", re.DOTALL)
SENTPWNETS = ("Siamese network", "Triplet network", "SentPWNet")
NETWORKS = ("BiLSTM", "CNN", "LSTM")


RESULTS = stored()


def mean(table: str, row: str, column: str, digits: str = ".3f") -> str:
    """Our value in a row and column of a paper's table."""
    result = RESULTS.table(table)
    figure = result.at(row, column)
    if figure.mean is None:
        raise ValueError(f"data/results.json has no figure of {row!r}, {column!r} in {table}")
    found = next(each for each in result.table.columns if each.name == column)
    return in_digits(replace(found, printed=digits), figure.mean)


def piped(head: str, rule: str, rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join([head, rule, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


# --- docs/findings.md -----------------------------------------------------------------------------------------------

COLUMNS = {
    "Quora, accuracy": ("sentpwnet/2", "QQP accuracy"),
    "MRPC, accuracy": ("sentpwnet/2", "MRPC accuracy"),
    "places, Hit@1": ("sentpwnet/6", "Hit@1"),
    "titles, triplets": ("sentpwnet/3", "titles"),
    "STS-B, Pearson": ("film/2", "Pearson"),
}
ROWS = {  # name -> the rows in the tables of SentPWNet and of FILM
    "TF-IDF": ("TF-IDF (ours)", "TF-IDF"),
    "`film`": ("", "FILM"),
    "`siamese`, BiLSTM": ("BiLSTM + Siamese network", ""),
    "`triplet`, BiLSTM": ("BiLSTM + Triplet network", ""),
    "`sentpwnet`, BiLSTM": ("BiLSTM + SentPWNet", ""),
    "`bag`": ("bag of word pieces (ours)",) * 2,
    "`static`, distilled": ("vectors distilled from MiniLM (ours)",) * 2,
    "MiniLM, frozen": ("all-MiniLM-L6-v2 (ours)",) * 2,
}
LEADS = {  # comparison -> the table, the beginning of its claim, and the column and rival of the claim
    "Quora: weighted pairs against contrastive, BiLSTM": ("sentpwnet/2", "with a BiLSTM", "QQP accuracy", "Siamese"),
    "Quora: weighted pairs against contrastive, LSTM": ("sentpwnet/2", "with an LSTM", "QQP accuracy", "Siamese"),
    "Quora: weighted pairs against contrastive, CNN": ("sentpwnet/2", "with a CNN", "QQP accuracy", "Siamese"),
    "Places, Hit@10: weighted pairs against triplets, BiLSTM": ("sentpwnet/6", "with a BiLSTM", "Hit@10", "Triplet"),
    "Places, Hit@3: weighted pairs against triplets, CNN": ("sentpwnet/6", "with a CNN", "Hit@3", "Triplet"),
    "Places, Hit@3: weighted pairs against contrastive, LSTM": ("sentpwnet/6", "with an LSTM", "Hit@3", "Siamese"),
    "Titles: weighted pairs against contrastive, BiLSTM": ("sentpwnet/3", "on titles", "titles", "Siamese"),
    "Sentences: distilled pieces against the best network": (
        "sentpwnet/3", "fine-tuned vectors", "sentences", "Triplet network"),
    "Sections: the paper's triplet network against mean vectors": (
        "thematic/3", "the triplet network leads every", "accuracy", "mean-vectors"),
    "Captions, retrieval: two bidirectional layers against one layer": (
        "pthought/3", "the most complex encoder", "nearest is in the group", "one layer"),
    "STS-B: P-thought, two bidirectional layers, against the bag": (
        "pthought/6", "all three forms lead the bag", "Pearson", "bag"),
    "Quora: FILM against the best Siamese network": ("film/1", "FILM leads the Siamese", "accuracy", "Siamese CNN"),
    "Quora: FILM against TF-IDF": ("film/1", "FILM leads TF-IDF", "accuracy", "TF-IDF"),
}  # fmt: skip


def overview() -> str:
    """Eight methods on five data sets, with intervals and the CPU seconds of one training."""
    seconds = {
        made["row"]: made["seconds"]
        for name in ("film/1", "sentpwnet/2")
        for made in RESULTS.table(name).made
        if made["data"].startswith("quora")
    }
    rows = []
    for name, both in ROWS.items():
        cells = []
        for table, column in COLUMNS.values():
            row = both[table.startswith("film")]
            where = (table, row, column)
            if name == "`film`" and column == "QQP accuracy":  # the same test pairs, in percent
                where = ("film/1", both[1], "accuracy")
            cells.append(with_interval(*where))
        spent = next((seconds[row] for row in both if row in seconds), None)
        rows.append([name, *cells, "–" if spent is None else f"{spent:.0f}"])
    head = f"| | {' | '.join(COLUMNS)} | CPU s |"
    return piped(head, "| --- |" + " --- |" * 6, rows)


def with_interval(table: str, row: str, column: str) -> str:
    """Our mean with its interval, and an asterisk if the method has seen test sentences; a dash without a value."""
    if row not in RESULTS.table(table).rows or (figure := RESULTS.table(table).at(row, column)).mean is None:
        return "–"
    unit = 100 if table.startswith("film") else 1
    values = (figure.mean, *(figure.interval or ()))
    mean, *bounds = (f"{value / unit:.3f}".removeprefix("0") for value in values)
    return mean + (f" [{', '.join(bounds)}]" if bounds else "") + " *" * figure.seen


def draw_leads(path: Path) -> None:
    """Draw thirteen leads in points, with printed settings and with settings chosen on dev."""
    shown = []
    for name, (table, claim, column, rival) in LEADS.items():
        _, before, after = next(each for each in RESULTS.table(table).leads if each[0].startswith(f"{table}: {claim}"))
        if after.column != column or rival not in after.other:
            raise ValueError(f"{name!r} is decided by {after.column} over {after.other!r} now; rename it")
        points = 1 if table.startswith("film/1") else 100
        shown.append((name, *(in_points(lead, points) for lead in (before, after))))
    figure = leads_before_and_after(shown)
    figure.update_layout(xaxis_title="lead in points with 95 % interval; left of 0, the second leads")
    figure.write_image(path, width=900, height=figure.layout.height, scale=1)


def in_points(lead: ShownLead, points: int) -> ShownLead:
    """The lead in points of its score."""
    return replace(lead, lead=points * lead.lead, low=points * lead.low, high=points * lead.high)


# --- docs/fair-fights.md ------------------------------------------------------------------------------------------

PRINTED_AND_TUNED = "as printed: Siamese, Triplet, SentPWNet | tuned: Siamese, Triplet, SentPWNet |"


def of_three(table: str, network: str, column: str) -> list[str]:
    """The three methods on one network, with printed and with tuned settings."""
    return [
        ", ".join(mean(table, f"{network} + {method}{how}", column) for method in SENTPWNETS)
        for how in (", as printed", "")
    ]


def by_network(table: str, column: str) -> str:
    rows = [[network, *of_three(table, network, column)] for network in NETWORKS]
    return piped(f"| network | {PRINTED_AND_TUNED}", "| --- | --- | --- |", rows)


def sections() -> str:
    rows = [[column, *of_three("sentpwnet/3", "BiLSTM", column)] for column in ("sentences", "titles")]
    return piped(f"| triplets of | {PRINTED_AND_TUNED}", "| --- | --- | --- |", rows)


def thematic() -> str:
    papers = "triplets-sen (the paper's network, smaller)"
    as_printed = {"the paper's network, smaller": mean("thematic/3", f"{papers}, as printed", "accuracy")}
    named = {
        "the paper's network, smaller": papers,
        "our network, starting from SIF": "triplets-sen (ours)",
        "mean of word vectors": "mean-vectors",
        "SIF": "SIF (ours)",
        "bag of word pieces": "bag of word pieces (ours)",
    }
    rows = [[name, as_printed.get(name, "–"), mean("thematic/3", row, "accuracy")] for name, row in named.items()]
    return piped("| row | as printed | tuned on dev |", "| --- | --- | --- |", rows)


def pthought() -> str:
    columns = [("pthought/3", name) for name in ("P-coherence", "lift", "nearest is in the group")]
    columns += [("pthought/6", "Pearson"), ("pthought/7", "learned"), ("pthought/7", "cosine")]
    forms = ("one layer, bidirectional", "two layers, forward", "two layers, bidirectional")
    named = {f"{form}{how}": f"P-thought ({form}){how}" for how in ("", ", as printed") for form in forms}
    named |= {"PV-DBOW": "PV-DBOW", "SIF": "SIF", "bag of word pieces": "bag of word pieces (ours)"}
    head = "| | P-coherence | lift | nearest caption is of the picture | STS-B | SICK, learned | SICK, cosine |"
    rows = [[name, *(mean(table, row, column) for table, column in columns)] for name, row in named.items()]
    return piped(head, "| --- | --- | --- | --- | --- | --- | --- |", rows)


def knowledge() -> str:
    columns = {
        "MRPC: accuracy": ("sentpwnet/2", "MRPC accuracy"),
        "places: Hit@1": ("sentpwnet/6", "Hit@1"),
        "sections, sentences": ("sentpwnet/3", "sentences"),
        "sections, titles": ("sentpwnet/3", "titles"),
        "Quora: accuracy": ("sentpwnet/2", "QQP accuracy"),
        "STS-B: Pearson, times 100": ("film/2", "Pearson"),
    }
    best = [best_network(table, column) for table, column in columns.values() if table.startswith("sentpwnet")]
    named = {
        "bag, from scratch": ["bag of word pieces (ours)"] * 6,
        "best network, from scratch": [*best, ""],
        "distilled, untrained": ["vectors distilled from MiniLM, untrained (ours)"] * 6,
        "distilled, trained on": ["vectors distilled from MiniLM (ours)"] * 6,
        "MiniLM": ["all-MiniLM-L6-v2 (ours)"] * 6,
    }
    for loss, method in zip(("contrastive", "triplet", "locality"), SENTPWNETS, strict=True):
        row = f"MiniLM, last layer, {method} (ours)"
        named[f"MiniLM, last layer: {loss}"] = [row, "", "", "", row, row]
    rows = [[name, *map(_known, columns.values(), wanted)] for name, wanted in named.items()]
    return piped(f"| | {' | '.join(columns)} |", "| --- | --- | --- | --- | --- | --- | --- |", rows)


def best_network(table: str, column: str) -> str:
    """The row of the network with the highest score among those trained from scratch with tuned settings."""
    rows = [f"{network} + {method}" for network in NETWORKS for method in SENTPWNETS]
    result = RESULTS.table(table)
    scores = {row: result.at(row, column).mean for row in rows if row in result.rows}
    return max(scores, key=lambda row: scores[row] or 0)


def _known(at: tuple[str, str], row: str) -> str:
    """A cell of the table above, with an asterisk if MiniLM has seen test sentences."""
    if not row:
        return "–"
    seen = "MiniLM" in row and at in (("sentpwnet/2", "QQP accuracy"), ("film/2", "Pearson"))
    return mean(at[0], row, at[1], ".1f" if at[0] == "film/2" else ".3f") + " *" * seen


def losses() -> str:
    table, columns = "sentpwnet/ablation-losses", ("questions: accuracy", "places: Hit@1")
    named = {
        "locality, multi-similarity": "locality (eq. 8), multi-similarity",
        "contrastive": "contrastive (eq. 6)",
        "InfoNCE, multiple negatives": "InfoNCE, multiple negatives",
        "CoSENT": "CoSENT",
        "margin triplet": "margin triplet",
        "supervised contrastive": "supervised contrastive",
        "soft triplet": "soft triplet (eq. 4)",
        "logistic": "logistic",
    }
    rows = [[name, *(mean(table, row, column) for column in columns)] for name, row in named.items()]
    return piped("| loss | Quora: accuracy | places: Hit@1 |", "| --- | --- | --- |", rows)


# --- docs/why.md --------------------------------------------------------------------------------------------------


def why(row: str, column: str, table: str = "why/questions") -> str:
    """A cell of the tables about explanations, or a dash if nothing can be measured."""
    return "–" if RESULTS.table(table).at(row, column).mean is None else mean(table, row, column, ".2f")


def why_questions() -> str:
    kinds = {"detail": "detail", "order": "order", "synonym": "synonym", '"not"': "negation", "rank": "rank"}
    own = dict.fromkeys(("TF-IDF", "FILM", "bag of word pieces"), "exact")
    own |= dict.fromkeys(("CNN", "LSTM", "BiLSTM", "P-thought", "MiniLM"), "integrated Jacobians")
    rows = []
    for name, way in own.items():
        both = [why(f"{name}, {each}", kind) for kind in kinds.values() for each in (way, "a word left out")]
        rows.append([name, *both, why(f"{name}, {way}", "knows")])
    for name in ("the rarest word", "the rarest word where the two differ"):
        rows.append([name, *(cell for kind in kinds.values() for cell in (why(name, kind), "–")), "–"])
    head = " | ".join(f"{kind}: own | left out" for kind in kinds)
    return piped(f"| method | {head} | knows |", "|---|" + "---:|" * 11, rows)


def why_stability() -> str:
    table = RESULTS.table("why/stability")
    rows = [[row, *(why(row, column, table.name) for column in table.columns)] for row in table.rows]
    return piped(f"| method, way | {' | '.join(table.columns)} |", "|---|---:|---:|", rows)


# --- docs/errata.md -----------------------------------------------------------------------------------------------


def refuted() -> str:
    """Statements of papers about themselves, and what the same papers say against them."""
    rows = []
    for paper in PAPERS.values():
        judged = [(each, result.table) for result in RESULTS.of(paper) for each in result.claims]
        refuted = [(each, table) for each, table in judged if each.paper and each.paper.verdict == "not confirmed"]
        claims = [(each.text, said(each.paper.lead, table)) for each, table in refuted]
        against = [(each.text, each.why) for each in paper.observations if each.verdict == "not confirmed"]
        rows += [[paper.name, *both] for both in (*against, *claims)]
    return piped("| paper | what is said | what its own pages say |", "| --- | --- | --- |", rows)


# --- docs/command-line.md -----------------------------------------------------------------------------------------


def costs() -> str:
    """The tables of `labkit reproduce` with their CPU minutes, by the data that they need."""
    tables: dict[str, list[str]] = {}
    for result in RESULTS.tables:
        also = [name for row in result.table.rows if row.recipe for name in row.recipe.also]
        sets = dict.fromkeys(part for name in (*result.table.data, *also) for part in DATASETS[name].parts)
        tables.setdefault(", ".join(sets) or "none", []).append(f"`{result.name}` ({minutes(result):.0f})")
    rows = [[sets, ", ".join(told)] for sets, told in tables.items()]
    return piped("| published data | tables (CPU minutes) |", "| --- | --- |", rows)


def minutes(result: TableResult) -> float:
    """CPU minutes of a table: median seconds times runs for each row, and its tuning; shared work counts once."""
    recipes = {row.name: row.recipe for row in result.table.rows}
    spent: list[tuple[Any, float]] = []  # a computation and its seconds
    for made in filter(None, result.made):
        runs = max(len(figure.seeds) for figure in result.figures if figure.row == made["row"])
        spent.append(((recipes[made["row"]], made["data"]), runs * made["seconds"]))
        spent += [(chosen, chosen["seconds"]) for chosen in made["chosen"]]
    return sum(each[1] for place, each in enumerate(spent) if each not in spent[:place]) / 60


# --- pages --------------------------------------------------------------------------------------------------------

TABLES = {
    "costs": costs,
    "overview": overview,
    "places": lambda: by_network("sentpwnet/6", "Hit@1"),
    "questions": lambda: by_network("sentpwnet/2", "QQP accuracy"),
    "sections": sections,
    "thematic": thematic,
    "pthought": pthought,
    "knowledge": knowledge,
    "losses": losses,
    "why-questions": why_questions,
    "why-stability": why_stability,
    "refuted": refuted,
}


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with measured tables, and the text that it should have."""
    docs = ROOT / "docs"
    yield docs / "RESULTS.md", as_markdown(RESULTS)
    for name in ("command-line", "findings", "fair-fights", "why", "errata"):
        page = docs / f"{name}.md"
        yield page, MARKED.sub(lambda found: found[1] + TABLES[found["name"]](), page.read_text("utf-8"))
    standings = {name: found for name in DEMONSTRATIONS if (found := standing(name))}
    page = ROOT / "data" / "runs" / "README.md"
    yield page, between_marks(page.read_text("utf-8"), runs_table(standings, RUNS))


def main(check: bool) -> int:
    """Write the pages that are out of date; with `check`, only name them."""
    stale = [(page, text) for page, text in pages() if page.read_text("utf-8") != text]
    for page, text in stale:
        print(f"{page.relative_to(ROOT)}: {'not what was measured; run `make docs`' if check else 'written'}")
        if not check:
            page.write_text(text, "utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    if "--picture" in sys.argv[1:]:
        draw_leads(ROOT / "docs" / "pages" / "leads.png")
    sys.exit(main("--check" in sys.argv[1:]))
