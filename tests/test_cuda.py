"""On a CUDA device: a training learns what it learns on the CPU, and a large batch never becomes a square matrix.

`python -m benchmarks gpu` compares every loss, miner and method.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labkit.corpora import load
from labkit.pairs import streaming_locality
from labkit.sentpwnet.method import SentPWNet
from labkit.sentpwnet.settings import PairSettings

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
SENTENCES = ["Is it here?", "Where is the station?", "How old is the bridge?"]


def trained(device: str, amp: bool) -> SentPWNet:
    corpus = load("questions")
    rows = [row for row, split in enumerate(corpus.splits) if split != "test"][:320]
    settings = PairSettings(epochs=2, size=24, dimension=24, dropout=0.0, device=device, amp=amp)
    method = SentPWNet(settings)
    method.fit(corpus.take(rows))
    return method


@pytest.mark.parametrize(("amp", "bound"), [(False, 1e-4), (True, 5e-2)])
def test_a_training_learns_what_it_learns_on_the_cpu(amp: bool, bound: float) -> None:
    here, there = trained("cpu", False), trained("cuda", amp)
    np.testing.assert_allclose(there.history.column("loss"), here.history.column("loss"), rtol=bound)
    np.testing.assert_allclose(there.encode(SENTENCES), here.encode(SENTENCES), atol=bound)


def test_a_large_batch_never_becomes_a_square_matrix() -> None:
    rows = 32_768
    torch.cuda.reset_peak_memory_stats()
    X = torch.randn(rows, 64, generator=torch.Generator().manual_seed(0)).cuda().requires_grad_()
    streaming_locality(X, torch.arange(rows) // 8).backward()
    assert X.grad is not None
    assert X.grad.isfinite().all()
    assert torch.cuda.max_memory_allocated() < rows * rows  # a quarter of what the similarities alone would take
