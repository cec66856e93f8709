"""A tiny sentence-transformers model with random weights, created in a second."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog bird child sleeps jumps looks on over at sofa road lake wall"


@cache
def tiny_sbert() -> str:
    """The folder of a model with 16 columns; the test is skipped without sentence-transformers."""
    pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
    return make_tiny_sbert(Path(tempfile.mkdtemp(prefix="tiny-sbert-")), seed=0)


#: model type -> its settings that differ from the common ones
FAMILIES: dict[str, dict[str, int]] = {
    "bert": {},
    "distilbert": {"dim": 16, "hidden_dim": 16, "n_heads": 2},
    "electra": {"embedding_size": 8},
    "albert": {"embedding_size": 8},
    "roberta": {"pad_token_id": 0},
    "xlm-roberta": {"pad_token_id": 0},
    "mpnet": {"pad_token_id": 0},
    "modernbert": {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3},
}


def make_tiny_sbert(folder: Path, *, seed: int, layers: int = 1, family: str = "bert") -> str:
    """Create such a model in this folder and return its path."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import AutoConfig, AutoModel, BertTokenizer

    (folder / "bert").mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join([*WORDS.split(), *"abcdefghijklmnopqrstuvwxyz", "##s"]))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        sizes = {
            "vocab_size": 64, "hidden_size": 16, "num_hidden_layers": layers, "num_attention_heads": 2,
            "intermediate_size": 16, "max_position_embeddings": 34, "initializer_range": 0.5,
        }  # fmt: skip
        config = AutoConfig.for_model(family, **{**sizes, **FAMILIES[family]})
        AutoModel.from_config(config).save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"), max_seq_length=32)
    SentenceTransformer(modules=[words, Pooling(16)], device="cpu").save(str(folder / "model"))
    return str(folder / "model")
