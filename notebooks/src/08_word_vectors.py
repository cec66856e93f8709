# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8 · Corpora and word vectors
#
# **How much can you learn about a word from the words around it?** In this lesson you count which words occur near each
# other, and build word vectors from these counts. Then you build sentence vectors. All other lessons start from such
# vectors.
#
# *50 minutes, 34 of them for five exercises. You need a little Python, and should know what a dot product and a
# logarithm are.*
#
# Each mark is the caption of a photograph; colour and shape show which of eight photographs it describes. Its vector
# consists only of counts of the words that occur near each other in other captions. The slider sets how many captions were
# counted. When do the captions of one photograph come together?

# %%
import numpy as np

from labkit import load
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
    "Captions in the plane, with a colour and shape for each photograph. With counts from 30 captions they are mixed. "
    "With counts from all captions, those of one photograph are mostly close together.",
    step=Slider("0: 30, 1: 100, 2: 300, 3: 1000, 4: all captions", 0, 4, 1, 0),
)

# %% [markdown]
# ## 1. Count
#
# *You shall know a word by the company it keeps* (J. R. Firth, 1957). So count how often two words occur near each
# other. In *the cat sleeps*, the words *cat* and *sleeps* have distance 1, and *the* and *sleeps* have distance 2. Two
# words of a sentence at distance $t$ add $1/t$ to their count, up to a largest distance, the **window**.
#
# **Exercise 08.1.** Build the table of counts.
#
# *8 minutes, medium. Why it matters: everything that the vectors know about words comes from this table.*
#
# hint: Nest three loops: over the sentences, the positions in each sentence, and the distances 1, 2, ..., window.
# hint: For position `at` and distance t, the neighbour is at `at + t`, if the sentence is that long.
# hint: Count both ways: `counts[i, j] += 1 / t` and `counts[j, i] += 1 / t`.
# right: near neighbours count more than distant ones
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
from textwrap import fill

often = Counter(word for sentence in sentences for word in sentence)
names = [word for word, count in often.most_common() if count > 1]  # the most frequent first
number = {word: place for place, word in enumerate(names)}
rows = [[number[word] for word in sentence if word in number] for sentence in sentences]
counts = counted(rows, len(names), window=10)
for word in ("dog", "kitchen"):
    most = np.argsort(-counts[number[word]])[:8]
    print(fill(f"{word}: " + ", ".join(f"{names[at]} {counts[number[word], at]:.0f}" for at in most), 40))

# %% [markdown]
# Both words are often near *a* and *the*. Frequent words are near every word, so these counts say little about a
# particular one.
#
# ## 2. Compare with chance
#
# So ask how much *more* often two words meet than they would by chance. Divide the counts by their sum. Let $p(i, j)$
# be the share in row $i$ and column $j$, and $p(i)$ the share of the whole row $i$. Then the **positive pointwise
# mutual information** of two words is
#
# $$\mathrm{PPMI}(i, j) = \max\Big(0,\ \log \frac{p(i, j)}{p(i)\,p(j)}\Big)$$
#
# **Exercise 08.2.** Compute the PPMI. If two words never meet, it is 0.
#
# *6 minutes, medium. Why it matters: PPMI is small for words that are near every word.*
#
# hint: Divide the table by its sum, which gives p(i, j). The sums of its rows are p(i).
# hint: By chance a pair would have the share p(i) p(j): `np.outer(p_i, p_i)`.
# hint: Take the logarithm only where the count is above 0: `met = counts > 0`, `found[met] = np.log(p[met] /
# chance[met])`.
# right: only pairs that meet more often than by chance are left, and most of the table is 0
# further: Multiply all counts by 10. What changes? The package raises column sums to the power 0.75. What does that do
# to rare words?

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
    print(fill(f"{word}: " + ", ".join(f"{names[at]} {information[number[word], at]:.1f}" for at in most), 40))

# %% [markdown]
# A row of this table is already a word vector, with one number for each other word, mostly zeros. A **singular value
# decomposition** makes it shorter: we keep the 100 strongest directions of the table. The package's `ppmi_vectors` does
# this, too.

# %%
U, sigma, _ = np.linalg.svd(information)
V = U[:, :100] * np.sqrt(sigma[:100])  # (words, 100)
print(information.shape, "->", V.shape)

# %% [markdown]
# **Exercise 08.3.** Find the words whose vectors have the largest cosines with the vector of a word. Leave out the word
# itself.
#
# *6 minutes, easy. Why it matters: the neighbours of a word show what its vector knows.*
#
# hint: Divide each row by its length; then `unit @ unit[word]` gives all cosines.
# hint: The word itself has cosine 1: set its entry to `-np.inf`.
# hint: `np.argsort(-cosines)[:count]`
# right: frequent words have long vectors, but the cosine looks only at the direction
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
    print(fill(f"{word}: " + ", ".join(names[at] for at in nearest(V, number[word], 6)), 40))
recall("08.a", names[nearest(V, number["dog"], 1)[0]])

