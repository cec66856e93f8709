"""Every measured figure in a page's prose is the figure of the file that it was taken from.

Pages are all Markdown files that people write, and the Markdown cells of the notebooks' sources. A figure is a number
that looks measured: a decimal fraction, a percentage, a number in thousands, tenths, hundredths and thousandths in
words, "four in five", "ten times as", "about 80". Below a paragraph, a list or a table that has some, after an empty
line, stands a comment which no reader sees, with a line for each of them, in their order:

    <!-- from:
    [sentpwnet-encoders | CNN | auc]             an ablation: mean over the seeds; a fourth part: `spread`, or `seed 0`
    [sbert-lp/1 | all-MiniLM-L6-v2 + LP | STS-B] data/results.json; a fourth part: `spread`, or `paper` for the paper's
    [02 | chosen on dev]                         what the solved notebook 02 prints: the first number after these words
    [02 | locality, all pairs | 3]               ... the third one; -1: the last one before these words
    100 * ([02 | chosen on test] - [02 | chosen on dev])
    2 given: sizes that the paper prints         two numbers that were not measured here, and what they are
    holds: [film-rows | d = 200 | auc] leads [film-rows | d = 100 | auc]
    -->

The last form belongs to a sentence, not to a figure: who leads (by more than the larger spread; in the papers' tables
by its interval over seeds and test items, too), what ties, or any comparison of figures. Code, links and numbers of
equations, sections, tables, notebooks and exercises are no figures.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from labkit.evaluation.comparison import Spread, leader, over_seeds
from labkit.lab.course.ablation import kept
from labkit.lab.course.notebooks import NOTEBOOKS, sources
from labkit.lab.papers import cells
from labkit.lab.papers.claims import Claim
from labkit.lab.papers.data import Desk
from labkit.lab.papers.published import tables
from labkit.lab.papers.results import result
from labkit.lab.papers.store import CellStore
from labkit.lab.papers.stored import Figure, TableResult, stored
from labkit.lab.shipped import DEMONSTRATIONS
from labkit.lab.shipped.cards import BEGIN, END
from labkit.lab.shipped.making import runs_table
from labkit.lab.shipped.runs import standing
from labkit.pairs import informative, locality
from labkit.sentpwnet.method import PairSettings, SiameseSettings, TripletSettings

ROOT = NOTEBOOKS.parent
RESULTS = ROOT / "docs" / "RESULTS.md"  # made from data/results.json, so it has a test of its own
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("data/*/*.md")} - {RESULTS}) + sources()

SENTPWNET = [
    *(ROOT / name for name in ("README.md", "labkit/sentpwnet/method.py", "app/pairs_page.py")),
    *(path for path in sources() if path.stem[:2] in ("01", "02")),
]
COUNT = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
COUNT |= {"ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
COUNT |= {"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
PART = {"tenth": 10, "hundredth": 100, "thousandth": 1000, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6}
_WORD = rf"(?:{'|'.join(COUNT)})"
_NUMBER = rf"(?:(?!a\b){_WORD}|\d[\d,]*)"
FIGURE = re.compile(
    rf"""\b(?P<parts>{_WORD})\ (?P<part>{"|".join(PART)})s?\b
    |(?<![\w.])(?P<some>{_NUMBER})\ (?:of|in|out\ of)\ (?:the\ |all\ )?(?P<all>{_NUMBER})(?!\w|\.\d)
    |(?<![\w.])(?P<times>\d+|{_WORD})\ times\ as\b
    |\b(?:about|some)\ (?P<about>\d+)(?![\w.,]*\d|\ ?%|\ (?:GB|m|metres|minutes|seconds)\b)
    |(?<![\w.,])(?P<plain>\d*\.\d+|\d+(?=\ ?%)|\d{{1,3}}(?:,\d{{3}})+)(?!\.?\d)""",
    flags=re.VERBOSE | re.IGNORECASE,
)
NO_FIGURE = re.compile(
    r"""`[^`]*`|\]\([^)]*\)
    |\b(?:eqs?\.|sections?|tables?|figures?|notebooks?|exercises?|python)\ \(?[A-Z]?\.?\d+(?:\.\d+)*
     (?:(?:,\ |\ and\ |\ to\ )\d+(?:\.\d+)*(?!\w))*
    |\b0\d\.\d+\b""",  # an exercise's number
    flags=re.VERBOSE | re.IGNORECASE,
)
ENTRY = re.compile(r"(?:(?P<count>\d+) )?given: (?P<why>.+)|holds: (?P<claim>.+)|(?P<value>.+)")
CELL = re.compile(r"\[([^\[\]]+\|[^\[\]]+)\]")
NUMERAL = re.compile(r"(?<![\w.])[-+]?(?:\d[\d,]*)?\.?\d+(?:e[-+]\d+)?")


# --- where a figure comes from ----------------------------------------------------------------------------------


@cache
def printed(notebook: str) -> list[str]:
    """Every line that the solved notebook of this number prints, its blanks drawn together."""
    (path,) = (NOTEBOOKS / "solutions").glob(f"{notebook}_*.ipynb")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = []
    for out in (out for cell in cells for out in cell.get("outputs", [])):  # a line may run over two outputs' border
        texts += [*out["text"]] if "text" in out else ["\n", *out.get("data", {}).get("text/plain", []), "\n"]
    return [" ".join(line.split()) for line in "".join(texts).splitlines()]


def of_a_notebook(notebook: str, words: str, place: str = "1") -> Spread:
    """The number at this place after these words in what the solved notebook prints; -1: the last one before them."""
    found = {line for line in printed(notebook) if words in line}
    if len(found) > 1:  # then what counts is where a number follows at once
        found = {line for line in found if NUMERAL.match(line.partition(words)[2].lstrip(" :="))}
    if len(found) != 1:
        raise ValueError(f"solved notebook {notebook} prints {words!r} on {len(found)} lines, expected one of them")
    before, _, after = found.pop().partition(words)
    number = NUMERAL.findall(after)[int(place) - 1] if int(place) > 0 else NUMERAL.findall(before)[int(place)]
    return over_seeds([float(number.replace(",", ""))], deterministic=True)


def of_the_results(table: str, row: str, column: str) -> Figure:
    """A row in a column of data/results.json."""
    found = [each for each in stored().table(table).figures if (each.row, each.column) == (row, column)]
    if not found:
        raise ValueError(f"data/results.json has no row {row!r} with a column {column!r} in {table}; look at its words")
    return found[0]


def cell(said: str) -> tuple[Spread, float]:
    """What stands between brackets: the figure with its spread, and the number that is asked for."""
    parts = [part.strip() for part in said.split("|")]
    if re.fullmatch(r"\d\d", parts[0]):
        spread = of_a_notebook(*parts)
        return spread, spread.mean
    name, row, column, *asked = parts
    if "/" in name:
        figure = of_the_results(name, row, column)
        value = figure.published if asked == ["paper"] else figure.mean
        if value is None:
            raise ValueError(f"data/results.json has no figure at [{said}]")
        spread = Spread(value, 0.0 if asked == ["paper"] else figure.spread or 0.0, figure.values)
    else:
        found = kept(name)
        if row not in found.figures:
            raise ValueError(f"ablation {name!r} has no variant {row!r}, expected one of {list(found.figures)}")
        spread = found.spread(row, column)
        if asked and asked[0].startswith("seed"):
            return spread, found.figures[row][int(asked[0].split()[1])][column]
    return spread, spread.spread if asked == ["spread"] else spread.mean


def worth(said: str) -> float:
    """An expression over cells, such as `100 * ([..] - [..])`, as a number."""
    return float(eval(CELL.sub(lambda each: f"({cell(each[1])[1]!r})", said), {"abs": abs}))


def holds(claim: str) -> bool:
    """Whether the first leads, whether the two tie, or whether a comparison of figures is true."""
    for word, verdict in (("leads", "first"), ("ties", "tie")):
        one, found, other = claim.partition(f"] {word} [")
        if found:
            return leader(cell(one.strip()[1:])[0], cell(other.strip()[:-1])[0]) == verdict
    return bool(worth(claim))


# --- what a page says -------------------------------------------------------------------------------------------


def told(path: Path) -> list[tuple[int, str]]:
    """The numbered lines of prose: of a notebook's source its Markdown cells, of a page all but its code."""
    lines = list(enumerate(path.read_text("utf-8").splitlines(), 1))
    found, prose = [], path.suffix == ".md"
    for number, line in lines:
        if path.suffix == ".py":
            if line.startswith("# %%"):
                prose = "[markdown]" in line
                line = ""
            found.append((number, line.removeprefix("#").removeprefix(" ") if prose else ""))
        elif line.startswith("```") or line in (BEGIN, END):  # between these marks a program writes
            prose = not prose
            found.append((number, ""))
        else:
            found.append((number, line if prose and not line.startswith("    ") else ""))
    return found


