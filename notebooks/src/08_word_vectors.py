# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8 · Corpora and word vectors
#
# **How much can you learn about a word from the company it keeps?** In this lesson you build word vectors from nothing but
# counts of which words occur near each other, then sentence vectors from those. All other lessons start from such vectors.
#
# *50 minutes, 34 of them for five exercises. You need a little Python, and to know what a dot product and a logarithm are.*
#
# Each mark is a photograph's caption; colour and shape say which of eight photographs it describes. Nobody told the vectors
# which captions belong together. They only know which words stood near each other in some other captions. Move the slider:
# from how many captions were the words counted?

# %%
import numpy as np

from labkit import METHODS, load
from labkit.corpora.relations import points
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.explore import Slider, explore, show
from labkit.figures import clusters
from labkit.projection import PROJECTIONS
from labkit.text import words
from labkit.vectors import ppmi_vectors

captions = load("captions")
sentences = [words(text) for text in captions.part("train").sentences()]
shown = points(captions.part("test"), classes=8)
counts_of = [30, 100, 300, 1000, len(sentences)]
means_of = [ppmi_vectors(sentences[:count], dimension=50).mean(shown.texts) for count in counts_of]

explore(
    lambda step: clusters(PROJECTIONS["PCA"](means_of[step]), shown),
    "Captions in the plane, a colour and shape for each photograph. With words counted from 30 captions they are mixed; from "
    "all of them, captions of one photograph are mostly close together.",
    step=Slider("0: 30, 1: 100, 2: 300, 3: 1000, 4: all captions", 0, 4, 1, 0),
)

# %% [markdown]
# ## 1. Count
#
# *You shall know a word by the company it keeps* (J. R. Firth, 1957). So count how often two words occur near each other. In
# *the cat sleeps*, the words *cat* and *sleeps* have distance 1, *the* and *sleeps* distance 2. A neighbour at distance $t$
# counts $1/t$, up to a largest distance, the **window**; and only within a sentence.
#
# **Exercise 08.1.** Count them.
#
# *8 minutes, medium. What it is for: everything that the vectors will know about words is in this table.*
#
# hint: Three loops: over the sentences, over the places in a sentence, and over the distances 1, 2, ..., window.
# hint: At place `at` and distance t the neighbour is at `at + t`, if the sentence is that long.
# hint: Count both ways: `counts[i, j] += 1 / t` and `counts[j, i] += 1 / t`.
# right: near neighbours count more than distant ones, so the window hardly matters
# further: Count with a window of 1 instead of 10. Which neighbours of *dog* change in section 2, and why?

# %%
def counted(sentences, size, window):
    """sentences: lists of word numbers; size: how many words there are -> counts (size, size), symmetric"""
    counts = np.zeros((size, size))  #!
    for sentence in sentences:  #!
        for at, i in enumerate(sentence):  #!
            for t in range(1, window + 1):  #!
                if at + t < len(sentence):  #!
                    j = sentence[at + t]  #!
                    counts[i, j] += 1 / t  #!
                    counts[j, i] += 1 / t  #!
    return counts  #!

answer("08.1", counted)

# %%
from collections import Counter

often = Counter(word for sentence in sentences for word in sentence)
names = [word for word, count in often.most_common() if count > 1]  # the most frequent first
number = {word: place for place, word in enumerate(names)}
rows = [[number[word] for word in sentence if word in number] for sentence in sentences]
counts = counted(rows, len(names), window=10)
for word in ("dog", "kitchen"):
    most = np.argsort(-counts[number[word]])[:8]
    print(f"{word:8}", ", ".join(f"{names[at]} {counts[number[word], at]:.0f}" for at in most))

# %% [markdown]
# Both keep company with *a* and *the*. Frequent words are near everything, which says little about anything.
#
# ## 2. Compare with chance
#
# So ask: how much *more* often do two words meet than they would by chance? With $p(i, j)$ the share of all counts that is in
# row $i$ and column $j$, and $p(i)$ the share of a whole row, that is
#
# $$\mathrm{PPMI}(i, j) = \max\Big(0,\ \log \frac{p(i, j)}{p(i)\,p(j)}\Big)$$
#
# the **positive pointwise mutual information**.
#
# **Exercise 08.2.** Compute it. Where two words never meet it is 0.
#
# *6 minutes, medium. What it is for: to distinguish what is close to everything from what is close to something in particular.*
#
# hint: Divide the table by its sum: p(i, j). The sums of its rows are p(i).
# hint: By chance a pair would have p(i) p(j): `np.outer(p_i, p_i)`.
# hint: Take the logarithm only where the count is above 0: `met = counts > 0`, `found[met] = np.log(p[met] / chance[met])`.
# right: only what is above chance is left, and most of the table is 0
# further: Multiply all counts by 10. What changes? The package raises column sums to the power 0.75; what does that do to
# rare words?

