"""How fast are FILM's solvers, compared with general optimisers on the same manifold with the same gradient?

    l-bfgs       ours: L-BFGS over B                 cayley-bb   ours: the Cayley steps of the paper
    cg           pymanopt's conjugate gradient on the Stiefel manifold
    adam         geoopt's RiemannianAdam on it, with each of two learning rates

All minimise the same F from the same start, with the same compiled products on one thread. All but l-bfgs see F as a
function of P with the best s. Compared are the final value and the CPU seconds until F is within 1e-3 of the lowest
value that any optimiser reaches. Without pymanopt and geoopt (`pip install pymanopt geoopt`), their rows say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

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
LIMIT = {2_000: 10.0, 20_000: 20.0}  # CPU seconds for each optimiser
RATES = (0.1, 0.3)
HEAD = "| optimiser | final F | CPU s to 1e-3 of the best | times slower than l-bfgs |\n| --- | --- | --- | --- |"


class Clock:
    """The values of F in the order of their evaluation, each with the CPU seconds since the start."""

    def __init__(self, limit: float) -> None:
        self.start, self.limit = time.process_time(), limit
        self.seen: list[tuple[float, float]] = []

    def note(self, value: float) -> None:
        self.seen.append((time.process_time() - self.start, value))
        if self.seen[-1][0] > self.limit:
            raise TimeoutError

    @property
    def lowest(self) -> float:
        return min(value for _, value in self.seen)

    def until(self, goal: float) -> float:
        """Seconds until F was at most `goal`; infinite if it never was."""
        return next((seconds for seconds, value in self.seen if value <= goal), float("inf"))


@dataclass(frozen=True, eq=False)
class Clocked(TripletHinge):
    """The objective; each of its values is noted on a clock."""

    clock: Clock

    def by_factor(self, B: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = super().by_factor(B)
        self.clock.note(value)
        return value, gradient

    def by_stiefel(self, P: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        found = super().by_stiefel(P, s)
        self.clock.note(found[0])
        return found


Contender = Callable[[Clocked, Solution], object]


def problem(sentences: int, rank: int, margin: float) -> tuple[TripletHinge, Solution]:
    """An objective on SVD features of questions, and a random start with equal scales."""
    rows = list(EMBEDDED["questions"].stream(rows=round(1.1 * sentences)))
    a, b, labels = ([row[name] for row in rows] for name in ("text_a", "text_b", "label"))
    source = source_of(Pairs(text_a=a, text_b=b, values=labels, splits="train"))
    triplets = source.triplets(Recipe())
    triplets = triplets[(triplets < sentences).all(axis=1)]
    X = fitted_vectorizer(source.texts[:sentences]).transform(source.texts[:sentences])
    V = np.ascontiguousarray(randomized_svd(X, rank, random_state=0)[0])
    objective = solvers.calibrated(TripletHinge.of(V, triplets, 1.0), DIMENSIONS, margin=margin)
    P = stiefel.random_point(rank, DIMENSIONS, seed=0)
    return objective, Solution(P, np.full(DIMENSIONS, solvers.closed_form(objective, DIMENSIONS).s.mean()))


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
            P.grad = torch.as_tensor(at.fresh(P.detach().numpy()))
            optimiser.step()

    return run


class _Remembered:
    """The objective as a function of P; the last P is not evaluated twice, as peers ask separately for the gradient."""

    def __init__(self, objective: Clocked, start: Solution) -> None:
        self._objective, self._s = objective, start.s
        self._P: np.ndarray | None = None

    def __call__(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        if self._P is None or not np.array_equal(P, self._P):
            value, gradient, self._s = self._objective.by_stiefel(P, self._s)
            self._P, self._found = P.copy(), (value, gradient)
        return self._found

    def fresh(self, P: np.ndarray) -> np.ndarray:
        """The gradient; the value is noted only on the manifold, because elsewhere it can be below the minimum."""
        value, gradient, s = TripletHinge.by_stiefel(self._objective, P, self._s)
        if stiefel.drift(P) < 1e-9:
            self._objective.clock.note(value)
            self._s = s
        return gradient


CONTENDERS: dict[str, Contender] = {
    "l-bfgs (ours)": partial(solvers.factorised, iterations=400, tolerance=1e-8),
    "cayley-bb (ours)": partial(solvers.cayley_bb, iterations=300),
    "cg (pymanopt)": _conjugate_gradient,
    **{f"adam (geoopt, {rate:g})": _adam(rate) for rate in RATES},
}


def table(sentences: int, rank: int, margin: float) -> str:
    """The table of one problem: one row for each optimiser."""
    o, start = problem(sentences, rank, margin)
    clocks: dict[str, Clock] = {}
    missing: list[str] = []
    for name, run in CONTENDERS.items():
        clock = Clock(LIMIT.get(sentences, 30.0))
        try:
            with suppress(TimeoutError):
                run(Clocked(o.V, o.M, o.margins, o.softness, o.margin, clock), start)
            clocks[name] = clock
        except ModuleNotFoundError as error:
            missing.append(f"| {name} | needs `pip install {error.name}` |  |  |")
    goal = min(clock.lowest for clock in clocks.values()) * (1 + NEAR)
    ours = next(iter(clocks.values())).until(goal)
    lines = [f"n = {sentences}, r = {rank}, d = {DIMENSIONS}, margin {margin:g}", "", HEAD]
    for name, clock in clocks.items():
        spent = clock.until(goal)
        reached = f"{spent:.2f} | {spent / ours:.1f}" if np.isfinite(spent) else f"not in {clock.seen[-1][0]:.0f} |"
        lines.append(f"| {name} | {clock.lowest:.6f} | {reached} |")
    return "\n".join([*lines, *missing])


def main() -> str:
    """The tables of all problems, each from its own process on one thread."""
    tables = [fresh_process(table, *each) for each in PROBLEMS]
    return "\n\n".join([f"FILM's objective, one thread. {describe()}", *tables])