def blocks(lines: list[tuple[int, str]]) -> Iterator[tuple[list[tuple[int, str]], list[str]]]:
    """Paragraphs, lists and tables with the entries of the comment below each."""
    numbers = {}  # of a comment's end: its entries
    text, inside = [], None
    for number, line in lines:
        if inside is None and line.startswith("<!-- from:"):
            inside, line = [], line.removeprefix("<!-- from:")
        if inside is None:
            text.append((number, line))
            continue
        inside += [entry.strip() for entry in line.partition("-->")[0].split(";") if entry.strip()]
        if "-->" in line:
            numbers[len(text)] = inside
            inside = None
    assert inside is None, f"a comment is not closed: {inside}"
    place = 0
    runs = [(filled, list(run)) for filled, run in groupby(text, key=lambda each: bool(each[1].strip()))]
    for filled, run in runs:
        place += len(run)
        if filled:
            after = next((n for n in range(place, place + 2) if n in numbers), None)
            yield run, numbers.pop(after) if after is not None else []
    assert not numbers, f"a comment stands below nothing: {numbers}"


def figures(block: list[tuple[int, str]]) -> list[tuple[int, re.Match[str]]]:
    """The figures of a block, each with its line's number; they may run over the end of a line."""
    joined = "\n".join(line for _, line in block)
    bare = NO_FIGURE.sub(lambda each: re.sub(r"[^\n]", "§", each[0]), joined).replace("\n", " ")
    first = block[0][0]
    return [(first + joined.count("\n", 0, each.start()), each) for each in FIGURE.finditer(bare)]


