"""A student's answer as numbers, whatever it came as: a number, a list, an array, a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch import Tensor


def close(answer: Any, right: Any, tolerance: float = 1e-5) -> bool:
    """Whether a number, array or tensor is the right one: same shape, each entry to the tolerance, and finite alike."""
    found, wanted = array(answer), array(right)
    return found.shape == wanted.shape and bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance))


def array(answer: Any) -> np.ndarray:
    """A float64 array of a number, a list, an array or a tensor; a ValueError with a plain word if it is none."""
    if isinstance(answer, Tensor):
        answer = answer.detach().cpu().numpy()
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"a {type(answer).__name__} came, numbers were expected") from None


def number(answer: Any) -> float:
    """One number."""
    found = array(answer)
    if found.size != 1 or math.isnan(found.item()):
        raise ValueError(f"one number was expected, and {answer!r} came")
    return float(found.item())
