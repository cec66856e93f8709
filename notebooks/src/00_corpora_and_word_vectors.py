# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Corpora and word vectors
#
# *Time: 15 minutes. You need: a little Python, and what a dot product is.*
#
# Everything in this lab begins with sentences and a question: **which of them mean the same?**
# Here you meet the sentences, and build the simplest vectors that know something about words: those made from
# nothing but which words stand near which. At the end you will know
#
# - what the shapes of a corpus are (labelled sentences, pairs, groups, articles),
# - how counts become *pointwise mutual information*, and how that becomes vectors,
# - how far these vectors get without ever seeing a label, and where they fail.

# %%
import numpy as np

from labkit.corpora import CORPORA, load
from labkit.corpora.points import points
from labkit.difficulty import difficulty
from labkit.figures import clusters, similarity_histogram
from labkit.projection import tsne
from labkit.text import words
from labkit.vectors import cooccurrence, ppmi, ppmi_vectors

for name, entry in CORPORA.items():
    if entry.kind == "embedded":
        print(f"{name:12} {entry.shape:9} {entry.rows:6,} rows   {entry.summary}")

# %% [markdown]
# ## 1. Read before you count
#
# `questions` holds pairs of questions. A person (here: the rules that made them) said whether both ask the same thing.
#
# **Predict.** Read the eight pairs. Could you tell the label from the words the two have in common?

# %%
questions = load("questions")
for row in list(questions.part("train").rows())[:8]:
    print(f"{row['label']}  [{row['kind']}]\n   {row['text_a']}\n   {row['text_b']}")

# %% [markdown]
# ## 2. From neighbours to numbers
#
# *You shall know a word by the company it keeps* (J. R. Firth, 1957). So count: how often does word $j$ stand near word
# $i$? A neighbour at distance $t$ counts $1/t$, within ten words and never across two sentences. Three short
# sentences show the whole of it.

# %%
toy = [words(text) for text in ("the cat sleeps", "the dog sleeps", "the dog barks")]
names = sorted({word for sentence in toy for word in sentence})
number = {word: i for i, word in enumerate(names)}
counts = cooccurrence([[number[word] for word in sentence] for sentence in toy], len(names))
print("         " + " ".join(f"{name:>7}" for name in names))
for name, row in zip(names, counts.toarray(), strict=True):
    print(f"{name:>8} " + " ".join(f"{value:7.1f}" for value in row))

# %% [markdown]
# `the` is near everything, which says little about anything. So ask of each pair of words: how much **more** often do
# they meet than they would by chance?
#
# $$\mathrm{PPMI}(i, j) = \max\Big(0,\ \log \frac{p(i, j)}{p(i)\,p(j)}\Big)$$
#
# The $p$ are shares of all counts. (Contexts are counted to the power 0.75, which keeps rare words from looking
# more telling than they are: Levy, Goldberg and Dagan, 2015.)

# %%
for name, row in zip(names, ppmi(counts).toarray(), strict=True):
    print(f"{name:>8} " + " ".join(f"{value:7.2f}" for value in row))

# %% [markdown]
# A row of this table already is a vector for a word: as long as the vocabulary, and mostly zero. The truncated
# singular value decomposition keeps the directions in which the rows differ most. That is all of `ppmi_vectors`.
#
# **Predict.** Made from the training sentences of `captions`, which words will stand nearest to *dog*? To *red*?

# %%
captions = load("captions")
vectors = ppmi_vectors([words(text) for text in captions.part("train").sentences()], dimension=100)
for word in ("dog", "red", "kitchen", "two"):
    print(f"{word:8}", ", ".join(f"{near} {cosine:.2f}" for near, cosine in vectors.nearest(word, 6)))

# %% [markdown]
# Look closely: near means *used in the same places*, not *meaning the same*. Colours stand near other colours, though red
# is not blue. Keep that in mind for section 4.
#
# ## 3. From words to sentences
#
# The simplest vector of a sentence is the mean of its words' vectors. Each colour below is one scene that five people
# described; the vectors have not seen which caption belongs to which scene.

# %%
shown = points(captions.part("test"), classes=10)
clusters(tsne(vectors.mean(shown.texts)), shown)

# %% [markdown]
# ## 4. Where it fails
#
# Back to the questions. For each pair of the test split: the cosine of the two mean vectors. If the two hills were
# apart, a threshold between them would solve the task.

# %%
train = [words(text) for text in questions.part("train").sentences()]
vectors = ppmi_vectors(train, dimension=100)
test = questions.part("test")
a, b = vectors.mean(test.text_a), vectors.mean(test.text_b)
cosine = (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
similarity_histogram(cosine, test.labels)

# %% [markdown]
# Which pairs fool it? The kinds tell:

# %%
kinds = np.array(test.extra["kind"])
for kind in sorted(set(kinds)):
    rows = kinds == kind
    print(f"{kind:28} {rows.sum():5} pairs, label {test.labels[rows].mean():.0f}, mean cosine {cosine[rows].mean():.2f}")

# %% [markdown]
# A mean forgets the order of words, and a vector made of neighbourhoods puts opposites side by side. This is what the
# methods of this lab have to learn from labels. How much there is to learn, corpus by corpus:

# %%
for name, entry in CORPORA.items():
    if entry.kind == "embedded":
        print(f"{name:12} {difficulty(load(name))}")

# %% [markdown]
# ## Your turn
#
# 1. Make the vectors of section 2 with `window=1` and with `window=10`. Which neighbours of *dog* change, and why?
# 2. Write six sentences of your own about two things, put them into a CSV with the columns `text,label`, and draw them:
#    `load("mine.csv")` reads it.
# 3. In section 4, take the pairs with the highest cosine that are *not* the same. What would a method have to see?