def amount(word: str) -> float:
    return COUNT.get(word.lower()) or float(word.replace(",", ""))


def says(figure: re.Match[str]) -> tuple[float, float]:
    """What a figure says, and how far from it the truth may lie: half of its last digit; a word is meant roughly."""
    if figure["plain"]:
        return float(figure["plain"].replace(",", "")), 0.5 * 10 ** -len(figure["plain"].partition(".")[2])
    if figure["parts"]:
        part = PART[figure["part"].lower()]
        return amount(figure["parts"]) / part, 0.5 / part if part >= 100 else 0.05
    if roughly := figure["times"] or figure["about"]:
        return amount(roughly), 0.15 * amount(roughly)
    return amount(figure["some"]) / amount(figure["all"]), 0.5 / amount(figure["all"])


def faults(path: Path) -> list[str]:
    """What is wrong with the figures of a page, a sentence each."""
    return [f"{path.name}:{each}" for block, entries in blocks(told(path)) for each in faults_of(block, entries)]


def faults_of(block: list[tuple[int, str]], entries: list[str]) -> Iterator[str]:
    """What is wrong with a paragraph, a list or a table, each with the number of its line."""
    asked = figures(block)
    given: list[str] = []  # an expression for each figure, "" where it was not measured
    for entry in map(ENTRY.fullmatch, entries):
        assert entry
        if entry["claim"]:
            try:
                if not holds(entry["claim"]):
                    yield f"{block[0][0]}: it no longer holds that {entry['claim']}: mend the text"
            except (ValueError, KeyError, IndexError, SyntaxError) as error:
                yield f"{block[0][0]}: `holds: {entry['claim']}` cannot be looked up: {error}"
        else:
            given += [""] * int(entry["count"] or 1) if entry["why"] else [entry["value"]]
    if len(given) != len(asked):
        what = ", ".join(f"{each[0]!r}" for _, each in asked) or "none"
        yield (
            f"{block[0][0]}: the text has {len(asked)} figures ({what}) and the comment below it sources for "
            f"{len(given)}; write `<!-- from: ... -->` as {Path(__file__).name} says, a line a figure"
        )
        return
    for (number, figure), source in zip(asked, given, strict=True):
        try:
            now = worth(source) if source else None
        except (ValueError, KeyError, IndexError, SyntaxError) as error:
            yield f"{number}: the source of {figure[0]!r}, `{source}`, cannot be looked up: {error}"
            continue
        said, within = says(figure)
        if now is not None and abs(now - said) > within + 1e-9:
            sentence = block[number - block[0][0]][1].strip()
            yield f"{number}: the text says {figure[0]!r}, {source} is {now:.6g}, in: {sentence}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_figure_is_that_of_its_source(path: Path) -> None:
    assert faults(path) == []


