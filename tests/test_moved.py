"""What notebooks, README and the app's code boxes of 0.1 imported is imported as it was."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from labkit.moved import MOVED

#: every import of ours in notebooks/src, README.md, CONTRIBUTING.md and the app's code boxes at 0.1
IMPORTED = """
labkit: METHODS
labkit.adapters.evaluators: AsModel
labkit.adapters.mteb: AsEncoder
labkit.articles: Plan triplets_and_funnel
labkit.check: answer hint predict progress recall solve
labkit.check.trying: array
labkit.corpora: CORPORA load
labkit.corpora.classes: components
labkit.corpora.location: s2_code
labkit.corpora.points: class_order points
labkit.course.ablation: again kept
labkit.course.coverage: COURSE two_scores
labkit.course.plans: PLANS
labkit.demonstrations: DEMONSTRATIONS Origin pictured standing
labkit.difficulty: difficulty
labkit.encoders: inside
labkit.evaluation: best_threshold hit_at iclust inter_intra kmeans leader pair_classification
labkit.explore: Slider explore show
labkit.figures: agreement_of_articles attention_bars chosen_bars clusters clusters_over_epochs coherence_hills
    decoder_curves descents explained_rows explained_words kept_heatmap leader_bars loss_curves mutual_rule_curves
    order_counts order_slopes ours_beside_paper paraphrase_groups pull_and_push rebuilt row_words section_ribbon
    seed_dots similarity_heatmap similarity_histogram spectrum star tangent_and_arc three_encoders threshold_curves
    training_curves tried_curves triplet_losses two_ways unrolled weight_curves weight_heatmap weights_over_epochs
    word_pairs
labkit.film: solvers
labkit.film.objective: TripletHinge
labkit.film.rows: effective_words effects readable row_stability word_rows
labkit.film.rule: mutual_rule
labkit.film.sources: source_of
labkit.film.stiefel: Step bb_length cayley_woodbury drift minimise random_point stationarity
labkit.film.tfidf: fitted_vectorizer
labkit.film.triplets: Recipe
labkit.film.walking: both_ways walk
labkit.history: History
labkit.jobs: history
labkit.journey: in_classes_of journey
labkit.leaderboard: Result leaderboard
labkit.locally_linear: LocalityPreserving
labkit.methods: METHODS Method load
labkit.methods.contract: unit
labkit.methods.matrix: Matrix MatrixSettings
labkit.methods.sbert_lp: SbertLp SbertLpSettings
labkit.methods.sentpwnet: PairSettings
labkit.pairs: contrastive informative locality pair_weights soft_triplet weight_parts
labkit.papers.beside: beside
labkit.papers.published.pthought: LAMBDAS OBJECTIVE
labkit.papers.recipes.cross: CrossSettings PairReader
labkit.papers.stored: stored
labkit.paraphrase: Search
labkit.paraphrase.companions: companions
labkit.paraphrase.planes: handful plane
labkit.paraphrase.search: Search
labkit.paraphrase.task: groups_of
labkit.paraphrase.writing: described
labkit.progress: in_notebook
labkit.projection: pca project tsne
labkit.reader: reader_and_vectors
labkit.reembedding: around changed compared structure tried
labkit.runs: read_record
labkit.scores: score
labkit.sweeps: Grid
labkit.text: words
labkit.thematic.clustering: section_agreement
labkit.thematic.losses: ratio
labkit.thematic.sections: sectioned themes
labkit.vectors: cooccurrence ppmi ppmi_vectors
labkit.weighing: anchor_curves cosines epoch_weights examine lone_curves one_triplet sentence_batch
"""
BEFORE = dict(line.split(": ") for line in IMPORTED.replace("\n    ", " ").strip().split("\n"))


@pytest.mark.parametrize("path", BEFORE)
def test_an_import_of_earlier_is_answered(path: str) -> None:
    module = importlib.import_module(path)
    for name in BEFORE[path].split():
        assert hasattr(module, name) or importlib.import_module(f"{path}.{name}"), f"from {path} import {name}"


@pytest.mark.parametrize("path", MOVED)
def test_a_path_that_moved_has_names_of_its_new_modules(path: str) -> None:
    old = importlib.import_module(f"labkit.{path}")
    for module in MOVED[path].split():
        new = importlib.import_module(f"labkit.{module}")
        names = [name for name in vars(new) if not name.startswith("_")]
        assert names
        assert all(hasattr(old, name) for name in names)


def test_a_name_that_is_nowhere_is_refused_as_ever() -> None:
    for told in ("from labkit.weighing import nothing", "import labkit.nothing", "import labkit.check.nothing"):
        done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
        assert done.returncode == 1
        assert "ImportError" in done.stderr or "ModuleNotFoundError" in done.stderr


def test_nothing_is_listed_that_is_there() -> None:
    known = {name for name in sys.modules if name.startswith("labkit")}
    assert not [
        path for path in MOVED if f"labkit.{path}" in known and getattr(sys.modules[f"labkit.{path}"], "__file__", None)
    ]
