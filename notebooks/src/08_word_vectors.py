# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8 · Corpora and word vectors
#
# **How much can you learn about a word from the company it keeps?** Here you meet the corpora of this lab and build the
# simplest vectors that know something about words: from nothing but counts of which words occur near each other. All other
# lessons start from such vectors.
#
# *45 minutes, 18 of them for the exercises. You need a little Python, and to know what a dot product and a logarithm are.*

# %%
import numpy as np

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import CORPORA, load
from labkit.corpora.relations import points
from labkit.baselines.difficulty import difficulty
from labkit.evaluation import hit_at
from labkit.explore import show
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
# Read the eight pairs before you go on. Could you tell the label, 1 for *the same*, from the words that the two have in common?

# %%
questions = load("questions")
for row in list(questions.part("train").rows())[:8]:
    print(f"{row['label']}  [{row['kind']}]\n   {row['text_a']}\n   {row['text_b']}")

# %% [markdown]
# ## 2. From neighbours to numbers
#
# *You shall know a word by the company it keeps* (J. R. Firth, 1957). So count: how often does word $j$ stand near word
# $i$? A neighbour at distance $t$ counts $1/t$, within ten words and never across two sentences: words that stand side by side
# have distance 1. Three short sentences show the whole of it: *the cat sleeps*, *the dog sleeps*, *the dog barks*.
#
# **Exercise 08.1.** Before you run the next cell: what will stand in the row of *the* and the column of *sleeps*?
#
# *3 minutes, easy. What it is for: counting what the word vectors of all notebooks are made from.*
#
# hint: In which of the sentences do both stand, and how far apart?
# hint: Twice at distance 2.
# hint: 2 times 1/2.
# right: near neighbours count more than far ones, and no window's edge has to be chosen with great care
# further: Count with `window=1` and compare: which cells change in sentences as short as these? Then count a sentence
# in which one word stands twice.

# %%
together = 1.0  #!
answer("08.1", together)

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
# The $p$ are shares of all counts: $p(i, j)$ of the whole table, $p(i)$ of a row, $p(j)$ of a column. (The package counts contexts
# to the power 0.75, which keeps rare words from looking more telling than they are:
# [Levy, Goldberg and Dagan, 2015](https://aclanthology.org/Q15-1016), section 3.2.)
#
# **Exercise 08.2.** Write it, with plain counts for both.
#
# *4 minutes, medium. What it is for: telling what is near everything from what is near something.*
#
# hint: Divide the table by its sum: p(i, j). Its row sums are p(i), its column sums p(j).
# hint: `p / (p.sum(1, keepdims=True) * p.sum(0, keepdims=True))`, then the logarithm, then the maximum with 0.
# hint: Where a count is 0 the logarithm is -∞; `np.maximum(0, ...)` turns that into 0.
# right: what is left is only what is above chance: most of the table is zero
# further: Multiply all counts by 10: what changes? Then leave out the maximum with 0, and say what stands where two
# words never meet.