#: in the papers' tables: (table, row, other, column, word); others have no parts, and are judged by their spread alone
AGAINST = re.compile(r"holds: \[(.+?/.+?) \| (.+?) \| (.+?)\] (leads|ties) \[\1 \| (.+?) \| \3\]")
COMPARED = sorted({each for path in PAGES for each in AGAINST.findall(path.read_text("utf-8"))})


@cache
def judged_again(data: Path, table: str, claims: tuple[Claim, ...]) -> TableResult:
    """A table of what is kept, with these claims in the place of its own."""
    planned = cells.plan(replace(tables(table)[0], claims=claims), Desk(data))
    return result(planned, cells.run(planned.cells, CellStore(), budget=0))


@pytest.mark.parametrize("name", sorted({each[0] for each in COMPARED}))
def test_a_lead_in_prose_is_one_over_seeds_and_test_items(name: str, published_data: Path) -> None:
    """Who is said to lead does so by an interval over both, and where two are said to tie neither does."""
    said = [(row, other, column, word) for table, row, column, word, other in COMPARED if table == name]
    both = [(one, two, column) for row, other, column, _ in said for one, two in ((row, other), (other, row))]
    claims = tuple(Claim(" > ".join(each[:2]), (each[0],), (each[1],), (each[2],)) for each in both)
    verdicts = [claim.ours for claim in judged_again(published_data, name, claims).claims]
    for place, (row, other, column, word) in enumerate(said):
        there, back = verdicts[2 * place : 2 * place + 2]
        assert (there == "confirmed", back == "confirmed") == (word == "leads", False), (row, word, other, column)


# --- the test's own tests: each way to be wrong is found --------------------------------------------------------

