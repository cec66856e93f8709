"""What the pages keep between reruns, for all visitors: one module of what all pages need, and one for each page.

keeping   bounds how much is kept, in bytes over all of them
inputs    corpora and uploads, methods fitted or opened      clusters         pictures and their figures
pairs     batches                                            film             rows and rule
themes    the clusters of an article                         compare          what runs are worth
neighbourhoods   sentences embedded anew                     paraphrases      groups, P-coherence

A function gets all its inputs as arguments; nobody writes to its result. Arguments with a leading underscore are not
compared: the key beside them stands for them. `labkit.methods` takes seconds to import, so it is imported where it is
used: the first page does not wait for it.
"""

from cached.clusters import (
    all_sentences,
    arranged,
    classes,
    embedded_rows,
    journeyed,
    made_before,
    picture_process,
    remember_made,
    sentences,
    separated,
)
from cached.compare import baseline_result, paper_tables, run_result
from cached.film import film_matrix, film_rows, film_rule, some_sentences
from cached.inputs import (
    Opened,
    corpus,
    cosines,
    digest,
    embedded,
    fitted,
    given,
    measured,
    opened_run,
    record,
    trained,
    unfitted,
    uploaded,
)
from cached.neighbourhoods import changed, compared, embedded_anew, structure_of, tried
from cached.pairs import batch, similarities
from cached.paraphrases import companions, group_plane, paraphrase_groups
from cached.themes import article_means, article_themes, article_vectors, section_agreement

__all__ = [
    "Opened",
    "all_sentences",
    "arranged",
    "article_means",
    "article_themes",
    "article_vectors",
    "baseline_result",
    "batch",
    "changed",
    "classes",
    "companions",
    "compared",
    "corpus",
    "cosines",
    "digest",
    "embedded",
    "embedded_anew",
    "embedded_rows",
    "film_matrix",
    "film_rows",
    "film_rule",
    "fitted",
    "given",
    "group_plane",
    "journeyed",
    "made_before",
    "measured",
    "opened_run",
    "paper_tables",
    "paraphrase_groups",
    "picture_process",
    "record",
    "remember_made",
    "run_result",
    "section_agreement",
    "sentences",
    "separated",
    "similarities",
    "some_sentences",
    "structure_of",
    "trained",
    "tried",
    "unfitted",
    "uploaded",
]
