"""P-thought: training, losses, written sentences, the choice of an epoch, unknown words and unsuitable corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labkit.corpora import load
from labkit.corpora.records import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.evaluation import p_coherence
from labkit.evaluation.geometry import probe_figures
from labkit.pthought.batches import Paraphrases
from labkit.pthought.method import ParaphraseTask, PThought, PThoughtSettings, groups_of
from labkit.pthought.network import FORMS, objective
from labkit.pthought.writing import Search

SMALL: dict[str, Any] = {
    "epochs": 2, "patience": 0, "batch": 16, "hidden": 6, "decoder_hidden": 7, "dimension": 5, "device": "cpu",
}  # fmt: skip


def few(groups: int = 9) -> Corpus:
    corpus = load("captions")
    kept = [i for i, split in enumerate(corpus.splits) if split == "train"][: 5 * groups]
    return corpus.take([*kept, *[i for i, split in enumerate(corpus.splits) if split == "dev"][:20]])


def fitted(corpus: Corpus | None = None, seed: int = 0, **settings: Any) -> PThought:
    method = PThought(PThoughtSettings.of({**SMALL, **settings}))
    method.fit(few() if corpus is None else corpus, seed=seed)
    return method


def patterns() -> Groups:
    """Three scenes, each in three sentences that share only a filler word; each filler gives new groups."""
    says = {"a": ("red", "crimson", "scarlet"), "b": ("blue", "navy", "azure"), "c": ("green", "olive", "lime")}
    rows = [
        (f"{filler} {word}", f"{scene}{filler}", split)
        for split, fillers in (("train", "one two three four five six seven eight"), ("dev", "nine ten eleven"))
        for filler in fillers.split()
        for scene, words in says.items()
        for word in words
    ]
    texts, groups, splits = zip(*rows, strict=True)
    return Groups(name="patterns", texts=texts, groups=groups, splits=splits)


@pytest.mark.whole
@pytest.mark.parametrize("form", FORMS)
def test_each_form_learns_to_copy_and_to_paraphrase(form: str) -> None:
    method = fitted(
        patterns().part("train"), form=form, epochs=30, hidden=16, decoder_hidden=24, learning_rate=0.02,
        vectors="random", min_count=1, dimension=12,
    )  # fmt: skip
    found = method.paraphrase(["three crimson", "eight lime"])
    assert [each.written["auto"][0].text for each in found] == ["three crimson", "eight lime"]
    assert found[0].written["paraphrase"][0].text in ("three red", "three scarlet")
    assert found[1].written["paraphrase"][0].text in ("eight green", "eight olive")
    wide = method.paraphrase(["three crimson"], search=Search(width=3, max_length=10))[0].written["paraphrase"]
    assert {each.text for each in wide[:2]} == {"three red", "three scarlet"}
    assert wide[0].log_probability == pytest.approx(np.log(0.5), abs=0.3)  # both paraphrases are equally likely
    history = method.history  # without dev, the last epoch is kept
    assert history.column("l_auto")[-1] < 0.1 < 0.2 < history.column("l_para")[-1]


def test_the_loss_of_a_batch_against_equation_10() -> None:
    method = fitted(epochs=1)
    source = Paraphrases.of(groups_of(few().part("train")), max_length=50)
    task = ParaphraseTask(method, source, 0)
    batch = task.batches(1)[0]
    loss, note = task.loss(task.outputs(batch), batch)
    figures = note()
    vectors = torch.from_numpy(method.encode([source.texts[read] for read in batch[:, 0]]))
    losses = {}
    for name, side in (("auto", 0), ("paraphrase", 1)):
        rows = [method.reader.numbers(source.texts[row]) for row in batch[:, side]]
        tokens = sum(len(row) + 1 for row in rows)
        losses[name] = method.network.written(name, vectors, rows) / tokens
    torch.testing.assert_close(figures["l_auto"], losses["auto"].detach(), atol=1e-5, rtol=0)
    torch.testing.assert_close(figures["l_para"], losses["paraphrase"].detach(), atol=1e-5, rtol=0)
    torch.testing.assert_close(loss, objective(losses, method.settings.emphasis), atol=1e-5, rtol=0)
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = [float(unit[i] @ unit[j]) for i in range(len(unit)) for j in range(len(unit)) if i != j]
    assert float(figures["spread"]) == pytest.approx(np.std(cosines), abs=1e-5)


def test_the_best_epoch_on_dev_is_kept() -> None:
    method = fitted(epochs=3, emphasis=0.2)
    expected = ["epoch", "loss", "l_auto", "l_para", "spread", "gradient", "dev_lift"]
    assert method.history.columns == [*expected, *probe_figures(["a", "a"], np.eye(2))]
    for row in method.history.rows:
        assert row["loss"] == pytest.approx(0.8 * row["l_auto"] + 1.2 * row["l_para"], rel=1e-5)
    dev: Any = few().part("dev")
    found = p_coherence(method.encode(list(dev.texts)), dev.groups)
    assert found.lift == pytest.approx(max(method.history.column("dev_lift")), abs=1e-6)
    best = int(np.argmax(method.history.column("dev_lift"))) + 1
    np.testing.assert_allclose(method.snapshots.vectors[best], method.encode(list(method.snapshots.texts)), atol=1e-6)


@pytest.mark.parametrize(
    ("decoders", "column", "missing"), [("auto", "l_auto", "l_para"), ("paraphrase", "l_para", "l_auto")]
)
def test_one_decoder_alone(decoders: str, column: str, missing: str) -> None:
    method = fitted(decoders=decoders, emphasis=7)
    assert missing not in method.history.columns
    assert method.history.column("loss") == method.history.column(column)
    assert list(method.paraphrase(["a man"])[0].written) == [decoders]
    assert list(method.losses(few())) == [decoders]
    assert not any(
        name.startswith(f"decoders.{'auto' if decoders != 'auto' else 'paraphrase'}") for name in method._state()[0]
    )


def test_words_outside_training_are_read(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(
        "red 1 0 0\ncrimson 1 0.1 0\nblue 0 1 0\nruby 0.9 0.05 0\nsapphire 0 0.9 0\nnine 0 0 1\n"
    )
    method = fitted(patterns(), vectors=str(tmp_path / "v.txt"), min_count=1)
    near, far, nothing, other = method.encode(["one ruby", "one sapphire", "one qwv", "one xyz"])
    assert not np.allclose(near, far)
    assert np.array_equal(nothing, other)  # both are read as the unknown word
    found = method.paraphrase(["one ruby qwv"])[0]
    assert (found.unknown, found.expanded, found.cut) == (("qwv",), ("ruby",), 0)
    writable = method.reader.vocabulary.words[: method.writable]
    assert "ruby" not in writable
    assert all(word in writable for one in found.written.values() for word in one[0].text.split())
    method.save(tmp_path / "run")
    again = PThought().load(tmp_path / "run")
    assert again.paraphrase(["one ruby qwv"])[0] == found


def test_held_out_losses_by_hand() -> None:
    """The mean over all ordered dev pairs, per decoder, against one pair at a time."""
    method = fitted()
    corpus = few().take(range(45, 55))  # two groups of dev
    groups = groups_of(corpus.part("dev"))
    read = method.reader.numbers
    sums = {"auto": [0.0, 0], "paraphrase": [0.0, 0]}
    for group in groups:
        for a in group:
            vector = torch.from_numpy(method.encode([a]))
            for b in group:
                if a != b:
                    for name, text in (("auto", a), ("paraphrase", b)):
                        sums[name][0] += method.network.written(name, vector, [read(text)]).item()
                        sums[name][1] += len(read(text)) + 1
    found = method.losses(corpus)
    for name, (total, tokens) in sums.items():
        assert found[name] == pytest.approx(total / tokens, rel=1e-5)


# --- corpora -----------------------------------------------------------------------------------------------------


def test_groups_of_pairs_are_connected_components() -> None:
    rows = [("a b", "c d", 1.0), ("c d", "e f", 1.0), ("g h", "i j", 0.0)]
    a, b, values = zip(*rows, strict=True)
    corpus = Pairs(name="mine", text_a=a, text_b=b, values=values, splits="train")
    assert sorted(map(sorted, groups_of(corpus))) == [["a b", "c d", "e f"], ["g h"], ["i j"]]


def test_skipped_groups_and_truncated_sentences_are_reported() -> None:
    texts = ["a b c d", "a c", "b a", "lonely", "a word " * 100]
    corpus = Groups(name="mine", texts=texts, groups=["x", "x", "x", "y", "x"])
    with pytest.warns(UserWarning, match="1 groups"), pytest.warns(UserWarning, match="1 sentences"):
        method = fitted(corpus, epochs=1, min_count=1, vectors="random")
    assert method.paraphrase(["a b " * 100])[0].cut == 150


@pytest.mark.parametrize(
    "corpus",
    [
        Labelled(name="mine", texts=["a", "b"], labels=["x", "x"]),
        Triplets(name="mine", anchors=["a"], positives=["b"], negatives=["c"]),
        Pairs(name="mine", text_a=["a"], text_b=["b"], values=[3.0], graded=True),
    ],
)
def test_corpora_without_paraphrases(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="corpus 'mine'"):
        fitted(corpus)


def test_invalid_arguments() -> None:
    for emphasis in (0, 1):
        with pytest.raises(ValueError, match="emphasis"):
            PThoughtSettings(emphasis=emphasis)
        assert PThoughtSettings(emphasis=emphasis, decoders="auto").emphasis == emphasis
    method = fitted(epochs=1, decoders="auto")
    for sentences in ("one", ["a", " "], [None]):
        with pytest.raises(ValueError, match="sentences"):
            method.paraphrase(sentences)
