"""Relatedness: the formula worked by hand, its properties, the sentences' grammar, and no easy way to the score."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from random import Random

import numpy as np
import pytest
from scipy.stats import spearmanr

from labkit.corpora.generators import relatedness
from labkit.corpora.generators.language import word_lists
from labkit.corpora.generators.relatedness import (
    KINDS,
    Frame,
    Thing,
    change_frame,
    draw_frame,
    frame_sentence,
    nearness,
    rated,
    units,
)

ROWS = [row for unit in islice(units(relatedness.SEED), relatedness.UNITS) for row in unit]
CHASE = Frame("chase", Thing("pets", 1), Thing("birds", 1))  # a dog chases a gull


def test_nearness_by_hand() -> None:
    full = 0.35 + 0.25 + 0.25 + 0.15
    assert nearness(CHASE, CHASE) == pytest.approx(full)
    wider = replace(CHASE, who=Thing("pets", 1, wide=True))
    assert nearness(CHASE, wider) == pytest.approx(full - 0.3 * 0.25)
    assert nearness(CHASE, replace(CHASE, who=Thing("pets", 2))) == pytest.approx(full - 0.9 * 0.25)
    assert nearness(CHASE, replace(CHASE, what=Thing("pets", 2))) == pytest.approx(full - 0.25)
    assert nearness(CHASE, replace(CHASE, event="watch")) == pytest.approx(full - 0.6 * 0.35)
    assert nearness(CHASE, replace(CHASE, event="flee")) == pytest.approx(full - 0.85 * 0.35)
    assert nearness(CHASE, replace(CHASE, denied=True)) == pytest.approx(0.55)
    assert nearness(CHASE, replace(CHASE, event="flee", denied=True)) == pytest.approx(full - 0.15 * 0.35)
    # details: number always, a place said by one only counts .7
    assert nearness(CHASE, replace(CHASE, place=1)) == pytest.approx(0.85 + 0.15 * (1 + 0.7) / 2)
    assert nearness(CHASE, replace(CHASE, many=2)) == pytest.approx(0.85 + 0.15 * 0.2)
    swapped = replace(CHASE, who=CHASE.what, what=CHASE.who)
    assert nearness(CHASE, swapped) == pytest.approx(0.5)
    assert nearness(CHASE, Frame("feed", Thing("people", 1), Thing("pets", 3))) == 0.2  # same scene
    assert nearness(CHASE, Frame("raise", Thing("councils", 1), Thing("prices", 3))) == 0.0


def test_nearness_is_symmetric_and_bounded() -> None:
    random = Random(0)
    for _ in range(2000):
        one, kind = draw_frame(random), random.choice(list(KINDS))
        other = change_frame(one, kind, random)
        if other is not None:
            assert nearness(one, other) == pytest.approx(nearness(other, one))
            assert 0 <= nearness(one, other) <= 1 + 1e-12


def test_raters_scatter_around_the_formula() -> None:
    random = Random(1)
    seen = [rated(0.7, random) for _ in range(500)]
    assert np.mean(seen) == pytest.approx(5 * 0.7**2, abs=0.05)
    assert 0.1 < np.std(seen) < 0.3
    assert all(0 <= rated(near, random) <= 5 for near in (0.0, 1.0) for _ in range(50))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_what_it_says(kind: str) -> None:
    random = Random(2)
    made = 0
    while made < 100:
        one = draw_frame(random)
        other = change_frame(one, kind, random)
        if other is None:
            continue
        made += 1
        assert (other == one) == (kind == "nothing" or (kind == "another event" and other == one))
        if kind == "denied":
            assert (other.event, other.denied) == (one.event, not one.denied)
        if kind == "opposite and denied":
            assert (other.event != one.event, other.denied) == (True, not one.denied)
        if kind == "roles exchanged":
            assert (other.who, other.what) == (one.what, one.who)
        if kind == "another scene":
            events = word_lists("relatedness")["events"]
            assert events[one.event]["scene"] != events[other.event]["scene"]


def test_word_lists_fit_together() -> None:
    given = word_lists("relatedness")
    for event in given["events"].values():
        assert all(len(verb.split(", ")) == 5 for verb in event["does"])
        assert {*event["who"], *event["what"]} <= given["nouns"].keys()
        assert len(given["scenes"][event["scene"]]) == 4
        assert {event.get("near"), event.get("opposite")} - {None} <= given["events"].keys()
    for name, event in given["events"].items():  # a contrary is one both ways
        if "opposite" in event:
            assert given["events"][event["opposite"]]["opposite"] == name


def test_grammar() -> None:
    for row in ROWS:
        for text in (row["text_a"], row["text_b"]):
            assert re.fullmatch(r"[A-Z][\w',ê \-]+\.", text), text
            assert "  " not in text
            assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]", text), text
            assert not re.search(r"\b(?:two|three|Two|Three) (?:\w+ )*?(?:is|does|has)\b", text.split(" by ")[0]) or (
                " is being " in text or " is not being " in text
            ), text
            assert not re.search(r"\ba verses|(?<!of )\b(?:vines|potatoes|trees) (?:was|is)\b", text), text
            assert 4 <= len(text.split()) <= 22


def test_scores_cover_the_range() -> None:
    shares = np.histogram([row["score"] for row in ROWS], bins=[0, 1, 2, 3, 4, 5.01])[0] / len(ROWS)
    assert shares.min() >= 0.1
    for split in ("train", "dev", "test"):  # the splits grade alike
        part = np.histogram([row["score"] for row in ROWS if row["split"] == split], bins=[0, 1, 2, 3, 4, 5.01])[0]
        assert np.abs(part / part.sum() - shares).max() < 0.06, split
    assert Counter(row["kind"] for row in ROWS).keys() == KINDS.keys()


def test_splits_share_no_sentence() -> None:
    where = defaultdict(set)
    for row in ROWS:
        where[row["text_a"]].add(row["split"])
        where[row["text_b"]].add(row["split"])
    assert [text for text, splits in where.items() if len(splits) > 1] == []
    counts = Counter(row["split"] for row in ROWS)
    for split, share in (("train", 0.6), ("dev", 0.15), ("test", 0.25)):
        assert counts[split] / len(ROWS) == pytest.approx(share, abs=0.03)


def test_no_easy_way_to_the_score() -> None:
    scores = [row["score"] for row in ROWS]
    lengths = [(len(row["text_a"].split()), len(row["text_b"].split())) for row in ROWS]
    cues = {
        "length": [a + b for a, b in lengths],
        "difference of lengths": [abs(a - b) for a, b in lengths],
        "not": [f"{row['text_a']} {row['text_b']}".count(" not ") for row in ROWS],
        "two": [f"{row['text_a']} {row['text_b']}".lower().count("two ") for row in ROWS],
        "by": [f"{row['text_a']} {row['text_b']}".count(" by ") for row in ROWS],
    }
    for cue, values in cues.items():
        assert abs(spearmanr(values, scores)[0]) < 0.2, cue


def test_no_word_of_one_side_alone_gives_the_score_away() -> None:
    scores = [row["score"] for row in ROWS]
    apart: dict[str, dict[int, int]] = defaultdict(dict)  # word -> row -> how much oftener one side has it
    for number, row in enumerate(ROWS):
        a, b = (Counter(re.findall(r"\w+", row[side].lower())) for side in ("text_a", "text_b"))
        for word in a | b:
            if a[word] != b[word]:
                apart[word][number] = abs(a[word] - b[word])
    often = {word: rows for word, rows in apart.items() if len(rows) >= 20}
    assert len(often) > 100
    for word, rows in often.items():
        values = [rows.get(number, 0) for number in range(len(ROWS))]
        assert abs(spearmanr(values, scores)[0]) < 0.2, word


def test_patterns_differ() -> None:
    random = Random(3)
    said = {frame_sentence(replace(CHASE, place=1), random) for _ in range(200)}
    assert len(said) > 20
    assert all(("dog" in text or "hound" in text) and ("gull" in text) for text in said)
    assert {"A dog is chasing a gull in a meadow.", "A seagull is being chased by a dog in a meadow."} <= said


def test_the_first_rows_stay_what_they_are() -> None:
    again = [row for unit in islice(units(relatedness.SEED), 50) for row in unit]
    assert again == ROWS[:50]
    assert list(again[0]) == ["text_a", "text_b", "score", "split", "kind"]
