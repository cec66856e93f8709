"""What was imported stays to the end, and the garbage collector need not walk through it again and again.

One of its full rounds over torch, plotly and the rest would stop all visitors for a third of a second.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle(modules: int) -> None:
    """Called after each page with the number of modules that are loaded: once for each number, what is there is left
    out of all further rounds. What nobody refers to any more still goes at once."""
    gc.freeze()