# %%
def my_ppmi(counts):
    """counts (n, n), symmetric -> PPMI (n, n), 0 where two words never meet"""
    share = counts / counts.sum()
    chance = share.sum(1, keepdims=True) * share.sum(0, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.maximum(0, np.log(share / chance))  #!

answer("08.2", my_ppmi)

# %%
for name, row in zip(names, ppmi(counts).toarray(), strict=True):  # of the package, with the power
    print(f"{name:>8} " + " ".join(f"{value:7.2f}" for value in row))

# %% [markdown]
# A row of this table already is a vector for a word: as long as the vocabulary, and mostly zero. The truncated
# singular value decomposition keeps the directions in which the rows differ most. That is all of `ppmi_vectors`.
#
# **Predict 08.a.** Made from the training sentences of `captions`: which word will stand nearest to *dog*?

# %%
guess = "puppy"  #!
predict("08.a", guess)

# %%
captions = load("captions")
vectors = ppmi_vectors([words(text) for text in captions.part("train").sentences()], dimension=100)
for word in ("dog", "red", "kitchen", "two"):
    near = [f"{other} {cosine:.2f}" for other, cosine in vectors.nearest(word, 6)]
    print(f"{word:8}", ", ".join(near))

recall("08.a", vectors.nearest("dog", 1)[0][0])

# %% [markdown]
# **Exercise 08.3.** `nearest` is a few lines. Write them: the word with the largest cosine, the word itself left out.
#
# *4 minutes, easy. What it is for: asking vectors what they know.*
#
# hint: A cosine is a dot product of vectors of length 1.
# hint: Divide each row by its length first; then one matrix product gives all cosines.
# hint: Put -∞ at the word's own place before `argmax`.
# right: frequent words have long vectors; the cosine looks at the direction only
# further: Take the dot product in the place of the cosine, on `vectors.matrix`: which words are now nearest to many
# others, and are they frequent ones?

# %%
def nearest(rows, word):
    """rows (n, d), a word's number -> the number of its nearest"""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = unit @ unit[word]  #!
    cosine[word] = -np.inf
    return cosine.argmax()

answer("08.3", nearest)

# %% [markdown]
# Look closely: near means *used in the same places*, not *meaning the same*. Colours stand near other colours, though red
# is not blue. Keep that in mind for section 4.
#
# ## 3. From words to sentences
#
# The simplest vector of a sentence is the mean of its words' vectors.
#
# **Exercise 08.4.** Write it. A word without a vector is left out, one that stands twice counts twice; a sentence without any
# known word is a row of zeros.
#
# *5 minutes, easy. What it is for: having the simplest vector of a sentence, the one to beat.*
#
# hint: Which words have a vector at all?
# hint: Collect the vectors of the known words, a word that stands there twice two times, and take the mean.
# hint: With no known word, `np.zeros` of the right length.
# right: the simplest sentence vector, and the one that every method of this lab has to beat
# further: Turn the words of a sentence round, then put a *not* into it. How far does either move its vector, as a
# cosine?

# %%
def mean_vector(sentence, table):
    """a list of words, a dict word -> vector (d,) -> the sentence's vector (d,)"""
    known = [table[word] for word in sentence if word in table]  #!
    return np.mean(known, axis=0) if known else np.zeros(len(next(iter(table.values()))))  #!

answer("08.4", mean_vector)

# %% [markdown]
# Each colour below is one scene that five people
# described; the vectors have not seen which caption belongs to which scene.

# %%
shown = points(captions.part("test"), classes=10)
show(
    clusters(tsne(vectors.mean(shown.texts)), shown),
    "Each mark is a caption, each colour and shape one of ten scenes; the axes mean nothing, only "
    "who is near whom. Captions of one scene mostly stand together, though nobody told the "
    "vectors; some have strayed to another scene.",
)

# %% [markdown]
# A mean treats all words alike. Two other ways that need no label either:
#
# - **SIF** (Arora, Liang and Ma, 2017) is a mean in which frequent words count little, less the direction that all sentences share.
# - **PV-DBOW** ([Le and Mikolov, 2014](https://arxiv.org/abs/1405.4053), section 2.3) takes no mean: each sentence has a vector of its
#   own, and training moves it until the words of the sentence can be told from words drawn at random. A new sentence gets its vector in
#   the same way, with the words' vectors held.
#
# How often is the nearest other caption of the same scene? (Hit@1, for all captions of the test split; the third is trained for a few
# seconds.)

# %%
captions_test = points(captions.part("test"), classes=60)
for name, settings in (("mean-vectors", {}), ("sif", {}), ("pv-dbow", {"epochs": 6})):
    method = METHODS[name](**settings)
    method.fit(captions)
    share = hit_at(method.encode(captions_test.texts), np.array(captions_test.labels))[1]
    print(f"{name:13} Hit@1 {share:.2f}")

# %% [markdown]
# ## 4. Where it fails
#
# Back to the questions. For each pair of the test split: the cosine of the two mean vectors. If the two hills were
# apart, a threshold between them would solve the task.
#
# **Predict 08.b.** The mean cosine of pairs that are *not* the same: below 0.2, about 0.5, or above 0.8? Write a number.

# %%
guess = 0.5  #!
predict("08.b", guess)

# %%
train = [words(text) for text in questions.part("train").sentences()]
vectors = ppmi_vectors(train, dimension=100)
test = questions.part("test")
a, b = vectors.mean(test.text_a), vectors.mean(test.text_b)
cosine = (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
show(
    similarity_histogram(cosine, test.labels),
    "Cosine of a pair from left to right, share of the pairs upwards; blue: pairs that mean the "
    "same, orange and hatched: pairs that do not. The two hills lie over each other: no threshold "
    "parts them. High cosines are frequent among pairs that are not the same, too.",
)

# %% [markdown]
# Which pairs fool it? The kinds tell:

# %%
kinds = np.array(test.extra["kind"])
for kind in sorted(set(kinds)):
    rows = kinds == kind
    label, mean = test.labels[rows].mean(), cosine[rows].mean()
    print(f"{kind:28} {rows.sum():5} pairs, label {label:.0f}, mean cosine {mean:.2f}")

recall("08.b", float(cosine[test.labels == 0].mean()))

# %% [markdown]
# **Exercise 08.5.** Which kind of pairs that are *not* the same looks most alike to the mean of words? Write it as the table does.
#
# *2 minutes, easy. What it is for: knowing where a method fails before trying to mend it.*
#
# hint: Look at the table: label 0 is 'not the same'.
# hint: Take the highest mean cosine among the lines with label 0.
# hint: 0.82 is the highest of them.
# right: one word in eight hardly moves a mean, and can make another question of it
# further: Print the three pairs of this kind with the highest cosine. Which single thing about a sentence would a
# vector have to keep to tell them apart?

# %%
kind = "one detail changed"  #!
answer("08.5", kind)

# %% [markdown]
# One changed word hardly moves a mean; the order of the words is lost; and vectors made of neighbourhoods put opposites side by
# side. Pairs that are the same in quite other words (*reworded*) come below both kinds in which nearly all
# words are shared and the meaning is not (*one detail changed* and *same words, other intent*). This is what the methods of this lab have to learn from
# labels. How much there is to learn, corpus by corpus:

# %%
for name, entry in CORPORA.items():
    if entry.kind == "embedded":
        print(f"{name:12} {difficulty(load(name))}")

# %% [markdown]
# ## To try on your own
#
# 1. Make the vectors of section 2 with `window=1` and with `window=10`. Which neighbours of *dog* change, and why?
# 2. Write six sentences of your own about two things, put them into a CSV with the columns `text,label`, and draw them:
#    `load("mine.csv")` reads it.
# 3. In section 4, take the pairs with the highest cosine that are *not* the same. What would a method have to see?

# ## Further reading
#
# - Levy, Goldberg and Dagan, [*Improving Distributional Similarity with Lessons Learned from Word
#   Embeddings*](https://aclanthology.org/Q15-1016), 2015. Counted and trained word vectors under the same settings: most of the lead
#   of the trained ones was in the settings.
# - Church and Hanks, [*Word Association Norms, Mutual Information, and Lexicography*](https://aclanthology.org/J90-1003), 1990. Where
#   pointwise mutual information came to words; short, and full of examples.
# - Pennington, Socher and Manning, [*GloVe*](https://aclanthology.org/D14-1162), 2014. The word vectors that most of the papers of
#   this course begin with, made from counts like those above.
# - Le and Mikolov, [*Distributed Representations of Sentences and Documents*](https://arxiv.org/abs/1405.4053), 2014. PV-DBOW and its
#   sister PV-DM.
# - Mrkšić and others, [*Counter-fitting Word Vectors to Linguistic Constraints*](https://aclanthology.org/N16-1018), 2016. What can be
#   done about opposites that stand side by side.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** *Hot* and *cold* come out close together. Has the counting gone wrong?
#
# <details><summary>An answer</summary>
#
# No. It measures who is used in the same places, and opposites are. It is wrong to read that as *means the same*. Who
# needs the difference has to bring what counts of neighbours do not hold, such as labelled pairs or a dictionary.
#
# </details>
#
# **2.** Why the logarithm of a ratio, and not the counts themselves?
#
# <details><summary>An answer</summary>
#
# A count is large where both words are frequent, whether they have to do with each other or not. The ratio compares
# it with what chance would give, and the logarithm makes *twice as often* the same step everywhere. What lies below
# chance is set to 0, for on few counts it is mostly noise.
#
# </details>
#
# **3.** Name two sentences of different meaning that no mean of word vectors can tell apart, however good the vectors
# are. What would it take?
#
# <details><summary>An answer</summary>
#
# *Can a dog like a cat* and *can a cat like a dog* have the same words equally often, hence the same mean, a cosine
# of 1. Better word vectors do not help. It takes an encoder to which the place of a word makes a difference, such as
# one that reads in order or looks at words side by side.
#
# </details>

# %%
progress("08")
