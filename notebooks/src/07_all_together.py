# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 7 · All together
#
# **Which method should you try first on your own sentences?** To find out, you build a split that does not leak, a
# score, training runs with several seeds, and a rule that says which method leads. Then you run it on a file of your own.
#
# *55 minutes, 36 of them for five exercises. You need lesson 0 and one of lessons 1 to 6.*
#
# Here are eleven small methods on one corpus: pairs of questions, some of which ask the same thing. Each circle is a
# run with a different seed, and each diamond is the mean of a method. The slider chooses the measure. Which method
# leads?

# %%
import numpy as np
import pandas as pd

from labkit import METHODS, load
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.course.ablation import kept
from labkit.explore import Slider, explore
from labkit.figures import seed_dots

FILE = "topics"  # or your own file: "mine.csv" with the columns text,label

table = kept("together")
measures = ["auc", "accuracy", "f1", "inter_intra"]
explore(
    lambda which: seed_dots(table, measures[which]),
    "One line for each method; the measure increases to the right. FILM is first by all four measures; below it the "
    "order changes with the measure. By AUC the diamonds of FILM, bag, sentpwnet and triplet are filled: they are not "
    "shown to be behind the best.",
    which=Slider("0: AUC, 1: accuracy, 2: F1, 3: inter/intra", 0, 3, 1, 0),
)

# %% [markdown]
# ## 1. Eleven methods
#
# | method | how it makes a vector | learns from labels |
# | --- | --- | --- |
# | `tfidf` | counts of words; rare words have more weight | no |
# | `lsa` | these counts, projected onto a few directions | no |
# | `mean-vectors` | the mean of a sentence's word vectors | no |
# | `sif` | a mean in which frequent words have little weight | no |
# | `sbert-lp on mean-vectors` | those means, moved by their neighbours (lesson 4) | no |
# | `film` | a linear map on `tfidf` (lesson 6) | yes |
# | `siamese` | an encoder with the contrastive loss: all pairs have the same weight | yes |
# | `triplet` | the same encoder with a triplet loss on the hardest pair of each kind | yes |
# | `sentpwnet` | the same encoder with weighted pairs (lesson 2) | yes |
# | `pthought` | one encoder and two decoders (lesson 5) | yes |
# | `bag` | the mean of learned vectors of word pieces | yes |
#
# The first measure is **AUC**. It is the probability that two questions that ask the same thing have a larger
# similarity than two that do not. It needs no threshold; guessing gives 0.5.

# %% [markdown]
# ## 2. Which method leads?
#
# A method with a larger mean need not be better, because other seeds might give a different order. Look at the
# differences $d = a - b$, seed by seed. The 95 % interval of their mean is
#
# $$\bar d \pm t_{n-1} \frac{s}{\sqrt n}$$
#
# Here $s$ is their standard deviation (with $n - 1$ in the denominator), and $t_{n-1}$ is Student's t quantile,
# `stats.t.ppf(0.975, n - 1)`. The first method **leads** if the interval is above 0, the second if it is below. If the
# interval contains 0, the question is **open**.
#
# **Exercise 07.1.** Write the rule.
#
# *7 minutes, medium. Why it matters: your table will claim a lead only if the seeds show one.*
#
# hint: Take the differences seed by seed. You need their mean and its standard error.
# hint: The standard error of a mean of n numbers is `d.std(ddof=1) / np.sqrt(n)`.
# hint: `half = stats.t.ppf(0.975, n - 1) * error`; "first" if the mean is above half, "second" if it is below -half.
# right: the interval allows for other seeds; to allow for other test sentences as well, it would have to be wider
# further: Draw three scores each for two methods from the same normal distribution, a thousand times. How often does
# your rule name a leader? How often with ten scores each?

# %%
from scipy import stats

