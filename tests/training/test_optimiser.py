"""Adam in two halves against torch's Adam on everything, and gradients measured whether dense or sparse."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from labkit.training.loop import Adam, clip_, gradient_length


class Table(nn.Module):
    def __init__(self, sparse: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(6, 3, sparse=sparse)
        self.out = nn.Linear(3, 2)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        return self.out(self.words(numbers)).pow(2).sum()


@pytest.mark.parametrize("sparse", [True, False])
def test_steps_are_those_of_torch(sparse: bool) -> None:
    """Where every word is read at every step, the sparse half makes the dense steps."""
    ours, theirs = Table(sparse), Table(False)
    adam, reference = Adam(ours, 0.01), torch.optim.Adam(theirs.parameters(), lr=0.01)
    for _ in range(5):
        for model, optimiser in ((ours, adam), (theirs, reference)):
            (optimiser.clear if isinstance(optimiser, Adam) else optimiser.zero_grad)()
            model(torch.arange(6)).backward()
            optimiser.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-5)


def test_the_sparse_half_leaves_unread_words_alone() -> None:
    model = Table(True)
    before = model.words.weight.detach().clone()
    adam = Adam(model, 0.1)
    model(torch.tensor([1, 1, 4])).backward()
    adam.step()
    moved = (model.words.weight != before).any(1)
    assert moved.tolist() == [False, True, False, False, True, False]


@pytest.mark.parametrize("sparse", [True, False])
def test_length_and_clipping_see_every_gradient(sparse: bool) -> None:
    model, dense = Table(sparse), Table(False)
    numbers = torch.tensor([1, 1, 4])  # a word read twice: its two gradients are one
    for found in (model, dense):
        found(numbers).backward()
    expected = torch.cat([parameter.grad.flatten() for parameter in dense.parameters()]).norm()
    length = gradient_length(model)
    torch.testing.assert_close(length, expected)
    clip_(model, length, 0.5)
    torch.testing.assert_close(gradient_length(model), torch.tensor(0.5))
    clip_(model, gradient_length(model), 2.0)
    torch.testing.assert_close(gradient_length(model), torch.tensor(0.5))  # short ones stay


@pytest.mark.parametrize("sparse", [True, False])
def test_state_goes_out_and_comes_back(sparse: bool) -> None:
    straight, broken = Table(sparse), Table(sparse)
    one, two = Adam(straight, 0.05), Adam(broken, 0.05)
    batches = [torch.tensor(rows) for rows in ([0, 1], [2, 3], [1, 5], [0, 2])]
    for number, batch in enumerate(batches):
        if number == 2:
            state = two.state()
            two = Adam(broken, 0.05)
            two.restore(state)
        for model, optimiser in ((straight, one), (broken, two)):
            optimiser.clear()
            model(batch).backward()
            optimiser.step()
    for mine, other in zip(straight.parameters(), broken.parameters(), strict=True):
        assert torch.equal(mine, other)
