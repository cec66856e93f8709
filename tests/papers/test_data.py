"""Which data are available, and how the papers' data sets are assembled from published ones."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.corpora import Articles, Corpus, Groups, Labelled, Pairs, Triplets, load
from labkit.corpora.article_triplets import triplets_of
from labkit.corpora.published import Published
from labkit.papers import data
from labkit.papers.bundled_report import result
from labkit.papers.cells import Store, cells_of, compute, plan
from labkit.papers.data import (
    DATASETS,
    Desk,
    Missing,
    _captions,
    _few_captions,
    _held_out,
    _places,
    _quora,
    at_random,
    cut,
    spelt,
    without,
)
from labkit.papers.published.sentpwnet import TABLE_2
from labkit.papers.records import Column
from tests.papers.fakes import TABLE


def test_bundled_data_stand_in_where_nothing_is_published(desk: Desk) -> None:
    assert not desk.published(["quora", "mrpc"])
    assert "questions, embedded (train " in str(desk.open("quora", published=False))
    assert "mrpc" in desk.why_not("mrpc", published=False)
    with pytest.raises(Missing, match="mrpc"):
        desk.open("mrpc", published=False)


@pytest.fixture
def half_a_folder(tmp_path: Path) -> Path:
    """A folder with MRPC in the plain format, and nothing else."""
    folder = tmp_path / "half"
    (folder / "mrpc").mkdir(parents=True)
    for split, count in (("train", 4), ("test", 2)):
        lines = ["text_a\ttext_b\tlabel", *(f"a {i}\tb {i}\t{i % 2}" for i in range(count))]
        (folder / "mrpc" / f"{split}.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_only_published_data_are_marked_as_seen_in_training(
    half_a_folder: Path, tmp_path: Path, desk: Desk, store: Store
) -> None:
    rows = (replace(TABLE.rows[0], seen=("mrpc", "stsb")),)
    columns = tuple(Column(data, "accuracy", data, 100, ".2f") for data in ("mrpc", "stsb"))
    table = replace(TABLE, columns=columns, rows=rows, claims=())
    for at, name, mark in ((Desk(half_a_folder, memo=tmp_path), "mrpc", "seen in training"), (desk, "stsb", "")):
        planned = plan(table, at, 1)
        figure = result(planned, compute(cells_of([planned]), store)).at("ours", name)
        assert figure.mean == pytest.approx(80.0)  # in the paper's unit
        assert figure.why == mark


def test_a_folder_with_some_of_the_files(half_a_folder: Path, tmp_path: Path, desk: Desk) -> None:
    folder = half_a_folder
    half = Desk(folder, memo=tmp_path)
    assert half.published(["quora", "mrpc"])
    planned = plan(TABLE_2, half, 1)
    assert planned.published
    assert {data for row, data in planned.parts if planned.cells(row, data)} == {"mrpc"}
    assert any(note.startswith("quora is left out: qqp, qqp-bimpm are not here") for note in planned.notes)
    (folder / "mrpc" / "test.tsv.gz").unlink()
    broken = Desk(folder, memo=tmp_path)
    assert broken.missing("mrpc") == ["mrpc/test.tsv.gz"]
    assert not broken.published(["mrpc"])
    assert any("mrpc/test.tsv.gz" in note for note in plan(TABLE_2, broken, 1).notes)  # the reason for bundled data
    assert not any("mrpc/test.tsv.gz" in note for note in plan(TABLE_2, desk, 1).notes)


def test_quora_training_shares_no_question_with_the_test() -> None:
    """All of dev becomes the test. c is in it, spelt differently, and e is marked, so 400 pairs remain for training.

    They form chains of four, in which each pair shares a question with the next, up to spelling.
    """
    chains = [(f"q {n}" if n % 4 == 0 else f"Q{n}?", f"q {n + 1} ." if n % 4 < 3 else f"end {n}") for n in range(400)]
    a, b = (list(column) for column in zip(("c", "d"), ("e", "f"), *chains, strict=True))
    labels = [1, 0, *(int(n % 3 == 0) for n in range(400))]  # one of three is a duplicate
    train = Pairs(a, b, labels, name="qqp", extra={"question_in_bimpm_eval": ["0", "1", *["0"] * 400]})
    scored = Pairs(["C .", "k", "m", "o"], ["j", "l", "n", "p"], [1, 0, 1, 0], splits=["dev"] * 4)
    made = _quora([train, scored])
    parts = {split: made.part(split) for split in ("train", "dev", "test")}
    assert (parts["test"].text_a, parts["test"].text_b) == (scored.text_a, scored.text_b)
    asked = {split: {spelt(text) for text in part.sentences()} for split, part in parts.items()}
    assert not asked["train"] & asked["dev"]
    assert not (asked["train"] | asked["dev"]) & (asked["test"] | {"e", "f"})
    dev, learned = parts["dev"], parts["train"]
    assert isinstance(dev, Pairs) and isinstance(learned, Pairs)  # noqa: PT018
    assert len(learned) == 352  # an eighth is held out, in whole chains
    held = [label for text, label in zip(a[2:], labels[2:], strict=True) if text not in learned.text_a]
    assert sum(dev.labels) == sum(held) == len(dev) / 2 < len(held) / 2  # all held-out duplicates, and as many others
    assert set(dev.text_a) <= set(a) - set(learned.text_a)
    assert _quora([train, scored]).fingerprint == made.fingerprint
    whole = Pairs(["a", "b", "c"], ["x", "y", "z"], [1, 0, 1], splits=["train", "dev", "test"])
    assert _quora([train, whole]).part("train").sentences() == ["a", "x"]


def test_either_sentence_of_a_test_pair_is_removed_from_training() -> None:
    others = [f"other {n}" for n in range(40)]
    train = Pairs(["a", "b", *others], ["W .", "X .", *(f"like {text}" for text in others)], [1, 0] * 21, name="qqp")
    scored = Pairs(["w", "k"], ["j", "x"], [1, 0], splits=["dev"] * 2)
    assert set(_quora([train, scored]).sentences()) & {"a", "b", "W .", "X ."} == set()
    pairs = Pairs(["a", "c", "w"], ["W .", "d", "j"], [1, 0, 1], splits=["train", "train", "test"])
    assert without(pairs, [pairs.part("test")]).part("train").sentences() == ["c", "d"]


def test_mrpc_training_shares_no_sentence_with_the_test() -> None:
    a, b = [*(f"a {n}" for n in range(50)), "A 7 !"], [*(f"b {n}" for n in range(50)), "other"]
    pairs = Pairs(a, b, [n % 2 for n in range(51)], splits=["train"] * 50 + ["test"])
    made = _held_out([pairs])
    assert "a 7" not in [*made.part("train").sentences(), *made.part("dev").sentences()]
    assert len(made) == 50


def test_dev_is_held_out_of_training() -> None:
    """One sentence is in 20 pairs. If one of them is held out, those left in training are dropped."""
    rows = [(f"a {n}" if n >= 20 else "one for all", f"b {n}", n % 2) for n in range(100)] + [("x", "y", 1)]
    a, b, labels = (list(column) for column in zip(*rows, strict=True))
    pairs = Pairs(a, b, labels, splits=["train"] * 100 + ["test"], name="mrpc")
    made = _held_out([pairs])
    dev, train = made.part("dev"), made.part("train")
    assert len(dev) == 20
    assert "one for all" in dev.sentences()  # otherwise the next assertion proves nothing
    assert not set(dev.sentences()) & set(train.sentences())
    assert len(train) == 80 - (20 - sum(text == "one for all" for text in dev.text_a))
    assert made.part("test").sentences() == ["x", "y"]
    assert _held_out([pairs]).fingerprint == made.fingerprint
    assert _held_out([made]).fingerprint == made.fingerprint  # an existing dev split is kept


def test_all_records_of_a_place_are_in_one_split() -> None:
    """A place joins the matching pairs of one city, over all splits; test takes it before dev, and dev before train."""
    pairs = Pairs(
        ["a", "b", "c", "A.", "p", "k", "m", "s"], ["b", "c", "d", "x", "q", "l", "k", "t"], [1, 1, 0, 1, 1, 1, 1, 1],
        splits=["train", "train", "train", "test", "train", "train", "dev", "train"],
        extra={"city": ["pit", "pit", "pit", "pit", "sin", "pit", "pit", "pit"]},
    )  # fmt: skip
    made = _places([pairs])
    assert isinstance(made, Labelled)
    label = dict(zip(made.texts, made.labels, strict=True))
    split = dict(zip(made.texts, made.splits, strict=True))
    assert set(label) == set("abcdxklmst") | {"A."}  # p and q are in another city
    assert len({label[text] for text in ("a", "b", "c", "A.", "x")}) == 1  # a and A. are one record, spelt differently
    assert {split[text] for text in ("a", "b", "c", "A.", "x")} == {"test"}
    assert label["d"] != label["c"]
    assert (split["d"], split["s"], split["t"]) == ("train",) * 3
    assert {split[text] for text in "klm"} == {"dev"}


def test_a_place_in_both_test_and_dev_goes_to_test() -> None:
    pairs = Pairs(["a", "b", "k"], ["b", "c", "l"], [1, 1, 1], splits=["test", "dev", "dev"])
    made = _places([pairs])
    splits = dict(zip(made.sentences(), made.splits, strict=True))
    assert splits == dict.fromkeys("abc", "test") | dict.fromkeys("kl", "dev")


def test_triplets_of_articles_follow_the_rule_in_their_name_and_keep_the_whole_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Training uses a sample of the sentences but all titles, each of which is a positive."""
    monkeypatch.setattr(data, "LEARNED", 80)
    whole = load("articles")
    articles = whole.take(range(0, len(whole), 4))
    assert isinstance(articles, Articles)
    sections = [section for article in articles.articles for section in article.sections]
    titles = tuple({title for section in sections for title in (section.title, section.top) if title})
    sentences, named = (DATASETS[f"triplets-{name}"].together([articles]) for name in ("sen", "titles"))
    triplets = triplets_of(articles)
    assert isinstance(sentences, Triplets) and isinstance(named, Triplets)  # noqa: PT018
    assert all(text.endswith(titles) for text in (*named.positives, *named.negatives))
    assert not any(text.endswith(titles) for text in sentences.positives)
    assert sentences.sizes == {"train": 80, "dev": 10, "test": triplets.sizes["test"]}
    assert sentences.part("test").fingerprint == triplets.part("test").fingerprint