def verdict(a, b):
    """scores of two methods, one for each seed -> "first", "second" or "open"; larger is better"""
    d = a - b  #!
    n = len(d)  #!
    error = d.std(ddof=1) / np.sqrt(n)  #!
    half = stats.t.ppf(0.975, n - 1) * error  #!
    if d.mean() > half:  #!
        return "first"  #!
    if d.mean() < -half:  #!
        return "second"  #!
    return "open"  #!

answer("07.1", verdict)

# %% [markdown]
# **Exercise 07.2.** Turn scores into a table. The method with the largest mean is `"best"`. Every other method is
# `"behind"` if the best leads, and otherwise `"open"`.
#
# *7 minutes, medium. Why it matters: at the end you make this table for your own file.*
#
# hint: Sort the names by their mean, the largest first: `sorted(found, key=lambda name: -found[name].mean())`.
# hint: Compare the best with each of the others with your `verdict`. "first" means that the other is behind.
# hint: Collect tuples `(name, found[name].mean(), says)` in a list, and return it.
# right: the table names the best, and also the methods that may be as good
# further: Widen the interval for ten comparisons: use 1 - 0.025 / 10 in place of 0.975. Which methods are open then?

# %%
def standings(found):
    """name -> scores, one for each seed -> a list of (name, mean, "best", "behind" or "open"), the best first"""
    names = sorted(found, key=lambda name: -found[name].mean())  #!
    best, rows = names[0], []  #!
    for name in names:  #!
        says = "best"  #!
        if name != best:  #!
            says = "behind" if verdict(found[best], found[name]) == "first" else "open"  #!
        rows.append((name, found[name].mean(), says))  #!
    return rows  #!

answer("07.2", standings)

# %% [markdown]
# In the first picture, the filled diamonds are the best method and those that are not shown to be behind it: by AUC,
# FILM and three others.
#
# **Predict 07.a.** For how many of the other ten methods does *your* rule say `"open"`? Write a number.

# %%
guess = 3  #!
predict("07.a", guess)

# %%
aucs = {name: np.array(table.values(name, "auc")) for name in table.figures}
rows = standings(aucs)
recall("07.a", [says for _, _, says in rows].count("open"))

# %%
pd.DataFrame(rows, columns=["method", "AUC", "against the best"]).round(3)

# %% [markdown]
# For a single pair of methods your rule is right. But ten comparisons are ten chances to be wrong. So the package
# widens its intervals, and with three seeds three methods stay open.
#
# ## 3. A test that asks for something new
#
# Now use your own file: CSV, TSV, JSONL or Parquet with the columns `text,label`. Put its name into `FILE` at the top,
# and run the notebook again from there. The file stays on this machine. If you have none, keep `topics`, which contains
# posts about fourteen topics.
#
# First split the rows into train and test. The split must not depend on the order of the rows, or one new row would
# move others from test to train. It must also be the same every day. And it must keep together rows that belong
# together, such as five descriptions of one photograph.
#
# **Exercise 07.3.** Write such a split. Put all rows of a group into the same part, and about a fifth of the groups
# into test.
#
# *8 minutes, hard. Why it matters: a method cannot pass your test by learning sentences by heart.*
#
# hint: A row's part must depend only on the name of its group.
# hint: A hash turns a name into a number. `zlib.crc32(name.encode())` is the same on every machine and every day.
# hint: A group is in test if that number, modulo 5, is 0.
# right: each group stays in its part, whatever rows you add
# further: With only ten groups, how far from a fifth can the share of test groups be? Try a hundred sets of ten names.

# %%
import zlib

def split(groups):
    """the name of each row's group -> "train" or "test" for each row"""
    parts = []  #!
    for name in groups:  #!
        number = zlib.crc32(name.encode())  #!
        parts.append("test" if number % 5 == 0 else "train")  #!
    return parts  #!

answer("07.3", split)