# %%
def ppmi(counts):
    """counts (n, n), symmetric -> PPMI (n, n)"""
    p = counts / counts.sum()  #!
    p_i = p.sum(axis=1)  #!
    chance = np.outer(p_i, p_i)  #!
    found = np.zeros_like(p)  #!
    met = counts > 0  #!
    found[met] = np.log(p[met] / chance[met])  #!
    return np.maximum(found, 0)  #!

answer("08.2", ppmi)

# %%
information = ppmi(counts)
for word in ("dog", "kitchen"):
    most = np.argsort(-information[number[word]])[:8]
    print(f"{word:8}", ", ".join(f"{names[at]} {information[number[word], at]:.1f}" for at in most))

# %% [markdown]
# A row of this table is already a vector of a word, with one number for each other word, mostly 0. A **singular value
# decomposition** keeps the 100 directions in which the rows differ most. (That is all of the package's `ppmi_vectors`.)

# %%
U, sigma, _ = np.linalg.svd(information)
V = U[:, :100] * np.sqrt(sigma[:100])  # (words, 100)
print(information.shape, "->", V.shape)

# %% [markdown]
# **Exercise 08.3.** Find the words whose vectors have the largest cosines with a word's own vector, without the word itself.
#
# *6 minutes, easy. What it is for: to ask vectors what they know.*
#
# hint: Divide each row by its length; then `unit @ unit[word]` has all cosines.
# hint: The word itself has cosine 1: set its place to `-np.inf`.
# hint: `np.argsort(-cosines)[:count]`
# right: frequent words have long vectors; the cosine looks only at the direction
# further: Use dot products instead. Which words are now near many others? Are they frequent?

# %%
def nearest(V, word, count):
    """V (n, d), the number of a word -> the numbers of the `count` nearest words, the nearest first"""
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)  #!
    cosines = unit @ unit[word]  #!
    cosines[word] = -np.inf  #!
    return np.argsort(-cosines)[:count]  #!

answer("08.3", nearest)

# %% [markdown]
# **Predict 08.a.** Which word is nearest to *dog*?

# %%
guess = "puppy"  #!
predict("08.a", guess)

# %%
for word in ("dog", "red", "kitchen", "two"):
    print(f"{word:8}", ", ".join(names[at] for at in nearest(V, number[word], 6)))
recall("08.a", names[nearest(V, number["dog"], 1)[0]])

# %% [markdown]
# Look closely: near means *used in the same places*, not *meaning the same*. *Green* and *white* are near *red*, though they are not
# red. Keep that in mind for section 4.
#
# ## 3. From words to sentences
#
# The simplest vector of a sentence is the mean of the vectors of its words.
#
# **Exercise 08.4.** Compute it for many sentences. A word that occurs twice counts twice; a word without a vector is left out; a
# sentence without any known word is a row of zeros.
#
# *6 minutes, easy. What it is for: the simplest sentence vector, and the one to beat.*
#
# hint: Begin with `np.zeros((len(sentences), d))`, with d the length of any vector of the table.
# hint: For each sentence collect the vectors of its known words: `[table[word] for word in sentence if word in table]`.
# hint: If there is at least one, `found[row] = np.mean(known, axis=0)`.
# right: every method of this course has to beat this one
# further: Reverse the words of a sentence, then insert a *not*. How far does each move its vector?

# %%
def means(sentences, table):
    """sentences: lists of words; table: word -> vector (d,) -> (n, d)"""
    d = len(next(iter(table.values())))  #!
    found = np.zeros((len(sentences), d))  #!
    for row, sentence in enumerate(sentences):  #!
        known = [table[word] for word in sentence if word in table]  #!
        if known:  #!
            found[row] = np.mean(known, axis=0)  #!
    return found  #!

answer("08.4", means)

# %% [markdown]
# A mean treats all words alike. **SIF** (Arora, Liang and Ma, 2017) does two things about that. It multiplies each word's vector by
# $a / (a + p)$, where $p$ is the word's share of all words in the corpus and $a = 0.001$, so that frequent words count little. And
# it removes from all sentence vectors the one direction that they share most: with $c$ the first right singular vector of the
# matrix $M$ of all means, each row becomes $m - (m \cdot c)\, c$.
#
# **Exercise 08.5.** Write it, with your `means`.
#
# *8 minutes, medium. What it is for: two lines of care often beat a day of training.*
#
# hint: First a new table: `{word: a / (a + share[word]) * vector for word, vector in table.items()}`.
# hint: `c = np.linalg.svd(M, full_matrices=False)[2][0]` is the first right singular vector, of length 1.
# hint: `M - np.outer(M @ c, c)`
# right: frequent words say little, and what all sentences have in common says nothing
# further: Do only one of the two. Which brings more?

# %%
def sif(sentences, table, share, a=0.001):
    """as means; share: word -> its share of all words in the corpus"""
    weighted = {}  #!
    for word, vector in table.items():  #!
        weighted[word] = a / (a + share[word]) * vector  #!
    M = means(sentences, weighted)  #!
    c = np.linalg.svd(M, full_matrices=False)[2][0]  #!
    return M - np.outer(M @ c, c)  #!

