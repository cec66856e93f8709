"""What the page "Themes" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
An article's sections are themes that somebody chose. Cluster the article's sentences by their vectors, as many
clusters as there are sections: **are the clusters the sections?** The thematic network learns, from other articles,
that sentences of one section are closer than those of its neighbours.

**k-means** moves centres; **Iclust** knows similarities only. At temperature 0 both try for the same figure, so that
Iclust's lead is a better search and not another idea. Heat melts clusters together, until one is left.

**Words**: the network weighs each word. Attention alone says little where frequent words have short vectors; the
*share* of the sentence's vector is attention times length.
"""
FORMULAS = (
    r"\text{loss} = 2\,\sigma(d^+ - d^-), \qquad v = \sum_t a_t h_t,\quad a = \text{softmax}(u\cdot\tanh(W h_t + b))",
    r"\text{Iclust: } \max\ \langle s\rangle - T\, I(C; i), \qquad \langle s\rangle = \sum_C P(C)\, s(C)",
    r"P(C\mid i) \propto P(C)\, e^{[2 s(C; i) - s(C)]/T}",
    r"\text{share of word } t = a_t \lVert h_t\rVert \,\big/\, \sum_s a_s \lVert h_s \rVert",
)
RIBBON = (
    "A cell is a sentence, its number the section or the cluster matched with that section. A grey frame: the "
    "cluster is not the one of the section. The dotted lines are where sections end."
)
CLUSTERS_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import section_ribbon
from labkit.methods import load as load_run
from labkit.thematic.sections import sectioned, themes

corpus = load({corpus!r})
{method}
article = sectioned(corpus.part({split!r}).articles[{row}])
found = themes(article, method.encode(list(article.sentences)), temperature={temperature})
print(found.kmeans.agreement, found.iclust.agreement, sep="\\n")
section_ribbon(found).show()
"""
WORDS_CODE = """\
from labkit.corpora import load
from labkit.figures import attention_bars
from labkit.methods import load as load_run
from labkit.thematic.sections import sectioned

corpus = load({corpus!r})
{method}
article = sectioned(corpus.part({split!r}).articles[{row}])
attention_bars(method.attend(article.sentences[{sentence}])).show()
"""
ALL_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import agreement_of_articles
from labkit.methods import load as load_run
from labkit.thematic.sections import section_agreement

corpus = load({corpus!r})
{method}
found = section_agreement(method, corpus.part({split!r}), restarts=3)
print(found)
agreement_of_articles(found, {figure!r}).show()
"""
