"""Dumps: what is an article, files that are broken, and memory that does not grow."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from labkit.thematic import wikipedia as dumps
from labkit.thematic.rules import READ, Tally
from labkit.thematic.wikipedia import Dump, Page

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
def test_pages(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, page("A &amp; B", "x &lt;ref&gt; y"), page("東京", " 都市\n"), ending=ending)
    found, tally = read(path)
    assert found == [
        Page("A & B", "x <ref> y", ("Datei", "Kategorie")),
        Page("東京", " 都市\n", ("Datei", "Kategorie")),
    ]
    assert not tally


def test_a_dump_in_several_streams(tmp_path: Path) -> None:
    path = tmp_path / "pages-articles-multistream.XML.BZ2"
    path.write_bytes(
        b"".join(bz2.compress(part.encode()) for part in (HEAD, page("A", "a"), page("B", "b") + "</mediawiki>"))
    )
    assert [found.title for found in read(path)[0]] == ["A", "B"]


@pytest.mark.parametrize(
    ("gone", "rule"),
    [
        (page("Talk:A", "x", ns="1"), dumps.ELSEWHERE),
        (page("File:A", "x", ns="6"), dumps.ELSEWHERE),
        (page("A", "x", extra='<redirect title="B" />'), dumps.REDIRECT),
        (page("A", "#REDIRECT [[B]]"), dumps.REDIRECT),
        (page("A", "\n#weiterleitung [[B]]"), dumps.REDIRECT),
        (page("A", "#ПЕРЕНАПРАВЛЕНИЕ [[B]]"), dumps.REDIRECT),
        (page("A", "May be:\n{{disambiguation}}"), dumps.DISAMBIGUATION),
        (page("A", "{{Disambig|geo}}"), dumps.DISAMBIGUATION),
        (page("A", "{{Begriffsklärung}}"), dumps.DISAMBIGUATION),
        (page("A", "x __DISAMBIG__"), dumps.DISAMBIGUATION),
        (page("A", "{{place name disambiguation}}"), dumps.DISAMBIGUATION),
        (page("A", "x", model="css"), dumps.NOT_TEXT),
        (page("A", " \n"), dumps.NOT_TEXT),
        (page(" ", "x"), dumps.NOT_TEXT),
    ],
)
def test_what_is_no_article_is_left_out_and_counted(tmp_path: Path, gone: str, rule: str) -> None:
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


def test_a_truncated_bz2_says_what_was_read_and_the_remedy(tmp_path: Path) -> None:
    path = written(tmp_path, *(page(f"Title {n}", f"{n * 7919} text " * 300) for n in range(500)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    taken = []
    with pytest.raises(
        ValueError, match=r"^wiki.xml.bz2 could not be read to its end \(.*ended before.*\) after [\d,]+ whole"
    ) as told:
        taken.extend(Dump(path, Counter()))
    assert "fetch it again" in str(told.value)
    assert "\n" not in str(told.value)


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"could not be read to its end \(no element found.*after 1 whole pages"):
        read(written(tmp_path, page("A", "a"), end=""))
    with pytest.raises(ValueError, match=r"could not be read to its end \(mismatched tag.*after 1 whole pages"):
        read(written(tmp_path, page("A", "a"), "<page></title>"))
    with pytest.raises(ValueError, match="wiki.xml has no <page>, expected a MediaWiki export"):
        read(written(tmp_path, ending=".xml"))
    other = tmp_path / "other.xml.bz2"
    other.write_bytes(b"<mediawiki/>")
    with pytest.raises(ValueError, match=r"other.xml.bz2 could not be read to its end \(Invalid data stream\) after 0"):
        read(other)
    with pytest.raises(ValueError, match="does not exist or is no file"):
        read(tmp_path / "no.xml")
    with pytest.raises(ValueError, match="notes.txt: expected a dump named .xml, .xml.bz2, .xml.gz"):
        Dump(tmp_path / "notes.txt", Counter())


def test_entities_of_its_own_do_not_fill_the_memory(tmp_path: Path) -> None:
    """A 'billion laughs' is refused, by the parser or as a page that is too large."""
    names = "abcdefghij"
    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names)
    )
    path = tmp_path / "bomb.xml"
    path.write_text(f"<!DOCTYPE mediawiki [{laughs}]><mediawiki>{page('A', '&j;')}</mediawiki>")
    try:
        found, tally = read(path)
    except ValueError as reason:
        assert "could not be read" in str(reason)  # noqa: PT017
    else:
        assert (found, tally[dumps.TOO_LARGE, "articles"]) == ([], 1)


def test_of_a_page_too_large_no_more_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "LARGEST", 10_000)
    path = written(tmp_path, page("A", "many words\n" * 2**20), page("B", "x"), ending=".xml")
    tracemalloc.start()
    found, tally = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ([kept.title for kept in found], tally[dumps.TOO_LARGE, "articles"]) == (["B"], 1)
    assert peak < 6 * 2**20 < path.stat().st_size  # one block of the file at a time


def test_pages_are_let_go_of(tmp_path: Path) -> None:
    """Memory of the reader itself: the same for 300 pages as for 3000."""
    peaks = []
    for count in (300, 3000):
        path = written(tmp_path, *(page(f"T{n}", f"{n} " + "text " * 400) for n in range(count)), ending=".xml")
        tracemalloc.start()
        assert sum(1 for _ in Dump(path, Counter())) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 8 * 2**20  # the larger file has 6 MB; one block of it is held at a time
    assert peaks[1] < 3 * peaks[0]
