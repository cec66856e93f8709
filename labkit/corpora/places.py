"""Places as sentences: address, name and position code, joined by `<PAD>` (SentPWNet, section 4.3).

In: the fields of a place. Out: its S2 code, its text, and the characters of the text, which are SentPWNet's tokens.

**Erratum.** The paper calls the code a "Geohash of length 19". It is the decimal id of an S2 cell, and all eleven
printed codes are cells of level 18, about 35 m wide. The id counts along a curve that fills the sphere, so neighbours
mostly have similar ids. Cells in one larger cell share the first bits, not the first decimal digits. The code in table
5 is 590 m from the printed position, which is the local offset between the Chinese datum (GCJ-02) and WGS 84. The code
and the position must use the same datum.
"""

from __future__ import annotations

import re
from numbers import Real

from labkit.extras import require
from labkit.text import PAD

LEVEL = 18  # the level of the paper's codes; S2 has levels 0 (a sixth of the Earth) to 30 (a square centimetre)
_TOKEN = re.compile(rf"{PAD}|\S")


def s2_code(latitude: float, longitude: float) -> str:
    """The decimal id of the position's S2 cell.

    >>> s2_code(48.0, 9.0)
    '5159555464442150912'
    """
    _check("latitude", latitude, 90)
    _check("longitude", longitude, 180)
    require("places", "s2cell")
    from s2cell import lat_lon_to_cell_id

    return str(lat_lon_to_cell_id(latitude, longitude, LEVEL))


def _check(argument: str, degrees: float, largest: int) -> None:
    # the comparison is also false for NaN
    if not isinstance(degrees, Real) or not -largest <= degrees <= largest:
        raise ValueError(
            f"{argument} is {degrees!r}, expected a number of degrees from -{largest} to {largest}. Use decimal "
            "degrees, and check that latitude and longitude are not swapped"
        )


def place_text(address: str, name: str, latitude: float, longitude: float) -> str:
    """The sentence of a place, with its parts in the paper's order.

    >>> place_text("12 Mill Lane", "Heron Bakery", 48.0, 9.0)
    '12 Mill Lane <PAD> Heron Bakery <PAD> 5159555464442150912'
    """
    for argument, part in (("address", address), ("name", name)):
        if PAD in part:
            raise ValueError(f"{argument} is {part!r}, but must not contain the separator {PAD}; remove it")
    return f"{address} {PAD} {name} {PAD} {s2_code(latitude, longitude)}"


def place_tokens(text: str) -> list[str]:
    """The characters of a place's text, with `<PAD>` as one token. Works for any text; case and accents are kept.

    Spaces are dropped: writers use them inconsistently in names and addresses (2 F, 2F; 푸른솔 약국, 푸른솔약국),
    most Chinese and Japanese records have none, and sequences become shorter without them.

    >>> place_tokens("Ufer 3 <PAD> 書店 <PAD> 51")
    ['U', 'f', 'e', 'r', '3', '<PAD>', '書', '店', '<PAD>', '5', '1']
    """
    return _TOKEN.findall(text)
