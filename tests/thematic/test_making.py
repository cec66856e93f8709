"""From a corpus, a JSONL file or a dump to a file of triplets: the same from all of them, whole or not at all."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from labkit.corpora import Article, Articles, Section, Triplets, load, read_corpus
from labkit.corpora.files import read_articles
from labkit.thematic.making import article_source, triplets_and_funnel, write_triplets
from labkit.thematic.triplets import Plan
from labkit.thematic.wikipedia import ELSEWHERE, REDIRECT

HEAD = '<mediawiki><siteinfo><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>'


def article(title: str) -> Article:
    sections = [
        Section(name, [f"{title} {name} sentence of paragraph {place}. More." for place in ("one", "two")])
        for name in ("Early life", "Career", "Works", "Later life", "Legacy")
    ]
    return Article(title, (Section("", [f"{title} is somebody. More."], 1), *sections, Section("Notes", ["A list."])))


ARTICLES = Articles([article(title) for title in ("Anna Brun", "東京", "Šárka", "Fabel", "Eva Holm")], name="some")


def as_jsonl(path: Path, articles: Articles = ARTICLES, *, splits: bool = False) -> Path:
    rows = (row if splits else {key: row[key] for key in ("title", "sections")} for row in articles.rows())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def as_dump(path: Path, articles: Articles = ARTICLES) -> Path:
    pages = ["<page><title>Talk:A</title><ns>1</ns><revision><text>Hm</text></revision></page>"]
    for found in articles.articles:
        text = "\n\n".join(
            [
                f"== {section.title} ==\n" * bool(section.title) + "\n\n".join(section.paragraphs)
                for section in found.sections
            ]
        )
        pages.append(
            f"<page><title>{found.title}</title><ns>0</ns><revision><text>{escape(text)}</text></revision></page>"
        )
    pages.append('<page><title>B</title><ns>0</ns><redirect title="A" /><revision><text>x</text></revision></page>')
    path.write_bytes(bz2.compress(f"{HEAD}{''.join(pages)}</mediawiki>".encode()))
    return path


@pytest.mark.parametrize("rule", ["adjacent", "article", "other", "titles"])
def test_the_same_from_memory_from_jsonl_and_from_a_dump(tmp_path: Path, rule: str) -> None:
    assert set(ARTICLES.splits) == {"train", "test"}
    made, funnel = triplets_and_funnel(ARTICLES, Plan(rule, 3))
    jsonl, dump = as_jsonl(tmp_path / "some.jsonl"), as_dump(tmp_path / "some.xml.bz2")
    from_jsonl = write_triplets(str(jsonl), tmp_path / "a.jsonl", Plan(rule, 3))
    from_dump = write_triplets(str(dump), tmp_path / "b.csv", Plan(rule, 3))
    assert from_jsonl == funnel
    for name in ("a.jsonl", "b.csv"):
        found = read_corpus(tmp_path / name)
        assert isinstance(found, Triplets)
        assert list(found.rows()) == list(made.rows())
    assert from_dump.read("articles") == len(ARTICLES) + 2
    assert (from_dump.removed(ELSEWHERE, "articles"), from_dump.removed(REDIRECT, "articles")) == (1, 1)
    assert from_dump.left("triplets") == funnel.left("triplets") == len(made)


@pytest.mark.whole
def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    dump = as_dump(tmp_path / "some.xml.bz2", Articles([article(f"Title {n}") for n in range(80)]))
    alone = write_triplets(str(dump), tmp_path / "one.jsonl.gz", Plan("other"))
    together = write_triplets(str(dump), tmp_path / "two.jsonl.gz", Plan("other"), workers=2)
    assert alone == together
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_the_embedded_articles_give_triplets(tmp_path: Path) -> None:
    funnel = write_triplets("articles", tmp_path / "t.csv")
    found = read_corpus(tmp_path / "t.csv")
    corpus = load("articles")
    assert isinstance(corpus, Articles)
    splits = {one.title: split for one, split in zip(corpus.articles, corpus.splits, strict=True)}
    assert len(found) == funnel.left("triplets") > 4000
    assert all(splits[title] == split for title, split in zip(found.extra["article"], found.splits, strict=True))


@pytest.mark.whole
@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_dump_leaves_no_file_and_the_old_one_whole(tmp_path: Path, workers: int) -> None:
    dump = as_dump(tmp_path / "some.xml.bz2", Articles([article(f"{n * 7919}") for n in range(400)]))
    dump.write_bytes(dump.read_bytes()[:-40])
    (tmp_path / "kept.csv").write_text("old")
    for name in ("kept.csv", "new.csv.gz"):
        with pytest.raises(ValueError, match=r"could not be read to its end .* after \d+ whole pages; fetch it again"):
            write_triplets(str(dump), tmp_path / name, workers=workers)
    assert (tmp_path / "kept.csv").read_text() == "old"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["kept.csv", "some.xml.bz2"]


def test_a_limit_takes_the_first_articles_even_of_a_broken_dump(tmp_path: Path) -> None:
    dump = as_dump(tmp_path / "some.xml.bz2")
    whole = bz2.decompress(dump.read_bytes())
    cut = tmp_path / "cut.xml"
    cut.write_bytes(whole[: whole.index(b"Fabel")])
    with pytest.raises(ValueError, match="could not be read to its end"):
        write_triplets(str(cut), tmp_path / "t.csv")
    funnel = write_triplets(str(cut), tmp_path / "t.csv", limit=2)
    assert set(read_corpus(tmp_path / "t.csv").extra["article"]) == {"Anna Brun", "東京"}
    assert funnel.left("articles") == 2
    with pytest.raises(ValueError, match="limit is 0, expected at least 1 article"):
        write_triplets("articles", tmp_path / "t.csv", limit=0)


def test_splits_of_a_file_are_kept(tmp_path: Path) -> None:
    corpus = Articles(ARTICLES.articles, splits=["test"] * 4 + ["dev"])
    path = as_jsonl(tmp_path / "some.jsonl", corpus, splits=True)
    assert [split for _, split in read_articles(path)] == ["test"] * 4 + ["dev"]
    assert [found for found, _ in read_articles(path)] == list(ARTICLES.articles)


def test_progress_in_articles_and_in_bytes(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    triplets_and_funnel(ARTICLES, progress=lambda *step: seen.append(step))
    assert seen[-1] == (5, 5, "triplets of some")
    dump = as_dump(tmp_path / "some.xml.bz2")
    write_triplets(str(dump), tmp_path / "t.csv", progress=lambda *step: seen.append(step))
    size = dump.stat().st_size
    assert seen[-1] == (size, size, "triplets of some.xml.bz2")


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="corpus 'topics' has the shape Labelled, expected Articles"):
        article_source("topics")
    with pytest.raises(ValueError, match="did you mean 'articles'"):
        article_source("artcles")
    with pytest.raises(ValueError, match=r"no.xml.bz2 does not exist or is no file"):
        article_source(str(tmp_path / "no.xml.bz2"))
    with pytest.raises(ValueError, match="expected a file named .csv"):
        list(article_source(str(tmp_path)).items)
    (tmp_path / "pairs.csv").write_text("text_a,text_b,label\na,b,1\n")
    with pytest.raises(ValueError, match="pairs.csv has the columns of Pairs, expected Articles"):
        list(article_source(str(tmp_path / "pairs.csv")).items)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"title": "A", "sections": []}\n{"title": "B"}\n')
    with pytest.raises(ValueError, match="bad.jsonl row 2: column 'sections' is missing"):
        list(read_articles(bad))
    bad.write_text('{"title": " ", "sections": []}\n')
    with pytest.raises(ValueError, match="bad.jsonl row 1: title is ' ', expected a text that is not empty"):
        list(read_articles(bad))
    bad.write_text('{"title": "A", "sections": [{"title": "B"}]}\n')
    with pytest.raises(ValueError, match="bad.jsonl row 1: sections is"):
        list(read_articles(bad))