def test_captions_in_graded_pairs_are_removed_from_training(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This applies only where the pairs are available; their files then help to identify the cached captions."""
    released = {
        "flickr30k": Groups(["A dog.", "a hound", "a cat"], ["1", "1", "2"], splits=["train"] * 3),
        "coco": Groups(["a bus", "a coach"], ["9", "9"], splits="test"),
        "stsb": Pairs(["a dog"], ["x"], [3.0], True, splits="test"),
        "sick": Pairs(["a cat"], ["x"], [3.0], True, splits="test"),
    }
    at_hand = {name: tmp_path / f"{name}.txt" for name in released if name != "sick"}
    for file in at_hand.values():
        file.touch()
    monkeypatch.setattr(Published, "load", lambda self, folder: released[self.name])
    monkeypatch.setattr(Published, "missing", lambda self, folder: [] if self.name in at_hand else [self.name])
    monkeypatch.setattr(Published, "paths", lambda self, folder: [at_hand[self.name]] if self.name in at_hand else [])
    assert desk.open("captions", published=True).corpus.part("train").sentences() == ["a hound", "a cat"]
    assert {path for path, *_ in desk._files(DATASETS["captions"], published=True)} == set(map(str, at_hand.values()))


def test_cut_keeps_groups_whole() -> None:
    groups = Groups(list("abcdefgh"), list("11122333"), splits=["train"] * 7 + ["test"])
    assert cut(groups, 4).part("train").sentences() == list("abcde")
    assert cut(groups, 100) is groups


def test_few_captions_are_the_first_third_of_the_training_captions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "CAPTIONS", 30)
    texts = [f"a dog {row}" for row in range(35)]
    flickr = Groups(texts, [str(row // 5) for row in range(len(texts))], splits=["train"] * len(texts))
    coco = Groups(["a bus", "a coach"], ["9", "9"], splits=["test", "test"])
    assert _captions([flickr, coco]).part("train").sentences() == texts[:30]
    few = _few_captions([flickr, coco])
    assert few.part("train").sentences() == texts[:10]
    assert few.part("test").sentences() == ["a bus", "a coach"]


def test_rows_are_sampled_from_the_named_splits() -> None:
    pairs = Pairs([f"a {row}" for row in range(60)], ["b"] * 60, [0.0] * 60, splits=["train"] * 40 + ["test"] * 20)
    made = at_random(pairs, {"train": 10, "dev": 1})
    assert made.splits == ("train",) * 10 + ("test",) * 20
    numbers = [int(text[2:]) for text in made.text_a]
    assert numbers == sorted(numbers)
    assert numbers[:10] != list(range(10))  # not simply the first
    assert at_random(pairs, {"train": 10}).text_a == made.text_a
    assert at_random(pairs, {"train": 40}).text_a == pairs.text_a


def test_cached_data_are_valid_for_these_files_this_version_and_this_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []
    embedded = Desk._embedded

    def reading(desk: Desk, wanted: data.DataSet) -> Corpus:
        read.append(desk.quick)
        return embedded(desk, wanted)

    def opened(*, quick: bool = False) -> data.DataAtHand:
        return Desk(quick=quick, memo=tmp_path).open("stsb", published=False)

    monkeypatch.setattr(Desk, "_embedded", reading)
    assert opened().sizes == opened().sizes
    assert opened(quick=True).sizes["train"] == data.QUICK_ROWS
    assert read == [False, True]
    ((path, size, changed),) = Desk(memo=tmp_path)._files(DATASETS["stsb"], published=False)
    assert (size, changed) == (Path(path).stat().st_size, Path(path).stat().st_mtime_ns)
    monkeypatch.setattr(data, "VERSION", data.VERSION + 1)
    opened()
    monkeypatch.setattr(Desk, "_files", lambda *_: [[path, size, changed + 1]])
    opened()
    assert read == [False, True, False, False]