# %% [markdown]
# Next you need a score. For **kNN accuracy**, the $k$ training sentences nearest to a test sentence by cosine vote with
# their labels. The score is the share of test sentences whose own label wins.
#
# **Exercise 07.4.** Write this score. If two labels have the same number of votes, the one with the nearest voter wins.
#
# *8 minutes, medium. Why it matters: this score works for any file with one label for each text.*
#
# hint: Divide all rows by their lengths; then `asked @ known.T` gives a row of cosines for each test sentence.
# hint: `np.argsort(-row)[:k]` gives the row numbers of the k nearest sentences. Their labels are the votes.
# hint: `max(votes, key=votes.count)` is the first label with the most votes, and so the one with the nearest voter.
# right: this score needs no threshold and no training
# further: Choose the label with the nearest mean vector instead of voting. For which methods is that better?

# %%
def knn_accuracy(known, known_labels, asked, asked_labels, k):
    """training vectors (n, d) and their labels, test vectors (m, d) and theirs -> a share of the test sentences"""
    known = known / np.linalg.norm(known, axis=1, keepdims=True)  #!
    asked = asked / np.linalg.norm(asked, axis=1, keepdims=True)  #!
    right = 0  #!
    for row, label in zip(asked @ known.T, asked_labels):  #!
        nearest = np.argsort(-row)[:k]  #!
        votes = [known_labels[at] for at in nearest]  #!
        if max(votes, key=votes.count) == label:  #!
            right += 1  #!
    return right / len(asked)  #!

answer("07.4", knn_accuracy)

# %%
from dataclasses import replace

mine = load(FILE)

def score(method, corpus):
    """kNN accuracy of a trained method, from train to test."""
    V = {part: method.encode(list(corpus.part(part).texts)) for part in ("train", "test")}
    V = {part: rows.toarray() if hasattr(rows, "toarray") else rows for part, rows in V.items()}
    V = {part: rows + 1e-12 for part, rows in V.items()}  # so that no row has the length 0
    labels = {part: corpus.part(part).labels for part in V}
    return knn_accuracy(V["train"], labels["train"], V["test"], labels["test"], k=3)

tfidf = METHODS["tfidf"]()
tfidf.fit(mine)
print(f"TF-IDF, the split that came with {FILE}: {score(tfidf, mine):.3f}")

# %% [markdown]
# `topics` came with a split. Its posts are about *subjects*: under cycling, for example, a worn chain or a stolen front
# wheel. Each subject appears in only one split. (If your own file has no `split` column, `load` creates one, much as
# your function does.)
#
# **Predict 07.b.** Now split `topics` with your function, and let every post be its own group. What does TF-IDF score?
# Write a number from 0 to 1.

# %%
guess = 0.7  #!
predict("07.b", guess)

# %%
by_row = replace(mine, splits=tuple(split(list(mine.texts))))
tfidf = METHODS["tfidf"]()
tfidf.fit(by_row)
print(f"TF-IDF, split by row: {score(tfidf, by_row):.3f}")
recall("07.b", round(score(tfidf, by_row), 2))

# %% [markdown]
# With the same method and the same posts, the score is nearly perfect: most test posts now have a training post about
# the same subject. Which number is right? If later posts will be about new subjects, it is the lower one.
#
# ## 4. Four methods on your file
#
# **Exercise 07.5.** Train every method with every seed. Start each run with a new, untrained instance of the method.
# Collect the scores of a method in an array.
#
# *6 minutes, medium. Why it matters: your table compares methods over several seeds.*
#
# hint: Nest two loops: over `makers.items()`, and over `seeds`.
# hint: Make the method inside the inner loop, `method = make()`, so that every seed begins with an untrained one.
# hint: `values.append(train_and_score(method, seed))`, and at the end of the outer loop `found[name] =
# np.array(values)`.
# right: all methods use the same seeds, so you can take the differences seed by seed
# further: Add the `bag`: `lambda: METHODS["bag"](dimension=50, patience=0)`. Where in the table does it rank?

# %%
def measured(makers, seeds, train_and_score):
    """makers: name -> a function that makes an untrained method; train_and_score(method, seed) -> a score
    -> a dict: name -> an array with a score for each seed"""
    found = {}  #!
    for name, make in makers.items():  #!
        values = []  #!
        for seed in seeds:  #!
            method = make()  #!
            values.append(train_and_score(method, seed))  #!
        found[name] = np.array(values)  #!
    return found  #!