answer("08.5", sif)

# %% [markdown]
# How often is the nearest other caption one of the same photograph? That is **Hit@1**, here for 300 captions of 60 photographs. Last,
# a method that learns: **PV-DBOW** (Le and Mikolov, 2014) gives each sentence a vector of its own and moves it until the words of
# the sentence can be told from random words.

# %%
from labkit.evaluation import hit_at

table = dict(zip(names, V))
share = {word: often[word] / sum(often.values()) for word in names}
asked = points(captions.part("test"), classes=60)
split_up = [words(text) for text in asked.texts]
pv_dbow = METHODS["pv-dbow"](epochs=6)
pv_dbow.fit(captions)
for name, M in (
    ("your mean", means(split_up, table)),
    ("your SIF", sif(split_up, table, share)),
    ("PV-DBOW", pv_dbow.encode(asked.texts)),
):
    print(f"{name:10} Hit@1 {hit_at(M, np.array(asked.labels))[1]:.2f}")

# %% [markdown]
# ## 4. Where it fails
#
# The corpus `questions` has pairs of questions, with the label 1 if both ask the same. Read a few:

# %%
questions = load("questions")
for row in list(questions.part("train").rows())[:6]:
    print(f"{row['label']}  [{row['kind']}]\n   {row['text_a']}\n   {row['text_b']}")

# %% [markdown]
# **Predict 08.b.** What is the mean cosine of pairs that are *not* the same, by the mean of word vectors? Write a number.

# %%
guess = 0.5  #!
predict("08.b", guess)

# %%
from labkit.figures import similarity_histogram

test = questions.part("test")
vectors = ppmi_vectors([words(text) for text in questions.part("train").sentences()], dimension=100)
a, b = vectors.mean(test.text_a), vectors.mean(test.text_b)
cosine = (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
show(
    similarity_histogram(cosine, test.labels),
    "Two histograms of cosines: blue, pairs that mean the same; orange and hatched, pairs that do not. They lie over each "
    "other, and no threshold separates them.",
)
recall("08.b", round(float(cosine[test.labels == 0].mean()), 2))

# %%
kinds = np.array(test.extra["kind"])
for kind in sorted(set(kinds)):
    of_it = kinds == kind
    print(f"{kind:26} {of_it.sum():4} pairs, label {test.labels[of_it].mean():.0f}, mean cosine {cosine[of_it].mean():.2f}")

# %% [markdown]
# One changed word hardly moves a mean, the order of the words is lost, and opposites are near each other. Pairs that ask the same
# in quite other words (*reworded*) have smaller cosines than pairs in which one detail changed everything. This is what the
# methods of this course have to learn from labels.
#
# ## To try on your own
#
# 1. Write six sentences of your own about two things into a CSV with the columns `text,label`, and draw them:
#    `load("mine.csv")` reads it.
# 2. In section 4, read the pairs with the highest cosine that are *not* the same. What would a method have to see?
#
# ## Further reading
#
# - Levy, Goldberg and Dagan, [*Improving Distributional Similarity with Lessons Learned from Word
#   Embeddings*](https://aclanthology.org/Q15-1016), 2015. Counted and trained word vectors with the same settings: most of the
#   lead of the trained ones was in the settings.
# - Pennington, Socher and Manning, [*GloVe*](https://aclanthology.org/D14-1162), 2014. The word vectors of most papers in this
#   course, made from counts like yours.
# - Le and Mikolov, [*Distributed Representations of Sentences and Documents*](https://arxiv.org/abs/1405.4053), 2014. PV-DBOW.
# - Mrkšić and others, [*Counter-fitting Word Vectors to Linguistic Constraints*](https://aclanthology.org/N16-1018), 2016. What
#   can be done about opposites that are near each other.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you unfold ours.*
#
# **1.** *Hot* and *cold* come out close together. Has the counting gone wrong?
#
# <details><summary>An answer</summary>
#
# No. It measures which words are used in the same places, and opposites are. It would be wrong to read that as *means the same*.
# To get the difference you need something that counts do not hold, such as labelled pairs or a dictionary.
#
# </details>
#
# **2.** Why the logarithm of a ratio, and not the counts themselves?
#
# <details><summary>An answer</summary>
#
# A count is large if both words are frequent, whether they are related or not. The ratio compares it with chance, and the
# logarithm makes *twice as often* the same step everywhere. Below chance it is set to 0, because with few counts that is noise.
#
# </details>
#
# **3.** Name two sentences of different meaning that no mean of word vectors can tell apart. What would it take?
#
# <details><summary>An answer</summary>
#
# *Can a dog like a cat* and *can a cat like a dog* have the same words, so the same mean. Better word vectors do not help. It
# takes an encoder that knows the place of a word, such as one that reads in order.
#
# </details>

# %%
progress("08")
