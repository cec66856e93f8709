"""What the page "Paraphrases" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
P-thought **reads** a sentence into a vector with one recurrent network (GRU), and from that vector two others
**write**: one the sentence itself, one a paraphrase of it. What both need must be in the vector, so paraphrases come to
lie together.

**P-coherence** is the mean cosine of paraphrases. It is 1 for an encoder that gives all sentences one vector, so it
stands here only beside four companions: the cosine of *different* groups, the difference of the two, how often the
nearest sentence is a paraphrase, and a distance that does not depend on the cosine.
"""
FORMULAS = (
    r"L = (1-\lambda)\, \ell_{\text{auto}} + (1+\lambda)\, \ell_{\text{paraphrase}}",
    r"\text{P-coherence} = \frac{1}{|G|}\sum_{g\in G} \frac{1}{\binom{|g|}{2}} \sum_{a<b\in g} \cos(v_a, v_b)",
    r"\text{lift} = \text{P-coherence} - \text{mean cosine of different groups}",
    r"\text{greedy: the likeliest next word.}\quad \text{beam: rank by } \log p \,/\, \text{words}^{0.7}",
)
DECODERS = {"auto": "The sentence itself (auto)", "paraphrase": "A paraphrase of it"}
GROUPS = (
    "Each letter is a group of sentences that mean the same, none of them seen in training. A plane shows a part of "
    "the space only: the figures of *P-coherence* are measured in all its dimensions."
)
PLANE_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import paraphrase_groups
from labkit.methods import load as load_run
from labkit.pthought.view import handful, plane
from labkit.pthought.task import groups_of

corpus = load({corpus!r})
{method}
shown = handful(groups_of(corpus.part("test")), count={count}, seed={seed})
paraphrase_groups(shown, plane(method.encode(list(shown.texts)), {how!r})).show()
"""
COHERENCE_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import coherence_hills
from labkit.methods import load as load_run
from labkit.pthought.view import companions
from labkit.pthought.task import groups_of

corpus = load({corpus!r})
{method}
groups = groups_of(corpus.part("test"))
texts = [text for group in groups for text in group]
found = companions(method.encode(texts), [number for number, group in enumerate(groups) for _ in group])
print(found.figures)
coherence_hills(found).show()
"""
WRITE_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.methods import load as load_run
from labkit.pthought.writing import Search
from labkit.pthought.writing import described

corpus = load({corpus!r})
{method}
sentence = "A man rides a horse along the beach."
for search in (None, Search(width={width})):  # greedy, beam
    print(described(method.paraphrase([sentence], search=search)[0]))
"""
