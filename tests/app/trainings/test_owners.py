"""Whose a run is: written down and read again, a damaged record, and one whose run is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainings.owners import OWNERS, Owned, all_owned, owned, write_owned


def test_what_is_noted_is_read_again_and_goes_with_the_run(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name / "deep").mkdir(parents=True)
    (tmp_path / "one" / "deep" / "file").write_bytes(bytes(1_000))
    one, two = Owned(tmp_path / "one", "a"), Owned(tmp_path / "two", "b", True)
    for run in (one, two):
        write_owned(run)
    assert [owned(tmp_path / name) for name in ("one", "two", "three")] == [one, two, None]
    assert all_owned(tmp_path) == [one, two]
    assert one.size - two.size >= 1_000
    (tmp_path / "two" / "deep").rmdir()
    (tmp_path / "two").rmdir()
    assert all_owned(tmp_path) == [one]
    (tmp_path / "two").mkdir()  # another run of this name is nobody's
    assert owned(tmp_path / "two") is None


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b"null", b'{"owner": "a"}', b"\xff", b"[" * 100_000])
def test_a_damaged_record_shares_nothing(tmp_path: Path, record: bytes) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / OWNERS).mkdir(parents=True)
    (tmp_path / OWNERS / "one.json").write_bytes(record)
    assert owned(tmp_path / "one") == Owned(tmp_path / "one", "", False)
