"""Progress files of thirty students, drawn from a seed: some are fast, some are stuck, some have given up."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

ORDER = [f"{notebook}.{n}" for notebook, count in (("00", 4), ("01", 5), ("02", 5)) for n in range(1, count + 1)]
SLIPS = (
    "the sign is turned round: yours is the right number times -1",
    "yours is the right one times len(S): is a mean asked for, and not a sum?",
    "padding takes part in yours: where a sentence is short, an answer beside it wins",
    "every sentence is its own nearest: leave the diagonal out",
    "P and N are exchanged: positives would be pushed apart",
)
HARD = {"01.4": 0.45, "02.2": 0.5, "02.3": 0.4, "00.4": 0.3}  # how often an exercise is not solved
NAMES = (
    "Ada", "Bea", "Cem", "Dora", "Eli", "Fay", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia", "Noa", "Ole", "Pia",
    "Qi", "Rosa", "Sam", "Tea", "Udo", "Vera", "Wim", "Xenia", "Yara", "Zoe", "Åsa", "Émile", "Łukasz", "Мила",
)  # fmt: skip


@pytest.fixture
def thirty(tmp_path: Path) -> Path:
    """A folder with the thirty files."""
    write_class(tmp_path / "class")
    return tmp_path / "class"


def write_class(folder: Path, seed: int = 0) -> None:
    """Write thirty files, half of them as anna.json and half as anna/progress.json."""
    draw = random.Random(seed)
    for place, name in enumerate(NAMES):
        answers = {}
        for key in ORDER[: draw.randint(3, 20)]:
            failed = draw.random() < HARD.get(key, 0.08)
            tries = draw.randint(0 if failed else 1, 6)
            slips: dict[str, int] = {}
            for _ in range(max(0, tries - 1 + failed)):
                if draw.random() < 0.7:
                    says = draw.choices(SLIPS, weights=(5, 2, 1, 3, 1))[0]
                    slips[says] = slips.get(says, 0) + 1
            seen = failed and draw.random() < 0.4
            hints = draw.randint(1 if failed else 0, 3)
            answers[key] = {"tries": tries, "right": not failed, "hints": hints, "seen": seen, "slips": slips}
        if place % 7 == 0:  # as in files of earlier versions
            answers = {key: {k: v for k, v in each.items() if k != "slips"} for key, each in answers.items()}
        path = folder / (f"{name}.json" if place % 2 else f"{name}/progress.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"answers": answers, "predictions": {"00.a": draw.random()}}), "utf-8")