answer("07.5", measured)

# %% [markdown]
# We compare four methods by kNN accuracy, with three seeds, on the split that came with the file. `tfidf` and
# `mean-vectors` do not use labels.
#
# **Predict 07.c.** Does `"film"` lead `"sentpwnet"`, does `"sentpwnet"` lead `"film"`, or is it `"open"`?

# %%
guess = "open"  #!
predict("07.c", guess)

# %%
def train_and_score(method, seed):
    method.fit(mine, seed=seed)
    return score(method, mine)

makers = {
    "tfidf": lambda: METHODS["tfidf"](),
    "mean-vectors": lambda: METHODS["mean-vectors"](dimension=50),
    "film": lambda: METHODS["film"](),
    "sentpwnet": lambda: METHODS["sentpwnet"](size=60, dimension=50, epochs=6, encoder="mean"),
}
found = measured(makers, (0, 1, 2), train_and_score)
recall("07.c", {"first": "film", "second": "sentpwnet", "open": "open"}[verdict(found["film"], found["sentpwnet"])])

# %%
pd.DataFrame(standings(found), columns=["method", "kNN accuracy", "against the best"]).round(3)

# %% [markdown]
# `labkit bench mine.csv` makes such a comparison with more methods. It tunes each with the same number of trials, and
# its intervals also cover other test sentences.
#
# ## 5. What to use when
#
# | you have | try first | because |
# | --- | --- | --- |
# | no labels | `tfidf` and `sif` | they are ahead of the plain mean and cost nothing |
# | labels and a minute | `film` | it learns in seconds, and you can read it; but it knows only words seen with labels (lesson 6) |
# | labels and more time | `sentpwnet` or `bag` | they read parts of words, and `sentpwnet` reads order, which FILM cannot |
# | articles with sections | `thematic` | it makes its own labels (lesson 3) |
# | vectors of another model | those vectors, unchanged | `sbert-lp` can move them by their neighbours, but here it was behind (lesson 4) |
# | a need for generated sentences | `pthought` | no other method generates text; as a similarity it is behind (lesson 5) |
#
# This advice is based on two corpora and small methods. Yours may differ, and now you can find out.
#
# ## Further reading
#
# - Nils Reimers and Iryna Gurevych, [*Reporting Score Distributions Makes a
#   Difference*](https://aclanthology.org/D17-1035), 2017. It shows how much the seed alone changes a score.
# - Kevin Musgrave, Serge Belongie and Ser-Nam Lim, [*A Metric Learning Reality
#   Check*](https://arxiv.org/abs/2003.08505), 2020. In a fair comparison, little remains of years of progress.
# - Sayash Kapoor and Arvind Narayanan, [*Leakage and the Reproducibility Crisis in Machine-Learning-Based
#   Science*](https://doi.org/10.1016/j.patter.2023.100804), 2023. It lists eight ways in which a split can leak.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** Over three seeds, it remains open which of two methods is better. Has it been shown that they are equally good?
#
# <details><summary>An answer</summary>
#
# No. These seeds do not tell them apart; more seeds and a larger test set might. To show that they are equally good,
# say beforehand how large a difference would matter, and find an interval that excludes it.
#
# </details>
#
# **2.** A file has several questions from each customer. How do you split it, and what happens if you do not?
#
# <details><summary>An answer</summary>
#
# Split by customer. Otherwise the method has already seen how the customers in the test set write, and the score is too
# good for new customers. If later questions will come from the same customers, split by time instead.
#
# </details>
#
# **3.** A colleague's table has one seed, and the new method is 0.4 points ahead. What do you want to see?
#
# <details><summary>An answer</summary>
#
# Ask for several seeds, the same for both methods, and for the interval of the difference. Ask whether both were tuned
# on dev with the same number of trials, and how the data were split.
#
# </details>

# %%
progress("07")
