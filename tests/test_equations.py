"""Wherever an equation of a paper is named by its number, the words around it are about that equation.

The table was made from the papers: what each numbered equation says, in words of which one must stand near the number.
Where two equations are a pair that is easily turned round (the weights of negatives and positives, the two keep rules,
the long and the short step), the nearer of the two words must be the equation's own.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NEGATIVE, POSITIVE = r"[Nn]egativ|push|above", r"[Pp]ositiv|pull|below"
LONG, SHORT = r"long|[Oo]dd\b|first|⟨dP, dP⟩|‖dP‖|tau_1", r"short|\beven\b|⟨dF, dF⟩|tau_2|‖dP‖ / ‖dF‖"
SENTPWNET = {
    **dict.fromkeys((1, 2, 3), r"slope|derivative|chain|gradient|dL|weight"),
    4: r"triplet", 5: r"weight|slope|derivative|triplet", 6: r"contrastive|margin|equal weights|every pair",
    7: r"contrastive|S_?\{?i?j?\}? = 1|S = 1|where it prints S", 8: r"locality|brace|anchor|multi|loss",
    9: NEGATIVE, 10: POSITIVE, 11: NEGATIVE, 12: POSITIVE,
}  # fmt: skip
FILM = {
    1: r"sim|y", 2: r"margin|nearer", 3: r"mean", 4: r"sum", 5: r"hinge|anchor|similarit|loss|random|triplet",
    6: r"singular|SVD|Σ|Y", 7: r"margin|eq\. 5|equal", 8: r"C\b|triplet|margin", 9: r"diagonal|z_i",
    10: r"margin|M\b|equal|triplets",
    11: r"B", 12: r"G =|diag|St\b|orthonormal|eigen|written as|manifold", 13: r"K\b|tr", 14: r"penalty|‖s‖|depends",
    15: r"\bs\b|max|Λ|depends", 16: r"depends|f₁", 17: r"f₁", 18: r"smooth|μ|sigm|hinge|temperature|σ",
    19: r"f₂|descend|Algorithm", 20: r"multipl", 21: r"stationary|F\(P\)|manifold", 22: r"straight|A =",
    23: r"half|middle", 24: r"Cayley|tau|τ|A\b", 25: r"Cayley|2d|smaller|descend|cayley|same|equations",
    26: LONG, 27: SHORT, 28: r"gradient|descend", 29: r"loss|mean|hinge|sim",
}  # fmt: skip
SBERT_LP = {
    1: r"SBERT", **dict.fromkeys(range(2, 9), r"weight|rebuil|neighbour|linear system|solv|w_ij|tr\(G\)|Σ w"),
    9: r"G\b|weight|linear system|w_ij|invert|tr\(G\)|Σ w", **dict.fromkeys(range(10, 16), r"Y|y_i|W\b|new vectors"),
    16: r"Y|Λ|Lambda|y_i", 17: r"Y|eigen|y_i",
}  # fmt: skip
PTHOUGHT = {
    3: r"cos", 4: r"coherence|cosine|groups", 5: r"coherence|cosine|groups",
    **dict.fromkeys(range(6, 10), r"decoder|equal"), 10: r"λ|l_auto|L\b|decoder|lambda|Write eq|Lagrange|table B",
    11: r"misprint|grade|d_i",
}  # fmt: skip
PAIRS = ({9: NEGATIVE, 10: POSITIVE}, {11: NEGATIVE, 12: POSITIVE})
LENGTHS = ({26: LONG, 27: SHORT},)
WHERE = (  # the first that fits a path
    (r"projection/", None),  # other people's equations, named with the people
    (r"film|descents|walking", FILM),
    (r"recipes/scoring", PTHOUGHT),
    (r"locally_linear|sbert_lp", SBERT_LP),
    (r"thought|paraphrase|coherence|regression|evaluation/pairs", PTHOUGHT),
    (r"sentpwnet|pairs|weighing", SENTPWNET),
)
NUMBERS = re.compile(r"\b[Ee]qs?\. ?(\d+(?:(?:, | and | or |,? to |-)(?:eq\. )?\d+(?!\w))*)")


def mentions(path: Path) -> list[tuple[str, list[int], str, int]]:
    """Of each mention: its words, its numbers, the text around it, and where in that text it begins."""
    text = re.sub(r"\n\s*#+ ?", " ", path.read_text("utf-8"))
    text = re.sub(r"\s+", " ", text)
    found = []
    for match in NUMBERS.finditer(text):
        numbers = [int(each) for each in re.findall(r"\d+", match[1])]
        if "to" in match[1] or "-" in match[1]:
            numbers = list(range(numbers[0], numbers[-1] + 1))
        begin = max(0, match.start() - 170)
        found.append((match[0], numbers, text[begin : match.end() + 170], match.start() - begin))
    return found


def wrong(numbers: list[int], around: str, at: int, table: dict[int, str]) -> str | None:
    """What is wrong with one mention."""
    for number in numbers:
        if number not in table:
            return f"there is no eq. {number}"
    pairs = PAIRS if table is SENTPWNET else LENGTHS if table is FILM else ()
    for pair in pairs:
        one, other = pair
        if len(numbers) == 1 and numbers[0] in pair:
            mine, its = (_nearest(pair[each], around, at) for each in (numbers[0], one + other - numbers[0]))
            if mine > its:
                return f"the nearest word is that of eq. {one + other - numbers[0]}"
            return None
        if {one, other} <= set(numbers):
            return None
    return next((f"nothing near is about eq. {n}" for n in numbers if not re.search(table[n], around)), None)


def _nearest(word: str, around: str, at: int) -> int:
    """How far the nearest such word is: before a number in brackets, else also after it in its clause."""
    named = NUMBERS.match(around, at)
    assert named is not None
    after = "" if around[at - 1 : at] == "(" else re.split(r"[,.;]", around[named.end() :])[0]
    reach = around[:at] + around[at : named.end()] + after
    return min((abs(match.start() - at) for match in re.finditer(word, reach)), default=10_000)


def table_of(path: Path) -> dict[int, str] | None:
    name = str(path.relative_to(ROOT))
    return next(table for pattern, table in WHERE if re.search(pattern, name))


PAGES = [
    path
    for folder in ("labkit", "app", "notebooks/src")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if NUMBERS.search(path.read_text("utf-8"))
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_number_of_an_equation_is_that_of_the_paper(path: Path) -> None:
    table = table_of(path)
    for words, numbers, around, at in mentions(path) if table else ():
        complaint = wrong(numbers, around, at, table)
        assert complaint is None, f"{words}: {complaint}, in: {around}"


@pytest.mark.parametrize(
    ("text", "table", "right"),
    [
        ("For a negative (eq. 9): a share", SENTPWNET, True),
        ("For a negative (eq. 10): a share", SENTPWNET, False),
        ("Eq. 9 is the same for positives", SENTPWNET, False),
        ("closed form (eq. 9 and 10)", SENTPWNET, True),
        ("negatives above it are kept (eq. 12)", SENTPWNET, False),
        ("the contrastive loss (eq. 8)", FILM, False),
        ("the contrastive loss (eq. 5)", SENTPWNET, False),
        ("the contrastive loss (eq. 6)", SENTPWNET, True),
        ("by eq. 13", SENTPWNET, False),
        ("that is the short length, eq. 27", FILM, True),
        ("that is the short length, eq. 26", FILM, False),
        ("P-coherence (eq. 4, 5)", PTHOUGHT, True),
        ("the decoders (eq. 12)", PTHOUGHT, False),
    ],
)
def test_the_judge_of_equations(tmp_path: Path, text: str, table: dict[int, str], right: bool) -> None:
    page = tmp_path / "page.py"
    page.write_text(text)
    [(_, numbers, around, at)] = mentions(page)
    assert (wrong(numbers, around, at, table) is None) == right
