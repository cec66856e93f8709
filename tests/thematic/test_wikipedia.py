"""Dumps: which pages are articles, broken files, constant memory, wikitext, and reading in pieces."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora.article_rules import LOST, READ, Tally, incomplete
from labkit.text import sentences
from labkit.thematic import wikipedia as dumps
from labkit.thematic import wikitext
from labkit.thematic.wikipedia import Dump, Page, is_dump, pieces
from labkit.thematic.wikitext import article_of

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><namespaces><namespace key="0" />'
    '<namespace key="1">Diskussion</namespace><namespace key="6">Datei</namespace>'
    '<namespace key="14">Kategorie</namespace></namespaces></siteinfo>\n'
)


def page(title: str, text: str, *, ns: str = "0", extra: str = "", model: str = "wikitext") -> str:
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>1</id>{extra}<revision><id>2</id><contributor><username>N"
        f'</username></contributor><model>{model}</model><text bytes="9" xml:space="preserve">{text}</text>'
        "</revision></page>\n"
    )


def written(folder: Path, *pages: str, ending: str = ".xml.bz2", end: str = "</mediawiki>") -> Path:
    path = folder / f"wiki{ending}"
    opened = {"bz2": bz2.open, "gz": gzip.open}.get(ending.rpartition(".")[2], open)
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(HEAD + "".join(pages) + end)
    return path


def read(path: Path) -> tuple[list[Page], Tally]:
    tally: Tally = Counter()
    return list(Dump(path, tally)), tally


@pytest.mark.parametrize("ending", [".xml", ".xml.bz2", ".xml.gz"])
def test_a_dump_is_recognised_by_its_content(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, page("A &amp; B", "x &lt;ref&gt; y"), page("東京", " 都市\n"), ending=ending)
    path = path.rename(tmp_path / "articles1-p10p30302-shortened")
    assert is_dump(path)
    found, tally = read(path)
    assert found == [
        Page("A & B", "x <ref> y", ("Datei", "Kategorie")),
        Page("東京", " 都市\n", ("Datei", "Kategorie")),
    ]
    assert not tally


def test_other_files_are_no_dump_whatever_their_name(tmp_path: Path) -> None:
    (tmp_path / "wiki.xml").write_text('{"title": "T", "sections": []}')
    (tmp_path / "wiki.xml.gz").write_bytes(gzip.compress(b"text,label\n"))
    assert not any(is_dump(tmp_path / name) for name in ("wiki.xml", "wiki.xml.gz", "no.xml", "."))


@pytest.mark.parametrize(
    ("gone", "rule"),
    [
        (page("Talk:A", "x", ns="1"), dumps.ELSEWHERE),
        (page("A", "x", extra='<redirect title="B" />'), dumps.REDIRECT),
        (page("A", "#REDIRECT [[B]]"), dumps.REDIRECT),
        (page("A", "\n#weiterleitung [[B]]"), dumps.REDIRECT),
        (page("A", "#ПЕРЕНАПРАВЛЕНИЕ [[B]]"), dumps.REDIRECT),
        (page("A", "May be:\n{{disambiguation}}"), dumps.DISAMBIGUATION),
        (page("A", "{{Begriffsklärung}}"), dumps.DISAMBIGUATION),
        (page("A", "x __DISAMBIG__"), dumps.DISAMBIGUATION),
        (page("A", "{{place name disambiguation}}"), dumps.DISAMBIGUATION),
        (page("A", "x", model="css"), dumps.NOT_TEXT),
        (page("A", " \n"), dumps.NOT_TEXT),
        (page(" ", "x"), dumps.NOT_TEXT),
    ],
)
def test_pages_that_are_no_articles_are_left_out_and_counted(tmp_path: Path, gone: str, rule: str) -> None:
    found, tally = read(
        written(tmp_path, page("Before", "x"), gone, page("After", "# one\n{{about|disambiguation}} [[B]]"))
    )
    assert [kept.title for kept in found] == ["Before", "After"]
    assert tally == {(READ, "articles"): 1, (rule, "articles"): 1}


def test_a_page_larger_than_a_wiki_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "LARGEST", 1000)
    found, tally = read(written(tmp_path, page("A", "x" * 1000), page("B", "x" * 1001), page("C", "x\n" * 5000)))
    assert [kept.title for kept in found] == ["A"]
    assert tally[dumps.TOO_LARGE, "articles"] == 2


def test_a_truncated_bz2_gives_the_whole_pages_and_then_fails(tmp_path: Path) -> None:
    path = written(tmp_path, *(page(f"Title {n}", f"{n * 7919} text " * 300) for n in range(100)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"^wiki.xml.bz2 .* after [\d,]+ whole"):
        list(Dump(path, Counter()))


def test_broken_files_are_refused(tmp_path: Path) -> None:
    for pages, end in (((page("A", "a"),), ""), ((page("A", "a"), "<page></title>"), "</mediawiki>")):
        taken = []
        with pytest.raises(ValueError, match="1"):
            taken.extend(Dump(written(tmp_path, *pages, end=end), Counter()))
        assert [found.title for found in taken] == ["A"]
    with pytest.raises(ValueError, match="wiki.xml.*<page>"):
        read(written(tmp_path, ending=".xml"))
    other = tmp_path / "other.xml.bz2"
    other.write_bytes(b"<mediawiki/>")
    for name in ("other.xml.bz2", "no.xml", "notes.txt"):
        with pytest.raises(ValueError, match=name):
            read(tmp_path / name)


def test_nested_entities_do_not_exhaust_memory(tmp_path: Path) -> None:
    """A 'billion laughs' attack is refused, by the parser or as a page that is too large."""
    names = "abcdefgh"
    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names)
    )
    path = tmp_path / "bomb.xml"
    path.write_text(f"<!DOCTYPE mediawiki [{laughs}]><mediawiki>{page('A', '&h;')}</mediawiki>")
    try:
        found, tally = read(path)
    except ValueError as reason:
        assert "bomb.xml" in str(reason)  # noqa: PT017
    else:
        assert (found, tally[dumps.TOO_LARGE, "articles"]) == ([], 1)


# --- wikitext ------------------------------------------------------------------------------------------------------
# Running text, other content, and unclosed markup.


PAGE = """{{Infobox mill|name='''Mill'''|built={{start date|1850}}}}
__NOTOC__
The '''Mill''' is a [[wind mill|mill]] of 5&nbsp;km<ref name="a">Weaver ([[Mill]]). ''On mills''. 1901.</ref> by
the [[river]]<!-- which one? -->, built {{circa|1850}} by [http://example.org a miller].<ref name="a" />

[[File:Mill.jpg|thumb|The [[mill]] in 1900]]
It has {{convert|20|m|ft}} of H<sub>2</sub>O (<small>see below</small>).
{| class="wikitable"
! Year !! Mills
|-
| 1850 || 1
|}

== History ==
* one item
* another ''item''
: a reply
# a number

<gallery>
A.jpg|One
</gallery>

A {{lang|fr|moulin}} stood ({{IPA|x}}) here.<br />It <math>x^2</math> burned.
=== Fire of ''1901'' ===
Text below.

[[Category:Mills]]
== See also ==
"""


def paragraphs(text: str) -> list[str]:
    return [paragraph for section in article_of("T", text)[0].sections for paragraph in section.paragraphs]


def test_a_page() -> None:
    article, lost = article_of("Mill", PAGE)
    lead, history, fire, also = article.sections
    assert lead.paragraphs == (
        "The Mill is a mill of 5 km by the river, built c. 1850 by a miller.",
        "It has 20 m of H2O (see below).",
    )
    assert (lead.title, lead.level, lead.top) == ("", 1, "")
    assert history.paragraphs == (f"A moulin stood here. It {LOST} burned.",)
    assert (history.title, history.level, history.top) == ("History", 2, "History")
    assert (fire.title, fire.level, fire.top) == ("Fire of 1901", 3, "History")
    assert fire.paragraphs == ("Text below.",)
    assert (also.title, also.paragraphs, lost) == ("See also", (), 0)


@pytest.mark.parametrize(
    "wikitext",
    [
        "{{as of|2010}}, the town grew.",
        "It means either <math>a</math> or <math>b</math>.",
        "The length is given by\n:<math>x^2</math>\nwhere x is a side.",
        "It is known as suanpan ({{lang-zh|x}}, a counting tray).",
        "Alaska owns {{convert|101|e6acre}} of land.",
        "The word {{nowrap|is {{IPA|x}} here}}.",
    ],
)
def test_a_sentence_without_its_template_or_formula_is_marked_as_incomplete(wikitext: str) -> None:
    before, lost, after = sentences(paragraphs(f"One stands here. {wikitext} Another follows.")[0])
    assert [before, after] == ["One stands here.", "Another follows."]
    assert incomplete(lost)


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("A claim{{sfn|Hill|1990}} holds.{{citation needed}} Next.", "A claim holds. Next."),
        ("{{Main|Mills}}\nThe town grew. {{clear}} It burned.", "The town grew. It burned."),
        ("{{Infobox|a=b}}The town grew.", "The town grew."),
        ("He wrote:\n{{quote|x}}", "He wrote:"),
        ("The mill ({{IPA|x}}; {{IPA|y}}) stands.", "The mill stands."),
        ("A sum.\n:<math>x</math>\n\n<math>y</math>\n\n", "A sum."),
        ("''Main article: [[Mills]]''\n\nSee also [[Rye]].\n\nIt grew.", "It grew."),
        ("The Kruskal&amp;ndash;Wallis test.", "The Kruskal–Wallis test."),
        ("The suanpan ([[:zh:x|tray]], [[:Rye]]).", "The suanpan (tray, Rye)."),
        ("It weighs {{convert|60|and(-)|80|kg}} or {{cvt|1|-|2|x|3|m}}.", "It weighs 60 and 80 kg or 1 - 2 x 3 m."),
    ],
)
def test_a_complete_sentence_keeps_its_text(wikitext: str, text: str) -> None:
    assert paragraphs(wikitext) == [text]


def test_lines_are_joined_and_blank_lines_separate_paragraphs() -> None:
    assert paragraphs("One\ntwo.\n \n\nThree.") == ["One two.", "Three."]


@pytest.mark.parametrize(
    "broken",
    [
        "A {{cite book|title=x",
        "A [[link and more",
        "A <ref>note",
        "A note</ref> of",
        "{| class=x\n| a",
        "a }} b",
        "a ]] b",
    ],
)
def test_a_paragraph_with_unclosed_markup_is_left_out_and_counted(broken: str) -> None:
    article, lost = article_of("T", f"Before.\n\n{broken}\n\n== Next ==\nAfter.\n\nAnd more.")
    assert article.sections[0].paragraphs == ("Before.",)
    assert article.sections[1].paragraphs == ("After.", "And more.")
    assert lost == 1


def test_an_unclosed_comment_extends_to_the_end() -> None:
    assert paragraphs("One. <!-- a --> Two.\n\nThree <!-- never\n\nclosed") == ["One. Two.", "Three"]


def test_file_links_use_the_wikis_namespace_names() -> None:
    text = (
        "[[Datei:A.jpg|mini|Bild]] Der [[Ort]] ([[:Kategorie:Orte|alle]]) liegt [[Insel: Roman|dort]]. [[Kategorie:O]]"
    )
    article, _ = article_of("T", text, ("Datei", "Kategorie"))
    assert article.sections[0].paragraphs == ("Der Ort (alle) liegt dort.",)


CLOSED = (
    "Some [[word|words]] of text.",
    "{{a|b={{c|[[d]]}}}}",
    "<ref>{{cite|x}} y</ref>",
    '<ref name="a" />',
    "<ref name=b>{{a|<!-- c -->}}</ref>",
    "<!-- a -->",
    "{{lang|fr|mot}}",
    "{{nowrap|a {{b|c}} d}}",
    "\n\n",
    "\n== A {{b}} ==\n",
    "\n* item",
    "<small>so {{x}}</small>",
    "\n{| a\n| {{b}} || c\n|}\n",
    "''so''",
    "[http://a.b c {{d}}]",
)


@given(st.lists(st.sampled_from(CLOSED), max_size=12))
def test_thinning_changes_nothing(pieces: list[str]) -> None:
    """Only text that the parser would drop anyway is removed before parsing."""
    page = " ".join(pieces)
    with_thinning = article_of("T", page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikitext, "without_notes", lambda text: text)
        assert article_of("T", page) == with_thinning


@pytest.mark.parametrize("piece", ["{{a|", "[[a|{{b|<i>", "<ref>", "<!--", "( "])
def test_parsing_a_page_of_unclosed_markup_terminates(piece: str) -> None:
    article, _ = article_of("T", piece * (30_000 // len(piece)))
    assert article.title == "T"


# --- pieces --------------------------------------------------------------------------------------------------------
# Reading a dump in pieces finds each page once.

PAGES = [page(f"T{number}", "x" * (number * 37 % 90) + f" &lt;page&gt; of {number}") for number in range(60)]
TEXT = (HEAD + "".join(PAGES) + "</mediawiki>\n").encode()


def of_pieces(path: Path, size: int) -> tuple[list[Page], Tally, int]:
    tally: Tally = Counter()
    cut = pieces(path, size)
    found = [page for piece in cut for page in Dump(Path(piece.path), tally, piece.start, piece.stop)]
    return found, tally, len(cut)


@given(size=st.integers(1, 3000), cut=st.integers(5, 900), ending=st.sampled_from([".xml", ".xml.bz2"]))
def test_each_page_is_found_once_however_the_file_is_compressed(
    tmp_path_factory: pytest.TempPathFactory, size: int, cut: int, ending: str
) -> None:
    """A .bz2 file may have many streams, split anywhere in a page, as parallel compressors write them."""
    path = tmp_path_factory.mktemp("cut") / f"wiki{ending}"
    parts = [TEXT[start : start + cut] for start in range(0, len(TEXT), cut)]
    path.write_bytes(TEXT if ending == ".xml" else b"".join(map(bz2.compress, parts)))
    whole, tally = read(path)
    assert [page.title for page in whole] == [f"T{number}" for number in range(60)]
    found, same, count = of_pieces(path, size)
    assert (found, same) == (whole, tally)
    assert count > 1 or ending == ".xml.bz2"


@pytest.mark.parametrize("end", ["", "</page>", "<page><title>cut"])
def test_pieces_of_a_truncated_dump_are_refused(tmp_path: Path, end: str) -> None:
    path = tmp_path / "wiki.xml"
    path.write_bytes(TEXT.removesuffix(b"</mediawiki>\n") + end.encode())
    with pytest.raises(ValueError, match="wiki.xml"):
        of_pieces(path, 500)


def test_official_dumps_are_cut_at_stream_boundaries(tmp_path: Path) -> None:
    parts = [HEAD, *("".join(PAGES[start : start + 10]) for start in range(0, 60, 10)), "</mediawiki>\n"]
    path = tmp_path / "wiki-pages-articles-multistream3.xml-p1p60.bz2"
    path.write_bytes(b"".join(bz2.compress(part.encode()) for part in parts))
    found, _, count = of_pieces(path, 1)
    assert found == read(path)[0]
    assert len(found) == 60
    assert {page.namespaces for page in found} == {("Datei", "Kategorie")}
    assert count == 7  # the head, and six streams of ten pages
    assert of_pieces(path, path.stat().st_size // 3)[::2] == (found, 3)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="wiki-pages"):
        of_pieces(path, 1)


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    path = tmp_path / "wiki.xml"
    path.write_text(HEAD + "".join(page(f"Long {n}", "x" * 500_000) for n in range(60)) + "</mediawiki>")
    tracemalloc.start()
    count = sum(1 for _ in Dump(path, Counter()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 60
    assert peak < 13_000_000
