"""How often does the interval of a threshold contain the threshold that is best for the true distributions?

Cosines of similar and of different pairs are drawn from known distributions, whose best threshold is found on a grid.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, norm

from labkit.evaluation.threshold import interval

CASES = {
    "same width": (norm(0.7, 0.15), norm(0.4, 0.15)),
    "different pairs wider": (norm(0.75, 0.1), norm(0.4, 0.2)),
    "far apart": (norm(0.85, 0.06), norm(0.3, 0.12)),
    "near": (norm(0.55, 0.2), norm(0.45, 0.2)),
    "skewed": (beta(8, 3), beta(3, 5)),
}
SIZES, SHARES, SAMPLES = (100, 400, 2_000), (0.5, 0.2), 500


def main() -> str:
    """One row for each pair of distributions and share of similar pairs, one column for each number of pairs."""
    random = np.random.default_rng(0)
    lines = [f"| distributions | {' | '.join(f'{size:,}' for size in SIZES)} |", "| --- |" + " ---: |" * len(SIZES)]
    grid = np.linspace(-1, 2, 300_001)
    for name, (same, other) in CASES.items():
        for share in SHARES:
            best = grid[np.argmax(share * same.sf(grid) + (1 - share) * other.cdf(grid))]
            cells = []
            for size in SIZES:
                held = 0
                for _ in range(SAMPLES):
                    labels = random.random(size) < share
                    drawn = (kind.rvs(size, random_state=random) for kind in (same, other))
                    scores = np.where(labels, *drawn)
                    low, high = interval(scores, labels)
                    # an interval that ends at the outermost score is unbounded there
                    held += (low <= best or low == scores.min()) and (best <= high or high == scores.max())
                cells.append(f"{held / SAMPLES:.3f}")
            lines.append(f"| {name}, {share:.0%} similar | {' | '.join(cells)} |")
    return "\n".join(lines)
