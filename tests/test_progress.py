"""Progress that is drawn in a notebook."""

from __future__ import annotations

from typing import Any

import IPython.display
import pytest

from labkit.progress import in_notebook


class Output:
    """A cell's output: all that was ever put there, in order."""

    def __init__(self) -> None:
        self.places: list[list[str]] = []

    def display(self, forms: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        place = [forms["text/plain"]]
        self.places.append(place)

        class Handle:
            def update(self, forms: dict[str, str], *, raw: bool) -> None:
                place.append(forms["text/plain"])

        return Handle()


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    made = Output()
    monkeypatch.setattr(IPython.display, "display", made.display)
    return made


def test_a_bar_is_drawn_over_itself_and_its_last_state_stays(output: Output) -> None:
    with in_notebook("cnn", every=0.0) as shown:
        shown(0, None, "word vectors")
        for done in range(1, 5):
            shown(done, 4, f"epoch {done} of 4")
    (place,) = output.places
    assert place[0] == f"{'░' * 20} cnn, word vectors"
    assert place[2].startswith(f"{'█' * 10}{'░' * 10} cnn, epoch 2 of 4, ")
    assert place[2].endswith(" s left")
    assert place[-1] == f"{'█' * 20} cnn, epoch 4 of 4"  # no time: two makings of a notebook are alike


def test_a_bar_is_not_drawn_at_every_step(output: Output) -> None:
    with in_notebook(every=60.0) as shown:
        for done in range(1000):
            shown(done, 1000, "steps")
    (place,) = output.places
    assert len(place) == 2


def test_what_says_nothing_shows_nothing(output: Output) -> None:
    with in_notebook():
        pass
    assert output.places == []


def test_what_stops_half_way_shows_how_far_it_was(output: Output) -> None:
    def stopped() -> None:
        with in_notebook("x") as shown:
            shown(1, 2, "half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert output.places[0][-1] == f"{'█' * 10}{'░' * 10} x, half"