# %% [markdown]
# These words are *used in the same places*, but they need not *mean the same thing*. *Green* and *white* are near
# *red*. That will matter in section 4.
#
# ## 3. From words to sentences
#
# The simplest vector of a sentence is the mean of the vectors of its words.
#
# **Exercise 08.4.** Compute this mean for many sentences. A word that occurs twice counts twice. Leave out words
# without a vector. A sentence without any known word becomes a row of zeros.
#
# *6 minutes, easy. Why it matters: every method of this course has to beat these vectors.*
#
# hint: Begin with `np.zeros((len(sentences), d))`, where d is the length of a vector of the table.
# hint: For each sentence collect the vectors of its known words: `[table[word] for word in sentence if word in table]`.
# hint: If there is at least one, `found[row] = np.mean(known, axis=0)`.
# right: this gives every sentence a vector without any training
# further: Reverse the words of a sentence, then insert a *not*. How far does each change move its vector?

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
# A mean treats all words alike. **SIF** (Arora, Liang and Ma, 2017) changes that in two ways:
#
# - It multiplies the vector of each word by $a / (a + p)$, so that frequent words count little. Here $p$ is the share
#   of the word among all words in the corpus, and $a = 0.001$.
# - It removes the direction that all sentence vectors share most. Let $M$ be the matrix of all means, and $c$ its first
#   right singular vector. Each row $m$ becomes $m - (m \cdot c)\, c$.
#
# **Exercise 08.5.** Write SIF, using your `means`.
#
# *8 minutes, medium. Why it matters: this is a stronger baseline that still needs no training.*
#
# hint: First make a new table: `{word: a / (a + share[word]) * vector for word, vector in table.items()}`.
# hint: `c = np.linalg.svd(M, full_matrices=False)[2][0]` is the first right singular vector, of length 1.
# hint: `M - np.outer(M @ c, c)`
# right: frequent words count little, and the direction that all sentences share is gone
# further: Make only one of the two changes. Which one raises Hit@1 more?

# %%
def sif(sentences, table, share, a=0.001):
    """as `means`; share: word -> its share of all words in the corpus"""
    weighted = {}  #!
    for word, vector in table.items():  #!
        weighted[word] = a / (a + share[word]) * vector  #!
    M = means(sentences, weighted)  #!
    c = np.linalg.svd(M, full_matrices=False)[2][0]  #!
    return M - np.outer(M @ c, c)  #!

answer("08.5", sif)

# %% [markdown]
# How good are these vectors? **Hit@1** is the share of captions whose nearest other caption describes the same
# photograph. Here are 300 captions of 60 photographs; guessing gives 0.01.

# %%
from labkit.evaluation import hit_at

table = dict(zip(names, V))
share = {word: often[word] / sum(often.values()) for word in names}
asked = points(captions.part("test"), classes=60)
split_up = [words(text) for text in asked.texts]
for name, M in (("your mean", means(split_up, table)), ("your SIF", sif(split_up, table, share))):
    print(f"{name:10} Hit@1 {hit_at(M, np.array(asked.labels))[1]:.2f}")

# %% [markdown]
# ## 4. Where it fails
#
# `questions` contains pairs of questions. The label is 1 if both ask the same thing. Read a few pairs:

# %%
questions = load("questions")
for row in list(questions.part("train").rows())[:6]:
    print(f"{row['label']}, {row['kind']}", fill(row["text_a"], 40), fill(row["text_b"], 40), "", sep="\n")

# %% [markdown]
# **Predict 08.b.** The vector of a question is the mean of its word vectors. What is the mean cosine of pairs that do
# *not* ask the same thing? Write a number.

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
    "Two histograms of cosines: blue for pairs that ask the same thing, orange and hatched for pairs that do not. They "
    "overlap, and no threshold separates them.",
)
recall("08.b", round(float(cosine[test.labels == 0].mean()), 2))

# %%
import pandas as pd

by_kind = pd.DataFrame({"kind": test.extra["kind"], "label": test.labels, "cosine": cosine})
by_kind.groupby("kind").agg(pairs=("label", "size"), label=("label", "first"), cosine=("cosine", "mean")).round(2)

# %% [markdown]
# One changed word hardly moves a mean, the order of the words is lost, and opposites are near each other. Pairs that
# ask the same thing in quite different words (*reworded*) have smaller cosines than pairs in which one detail changed
# the question. The methods of this course have to learn the difference from labels.
#
# ## Try it yourself
#
# 1. Write six sentences about two topics into a CSV file with the columns `text,label`. Read it with
#    `load("mine.csv")`, and draw your sentences as in the first picture.
# 2. In section 4, read the pairs with the highest cosine that do *not* ask the same thing. What would a method have to
#    notice?
#
# ## Further reading
#
# - Levy, Goldberg and Dagan, [*Improving Distributional Similarity with Lessons Learned from Word
#   Embeddings*](https://aclanthology.org/Q15-1016), 2015. With the same settings, counted word vectors are about as
#   good as trained ones.
# - Pennington, Socher and Manning, [*GloVe*](https://aclanthology.org/D14-1162), 2014. Most papers in this course use
#   these word vectors, which are made from counts like yours.
# - Mrkšić et al., [*Counter-fitting Word Vectors to Linguistic Constraints*](https://aclanthology.org/N16-1018), 2016.
#   It shows how to move opposites apart.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** The vectors of *hot* and *cold* are close together. Is something wrong with the counts?
#
# <details><summary>An answer</summary>
#
# No. The counts show which words are used in the same places, as opposites often are. To separate them, you need
# something that the counts do not contain, such as labelled pairs or a dictionary.
#
# </details>
#
# **2.** Why do we use the logarithm of a ratio, and not the counts themselves?
#
# <details><summary>An answer</summary>
#
# A count is large if both words are frequent, whether they are related or not. The ratio compares it with chance. With
# the logarithm, *twice as often* is the same step everywhere. Values below chance are set to 0, because with few counts
# they are noise.
#
# </details>
#
# **3.** Name two sentences of different meaning that no mean of word vectors can tell apart. What kind of encoder
# could?
#
# <details><summary>An answer</summary>
#
# *Can a dog like a cat* and *can a cat like a dog* have the same words, so they have the same mean. Better word vectors
# do not help. An encoder that reads the words in order could tell them apart.
#
# </details>

# %%
progress("08")
