"""A place as a sentence: address, name and the code of its position, joined by `<PAD>` (SentPWNet, section 4.3).

In: the fields of a place. Out: its S2 code, its text, and the text as characters, the tokens of that method.

**Erratum.** The paper calls the code a "Geohash of length 19". It is the decimal id of an S2 cell, and all eleven codes
it prints are cells of level 18, some 35 m wide. The id counts along a curve that fills the sphere, so neighbours mostly
have ids near each other, but the first digits of a decimal are no larger cell: that takes the first bits. The code of
table 5 belongs to a point 590 m from the printed position: as far as the datum of Chinese maps (GCJ-02) departs from
WGS 84 there. The position is of the one, the code of the other. Both must be of one datum.
"""

from __future__ import annotations

import re
from numbers import Real

from labkit.extras import require
from labkit.text import PAD

LEVEL = 18  # of the paper's codes; S2 has 0, a sixth of the Earth, to 30, a square centimetre
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
    # the comparison is false for NaN too
    if not isinstance(degrees, Real) or not -largest <= degrees <= largest:
        raise ValueError(
            f"{argument} is {degrees!r}, expected a number of degrees from -{largest} to {largest}; "
            "use decimal degrees, and check that latitude and longitude are not swapped"
        )


def place_text(address: str, name: str, latitude: float, longitude: float) -> str:
    """The sentence of a place, its parts in the paper's order.

    >>> place_text("12 Mill Lane", "Heron Bakery", 48.0, 9.0)
    '12 Mill Lane <PAD> Heron Bakery <PAD> 5159555464442150912'
    """
    for argument, part in (("address", address), ("name", name)):
        if PAD in part:
            raise ValueError(f"{argument} is {part!r}, which must not contain the separator {PAD}; remove it")
    return f"{address} {PAD} {name} {PAD} {s2_code(latitude, longitude)}"


def place_tokens(text: str) -> list[str]:
    """The characters of a place's text, `<PAD>` as one token. Works for any text; case and accents stay as they are.

    Spaces are dropped: in names and addresses they come and go with the writer's habit (2 F, 2F; 푸른솔 약국,
    푸른솔약국), most Chinese and Japanese records have none, and a sequence is shorter without them.

    >>> place_tokens("Ufer 3 <PAD> 書店 <PAD> 51")
    ['U', 'f', 'e', 'r', '3', '<PAD>', '書', '店', '<PAD>', '5', '1']
    """
    return _TOKEN.findall(text)
