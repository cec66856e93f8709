"""`labkit data make triplets`: the table it prints, the file it leaves, and mistakes in one line."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest

from labkit.corpora import read_corpus


def test_the_funnel_is_printed_and_adds_up(labkit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = labkit("data", "make", "triplets", "--articles", "articles", "--rule", "titles", "--output", "t.tsv")
    assert done.status == 0
    header, *rows, last = done.out.splitlines()
    assert header.split() == ["articles", "sections", "sentences", "pairs", "triplets"]
    assert [row.split("  ")[0] for row in rows][:2] == ["read", "first section"]
    triplets = [
        int(row.split()[-1].replace(",", "")) for row in rows if "side" in row or row.startswith(("read", "left"))
    ]
    assert triplets[0] + triplets[1] == triplets[2] == len(read_corpus(tmp_path / "t.tsv"))
    assert last == f"t.tsv: {triplets[2]:,} triplets of 160 articles"


def test_the_same_call_gives_the_same_file(labkit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    call = ("data", "make", "triplets", "--articles", "articles", "--limit", "9", "--max-per-anchor", "1")
    for out, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        assert labkit(*call, "--seed", seed, "--out", out).status == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()
    assert len(set(read_corpus(tmp_path / "a.csv").extra["article"])) == 9


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        ((), "--articles is missing: name a corpus of articles, a .jsonl or a dump"),
        (("--articles", "zzz"), "corpus is 'zzz', expected a known corpus or a file of your own"),
        (("--articles", "topics"), "corpus 'topics' has the shape Labelled, expected Articles"),
        (("--articles", "mine.csv"), "mine.csv has the columns of Pairs, expected Articles"),
        (("--articles", "no.xml.bz2"), "no.xml.bz2 does not exist or is no file"),
        (("--articles", "cut.xml.bz2"), "cut.xml.bz2 could not be read to its end"),
        (
            ("--articles", "articles", "--rule", "near"),
            "rule is 'near', expected one of adjacent, article, other, titles",
        ),
        (("--articles", "articles", "--by", "page"), "by is 'page', expected top or heading"),
        (("--articles", "articles", "--rows", "5"), "--rows is of embedded corpora; for triplets give --limit"),
        (("--articles", "articles", "--limit", "0"), "Invalid value for '--limit'"),
        (
            ("--articles", "short.jsonl"),
            "short.jsonl makes no triplet: 1 of 1 articles went by the rule 'under 5 sections",
        ),
    ],
)
def test_mistakes_are_one_line(labkit, tmp_path: Path, words: tuple[str, ...], mistake: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "short.jsonl").write_text('{"title": "A", "sections": [{"title": "", "paragraphs": ["One."]}]}\n')
    (tmp_path / "cut.xml.bz2").write_bytes(bz2.compress(b"<mediawiki>" + b"<page></page>" * 99)[:-9])
    assert mistake in labkit("data", "make", "triplets", "--out", "t.csv", "--workers", "1", *words).mistake()
    assert not list(tmp_path.glob("*t.csv*"))


def test_options_of_triplets_are_not_of_a_corpus(labkit) -> None:  # type: ignore[no-untyped-def]
    mistake = labkit("data", "make", "topics", "--out", "t.csv", "--rule", "adjacent").mistake()
    assert mistake == "--rule is of `make triplets`, not of 'topics'; leave it out"
    assert (
        "the folder 'no' does not exist"
        in labkit("data", "make", "triplets", "--articles", "articles", "--out", "no/t.csv").mistake()
    )