AUC = "[sentpwnet-encoders | CNN | auc]"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It has {auc}.\n\n<!-- from: {cnn} -->", ""),
        ("It has {auc}.\n<!-- from: {cnn} -->", ""),
        ("It has {auc}.\n\n<!-- from:\n{cnn}\n-->\n\nAnd eq. 8, section 4.1, exercise 02.1, `0.5`, k = 3.", ""),
        ("It has {auc}.", "has 1 figures"),
        ("It has {auc} or 0.1.\n\n<!-- from: {cnn} -->", "has 2 figures"),
        ("It has nothing.\n\n<!-- from: {cnn} -->", "has 0 figures"),
        ("It has .123.\n\n<!-- from: {cnn} -->", "says '.123'"),
        ("It has 12 %.\n\n<!-- from: 100 * {cnn} -->", "says '12'"),
        ("Two\nhundredths.\n\n<!-- from: {cnn} -->", "says 'Two hundredths'"),
        ("It wins in two of six.\n\n<!-- from: 3 / 6 -->", "says 'two of six'"),
        ("It wins in four of five.\n\n<!-- from: 4 / 5 -->", ""),
        ("Six times as long.\n\n<!-- from: 9.0 -->", "says 'Six times as'"),
        ("About 80 words.\n\n<!-- from: 60 -->", "says 'About 80'"),
        ("With 1,234 pairs.\n\n<!-- from: 1235 -->", "says '1,234'"),
        ("Margins of 0.5 and 1.5.\n\n<!-- from: 2 given: settings -->", ""),
        ("It leads.\n\n<!-- from: holds: {cnn} leads {bilstm} -->", "no longer holds"),
        ("It is behind.\n\n<!-- from: holds: {bilstm} leads {cnn} -->", ""),
        ("It is a tie.\n\n<!-- from: holds: {cnn} ties {bilstm} -->", "no longer holds"),
        ("```\n0.123\n```\n\n    0.123\n", ""),
    ],
)
def test_a_page_that_is_wrong_is_found(text: str, wrong: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    names = {"auc": f"{worth(AUC):.3f}", "cnn": AUC, "bilstm": AUC.replace("CNN", "BiLSTM with attention")}
    page.write_text(re.sub(r"\{(\w+)\}", lambda each: names[each[1]], text), "utf-8")
    found = faults(page)
    assert len(found) == bool(wrong), found
    assert all(wrong in each for each in found)


def test_new_results_make_old_pages_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = next(each for each in stored().table("film/1").figures if each.row == "FILM")
    page, moved = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(f"On Quora it has {old.mean:.1f}.\n\n<!-- from: [film/1 | FILM | {old.column}] -->\n", "utf-8")
    assert faults(page) == []
    told = json.loads((ROOT / "data" / "results.json").read_text("utf-8"))
    tables = {table["table"]: table for paper in told["papers"] for table in paper["tables"]}
    (row,) = (row for row in tables["film/1"]["rows"] if row["row"] == "FILM")
    row["figures"][0]["mean"] += 2
    moved.write_text(json.dumps(told), "utf-8")
    new = stored(moved)
    monkeypatch.setitem(globals(), "stored", lambda: new)
    (said,) = faults(page)
    assert said.startswith(f"page.md:1: the text says '{old.mean:.1f}', [film/1 | FILM | {old.column}] is ")
    assert f"is {old.mean + 2:.6g}, in" in said
    assert said.endswith(f"in: On Quora it has {old.mean:.1f}.")
    section = RESULTS.read_text("utf-8").split(f"### {new.table('film/1').title}: {new.table('film/1').caption}")[1]
    assert [each[:12] for each in wrong_cells(section.split("\n### ")[0], new.table("film/1"))] == ["film/1, FILM"]


# --- pages that programs write ----------------------------------------------------------------------------------


def test_results_page_says_what_the_results_say() -> None:
    page, results = RESULTS.read_text("utf-8"), stored()
    assert f"    {results.command}\n" in page
    assert ", ".join(f"{name} {version}" for name, version in results.versions.items()) in page
    sections = {part.splitlines()[0]: part for part in page.split("\n### ")[1:]}
    for table in results.tables:
        section = sections[f"{table.title}: {table.caption}"]
        for each in (*table.notes, *filter(None, [table.note])):
            assert f"\n- {each}\n" in f"{section}\n"
        assert wrong_cells(section, table) == []
        for claim in table.claims:
            line = ["", table.name, claim.text, claim.paper, claim.ours, claim.decides, ""]
            assert " | ".join(line).strip() in page, f"{RESULTS.name} does not say: {' | '.join(line)}"
    claims = [claim for table in results.tables for claim in table.claims]
    theirs = [claim for claim in claims if not claim.asked_here]
    for counted in ([c.paper for c in theirs], [c.ours for c in theirs], [c.ours for c in claims if c.asked_here]):
        for verdict, count in Counter(counted).items():
            assert f"{count} {verdict}" in page
    assert f"Claims of the papers on figures, {len(theirs)}." in page


def wrong_cells(section: str, table: TableResult) -> list[str]:
    """Cells of a table on the page that say another mean, spread, interval or paper's figure than the file."""
    lines = [line for line in section.partition("| chosen on dev |")[0].splitlines() if line.startswith("|")]
    heads, *rows = [[each.strip() for each in line.replace("\\*", "").strip("| ").split(" | ")] for line in lines]
    shown = {row[0]: dict(zip(heads, row[1:], strict=False)) for row in rows[1:]}
    wrong = []
    for figure in table.figures:
        said = shown[figure.row][figure.column]
        ours, _, theirs = said.rstrip(")").partition(" (")
        ours, _, bounds = ours.rstrip("]").partition(" [")
        mean, _, spread = ours.partition(" ± ")
        pairs = [(mean, figure.mean), (theirs or "–", figure.published)]
        if spread:
            pairs.append((spread, figure.spread))
        if bounds or figure.interval:
            pairs += zip(bounds.split(", "), figure.interval or (None, None), strict=True)
        if not all(alike(text, value) for text, value in pairs):
            wrong.append(f"{table.name}, {figure.row}, {figure.column}: the page says {said}, the file {pairs}")
    return wrong


def alike(text: str, value: float | None) -> bool:
    """Whether a number as it is written is this one, to half of its last digit; a dash is none."""
    if text in ("–", "") or value is None:
        return text in ("–", "") and value is None
    return abs(float(text.replace(",", "")) - value) <= 0.5 * 10 ** -len(text.partition(".")[2]) + 1e-9


@pytest.mark.parametrize(("text", "value", "same"), [(".70", 0.704, True), (".70", 0.706, False), ("–", 0.7, False)])
def test_a_cell_of_the_results_page_is_compared(text: str, value: float, same: bool) -> None:
    assert alike(text, value) == same


def test_solved_notebooks_print_the_claims_of_today() -> None:
    claims = {f"{table.name}: {claim.text}": claim for table in stored().tables for claim in table.claims}
    told, verdict = {}, ""
    for line in printed("07"):
        if heading := re.fullmatch(r"((?:paper: .*, )?ours: .*) \(\d+\)", line):
            verdict = heading[1]
        elif line in claims:
            told[line] = verdict
    of_today = {
        line: f"ours: {claim.ours}" if claim.asked_here else f"paper: {claim.paper}, ours: {claim.ours}"
        for line, claim in claims.items()
    }
    assert told == of_today, "run `python -m labkit.lab.course.notebooks 07`"


def test_pages_of_runs_and_corpora_say_what_was_measured() -> None:
    found = {name: standing(name) for name in DEMONSTRATIONS}
    assert None not in found.values()
    table = runs_table(found, lambda name: DEMONSTRATIONS[name].folder)  # type: ignore[arg-type]
    assert table in (ROOT / "data" / "runs" / "README.md").read_text("utf-8")
    corpora = re.findall(r"\| \[(\w+)\]\(.*?\) \| .*? \| (.*) \|", (ROOT / "data" / "README.md").read_text("utf-8"))
    assert len(corpora) == 6
    for name, row in corpora:
        assert f"\n| {row} |\n" in (ROOT / "data" / f"{name}.md").read_text("utf-8"), name


# --- what must stand beside SentPWNet, wherever its figures do ---------------------------------------------------


@pytest.mark.parametrize("path", SENTPWNET, ids=lambda path: path.name)
def test_it_is_said_how_sentpwnets_values_were_chosen_and_what_is_left_of_its_lead(path: Path) -> None:
    said = path.read_text("utf-8").replace("\n# ", " ").replace(" = ", " ")
    said = re.sub(r"\\(lambda|beta|var(?=epsilon))", lambda each: {"lambda": "λ", "beta": "β"}.get(each[1], ""), said)
    said = " ".join(re.sub(r"[$*`]", "", said.replace("epsilon", "ε")).split())
    own, usual = PairSettings(), inspect.signature(locality).parameters
    slack = inspect.signature(informative).parameters["epsilon"].default
    assert f"λ {own.base}, β {own.beta:g} and ε {own.epsilon}" in said
    assert f"λ {usual['base'].default}, β {usual['beta'].default:g}, ε {slack}" in said
    assert "chosen on dev" in said
    assert re.search("tuned?( each)? by as many trials", said, flags=re.IGNORECASE)
    assert "multi-similarity loss with its miner" in said
    if path.name in ("README.md", "method.py"):
        assert re.search(f"margin {SiameseSettings().margin:g}\\b", said)
        assert re.search(f"temperature {TripletSettings().temperature:g}\\b", said)
    for other in ("Siamese network", "triplet network"):
        assert holds(f"[sentpwnet-fair | SentPWNet, tuned | auc] ties [sentpwnet-fair | {other}, tuned | auc]")
