"""How fast does FILM's solver get down, against general optimisers on the same manifold with the same gradient?

    factorised   ours: the exact minimum of a first model, then L-BFGS over B
    l-bfgs       the same without the model               cayley-bb   the paper's, ours: the lesson
    cg           pymanopt's conjugate gradient on the Stiefel manifold
    adam         geoopt's RiemannianAdam there, with the best of several learning rates

All minimise the same F from the same start, with the same compiled products on one thread; theirs and cayley-bb see
it as a function of P with the best s. What is compared is CPU seconds until F is within 1e-3 of the lowest value that
any of them ever reaches, and that final value. `pip install pymanopt geoopt` brings the peers; without them their
rows say so.

    python -m benchmarks.film 2000 300 1.0      one table: sentences, features, margin
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.utils.extmath import randomized_svd

from benchmarks.machine import describe, fresh_process
from labkit.corpora.catalogue import EMBEDDED
from labkit.corpora.records import Pairs
from labkit.film import solvers, stiefel
from labkit.film.objective import TripletHinge
from labkit.film.solvers import Solution
from labkit.film.triplets import Recipe, fitted_vectorizer, source_of

PROBLEMS = ((2_000, 300, 1.0), (2_000, 300, 3.0), (20_000, 600, 1.0), (20_000, 600, 3.0))
DIMENSIONS = 50
NEAR = 1e-3
LIMIT = {2_000: 10.0, 20_000: 20.0}  # CPU seconds that each may take
RATES = (0.1, 0.3)
HEAD = "| optimiser | final F | CPU s to 1e-3 of the best | times slower than ours |\n| --- | --- | --- | --- |"


class Enough(Exception):
    """The time is up."""


@dataclass
class Clock:
    """When each value of F was first known: (CPU seconds, F) since the start."""

    start: float
    limit: float
    seen: list[tuple[float, float]]

    @classmethod
    def now(cls, limit: float) -> Clock:
        return cls(time.process_time(), limit, [])

    def note(self, value: float) -> None:
        self.seen.append((time.process_time() - self.start, value))
        if self.seen[-1][0] > self.limit:
            raise Enough

    @property
    def lowest(self) -> float:
        return min(value for _, value in self.seen)

    def until(self, goal: float) -> float:
        return next((seconds for seconds, value in self.seen if value <= goal), float("inf"))


@dataclass(frozen=True, eq=False)
class Clocked(TripletHinge):
    """The objective, noting what it gives on a clock."""

    clock: Clock | None = None

    def by_factor(self, B: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = super().by_factor(B)
        assert self.clock is not None
        self.clock.note(value)
        return value, gradient

    def by_stiefel(self, P: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        found = super().by_stiefel(P, s)
        assert self.clock is not None
        self.clock.note(found[0])
        return found


Contender = Callable[[Clocked, Solution], None]


def problem(sentences: int, rank: int, margin: float) -> tuple[TripletHinge, Solution]:
    """Questions as SVD features, and a random start with equal scales."""
    rows = list(EMBEDDED["questions"].stream(rows=round(1.1 * sentences)))
    columns = ([row[name] for row in rows] for name in ("text_a", "text_b", "label"))
    a, b, labels = columns
    source = source_of(Pairs(text_a=a, text_b=b, values=labels, splits="train"))
    triplets = source.triplets(Recipe())
    triplets = triplets[(triplets < sentences).all(axis=1)]
    X = fitted_vectorizer(source.texts[:sentences]).transform(source.texts[:sentences])
    V = np.ascontiguousarray(randomized_svd(X, rank, random_state=0)[0])
    objective = solvers.calibrated(TripletHinge.of(V, triplets, 1.0), DIMENSIONS, margin=margin)
    P = stiefel.random_point(rank, DIMENSIONS, seed=0)
    return objective, Solution(P, np.full(DIMENSIONS, solvers.closed_form(objective, DIMENSIONS).s.mean()))


def _factorised(objective: Clocked, start: Solution) -> None:
    solvers.factorised(objective, start, iterations=400, tolerance=1e-8)


def _lbfgs(objective: Clocked, start: Solution) -> None:
    solvers.factorised(objective, start, iterations=400, tolerance=1e-8)


def _cayley(objective: Clocked, start: Solution) -> None:
    solvers.cayley_bb(objective, start, iterations=300)


def _conjugate_gradient(objective: Clocked, start: Solution) -> None:
    import pymanopt

    manifold = pymanopt.manifolds.Stiefel(*start.P.shape)
    at = _Remembered(objective, start)

    @pymanopt.function.numpy(manifold)
    def cost(P: np.ndarray) -> float:
        return at(P)[0]

    @pymanopt.function.numpy(manifold)
    def gradient(P: np.ndarray) -> np.ndarray:
        return at(P)[1]

    given = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    optimiser = pymanopt.optimizers.ConjugateGradient(max_time=1e6, max_iterations=1000, verbosity=0)
    optimiser.run(given, initial_point=start.P.copy())


def _adam(rate: float) -> Contender:
    def run(objective: Clocked, start: Solution) -> None:
        import geoopt

        at = _Remembered(objective, start)
        P = geoopt.ManifoldParameter(torch.as_tensor(start.P.copy()), manifold=geoopt.EuclideanStiefel())
        optimiser = geoopt.optim.RiemannianAdam([P], lr=rate)
        while True:
            P.grad = torch.as_tensor(at.fresh(P.detach().numpy())[1])
            optimiser.step()

    return run


class _Remembered:
    """Value and gradient of the same P computed once: peers ask for them one by one."""

    def __init__(self, objective: Clocked, start: Solution) -> None:
        self._objective, self._s = objective, start.s
        self._P: np.ndarray | None = None

    def __call__(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        if self._P is None or not np.array_equal(P, self._P):
            value, gradient, self._s = self._objective.by_stiefel(P, self._s)
            self._P, self._found = P.copy(), (value, gradient)
        return self._found

    def fresh(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        """Off the manifold too, where the value counts for nothing: not noted."""
        value, gradient, s = TripletHinge.by_stiefel(self._objective, P, self._s)
        if stiefel.drift(P) < 1e-9:
            assert self._objective.clock is not None
            self._objective.clock.note(value)
            self._s = s
        return value, gradient


CONTENDERS: dict[str, Contender] = {
    "factorised (ours)": _factorised,
    "l-bfgs (ours)": _lbfgs,
    "cayley-bb (ours)": _cayley,
    "cg (pymanopt)": _conjugate_gradient,
    **{f"adam (geoopt, {rate:g})": _adam(rate) for rate in RATES},
}


def table(sentences: int, rank: int, margin: float) -> str:
    """One problem, every optimiser."""
    objective, start = problem(sentences, rank, margin)
    clocks: dict[str, Clock | str] = {}
    for name, run in CONTENDERS.items():
        clock = Clock.now(LIMIT.get(sentences, 30.0))
        clocked = Clocked(**{field: getattr(objective, field) for field in ("V", "M", "margins", "softness", "margin")})
        clocked = replace(clocked, clock=clock)
        try:
            with suppress(Enough):
                run(clocked, start)
            clocks[name] = clock
        except ModuleNotFoundError as missing:
            clocks[name] = f"needs `pip install {missing.name}`"
    known = [clock for clock in clocks.values() if isinstance(clock, Clock)]
    goal = min(clock.lowest for clock in known) * (1 + NEAR)
    ours = next(iter(known)).until(goal)
    lines = [f"n = {sentences}, r = {rank}, d = {DIMENSIONS}, margin {margin:g}", "", HEAD]
    for name, clock in clocks.items():
        if isinstance(clock, str):
            lines.append(f"| {name} | {clock} |  |  |")
            continue
        spent = clock.until(goal)
        reached = f"{spent:.2f} | {spent / ours:.1f}" if np.isfinite(spent) else f"not in {clock.seen[-1][0]:.0f} |"
        lines.append(f"| {name} | {clock.lowest:.6f} | {reached} |")
    return "\n".join(lines)


def main() -> str:
    """All problems, each in a process of its own on one thread."""
    tables = [fresh_process("benchmarks.film", *map(str, each)).strip() for each in PROBLEMS]
    return "\n\n".join([f"FILM's objective, one thread. {describe()}", *tables])


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(table(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
