# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 9 · Break it
#
# *Time: 70 minutes, 41 of them for the exercises. You need: notebook 1 (what a weight is, what a miner keeps), and what a singular value is. All cells
# together run in under a minute.*
#
# The other notebooks show trainings that go well. Yours will not always. Here you break one on purpose, look at it while it
# is broken, and mend it. At the end you will know
#
# - how a collapse looks: in the loss, in the mean cosine, in histograms, in the effective rank, and which of these does *not* see it,
# - why a space that has fallen into a point stays there,
# - three things that people change then, and which of them does not help by itself,
# - what anisotropy is, what whitening does about it, and when that hurts,
# - how many of the "hard negatives" that somebody mined are none, on data where the truth is known.

# %%
import warnings

import numpy as np
import pandas as pd

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.pairs.hard_negatives import false_shares, mine_negatives, with_truth
from labkit.evaluation import hit_at
from labkit.evaluation.geometry import cosines_over_epochs
from labkit.explore import show
from labkit.figures import cosine_ridges, false_negatives_mined, seed_dots, spectra_over_epochs
from labkit.course.ablation import again, kept
from labkit.course.plans import BROKEN, PLANS
from labkit.progress import in_notebook

topics = load("topics")
test = topics.part("test")
labels = np.array(test.labels)
print(topics.sizes, "sentences of", len(set(test.labels)), "topics")

# %% [markdown]
# ## 1. Two figures of a space
#
# A space of sentences can go wrong in two ways. All vectors can crowd together until they are one **point**. Or they can
# spread, but only along a few **directions**, and whatever else sentences differ in is lost. Two figures look for these; neither
# needs a label. The first is the mean cosine of two different sentences: 1 means that all are one.
#
# **Exercise 09.1.** Write it. The rows need not have length 1, and no row makes a pair with itself.
#
# *8 minutes, easy. What it is for: the cheapest look at a space: it needs no labels, and a point shows in it at
# once.*
#
# hint: Divide each row by its length. Then `unit @ unit.T` has every cosine.
# hint: n of its n² entries are a row with itself: leave the diagonal out.
# hint: `(S.sum() - len(S)) / (len(S) * (len(S) - 1))`, with S the cosines
# right: near 1 all rows point one way, near 0 they share no direction
# further: Write it without the matrix of all cosines: the squared length of the sum of the unit rows holds the same
# number. How many rows can you take then?

# %%
def mean_cosine(V):
    """V (n, d) -> the mean cosine over all pairs of two different rows"""
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)
    S = unit @ unit.T  #!
    return (S.sum() - len(S)) / (len(S) * (len(S) - 1))  #!

answer("09.1", mean_cosine)

# %% [markdown]
# For the second take the rows of length 1, their mean off, and look at the singular values $\sigma_1 \ge \sigma_2 \ge \dots$: how large
# the cloud is along each of its own axes. If $k$ of them are equal and the others 0, it uses $k$ directions. In between, make
# them shares, $p_k = \sigma_k / \sum_j \sigma_j$, and take the exponential of their entropy, the **effective rank** (Roy and Vetterli, 2007):
#
# $$\exp\Big(-\sum_k p_k \log p_k\Big)$$
#
# **Exercise 09.2.** Write it. A value of 0 adds nothing to the sum.
#
# *8 minutes, medium. What it is for: saying in one number how many directions a space uses.*
#
# hint: log 0 is -∞: leave the values of 0 out before you take logarithms.
# hint: The entropy of the shares is -Σ p log p, over those above 0.
# hint: `np.exp(-(p * np.log(p)).sum())` with p the shares above 0
# right: k equal values give k; one value alone gives 1
# further: Take the squares of the singular values as shares instead, which are variances. Does the number grow or
# shrink, and why?

# %%
def effective_rank(sigma):
    """singular values (k,), 0 or more -> one number, from 1 to k"""
    p = sigma[sigma > 0] / sigma.sum()  #!
    return np.exp(-(p * np.log(p)).sum())  #!

answer("09.2", effective_rank)

# %%
def spectrum(V):
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)
    return np.linalg.svd(unit - unit.mean(0), compute_uv=False)

def figures_of(name, method):
    V = method.encode(list(test.texts)).astype(float)
    found = mean_cosine(V), effective_rank(spectrum(V)), hit_at(V, labels)[1]
    print("{}: mean cosine {:.3f}, effective rank {:.1f} of {}, Hit@1 {:.3f}".format(
        name, found[0], found[1], V.shape[1], found[2]))
    return V

untrained = METHODS["mean-vectors"](dimension=50)
untrained.fit(topics)
figures_of("untrained", untrained);

# %% [markdown]
# Hit@1 is the share of test sentences whose nearest neighbour is of the same topic.
#
# ## 2. Break it
#
# This is a small network: a linear map on the mean of word vectors. It learns by the triplet loss with a margin: an anchor
# costs $[S_n - S_p + 0.2]_+$ with its hardest negative $n$ (the nearest) and its hardest positive $p$ (the farthest). And it takes
# steps that are a hundred times as long as the lab's usual ones.
#
# **Predict 09.a.** Where will the loss stand after eight epochs? Write a number.

# %%
guess = 0.05  #!
predict("09.a", guess)

# %%
print(BROKEN)

def trained(name, **changed):
    """BROKEN with these settings changed, and what the package says while it learns."""
    method = METHODS["sentpwnet"](**{**BROKEN, **changed})
    with warnings.catch_warnings(record=True) as said, in_notebook(name) as shown:
        warnings.simplefilter("always", UserWarning)
        method.fit(topics, seed=0, progress=shown)
    for each in said:
        print("The package warns:", each.message)
    return method

broken = trained("broken")

# %%
columns = ["loss", "probe_mean_cosine", "probe_effective_rank", "dev_hit@1"]
for row in broken.history.rows:
    print(f"epoch {row['epoch']:.0f}:", ", ".join(f"{name} {row[name]:.3f}" for name in columns))
recall("09.a", round(broken.history.column("loss")[-1], 3))

# %% [markdown]
# The loss falls at first, and then it stands still. It looks like a training that has converged. It has not learned what it was
# asked for.
#
# **Exercise 09.3.** Say that all vectors have become one. What does an anchor cost then, with this loss and its margin of 0.2?
#
# *3 minutes, easy. What it is for: knowing the one value of a loss that means nothing is being learned.*
#
# hint: If all vectors are one, what are S_n and S_p?
# hint: Both are 1, so that S_n - S_p is 0. What is left of [S_n - S_p + margin]₊?
# hint: The margin.
# right: a loss that stays at its margin is the first sign: look for it in your own curves
# further: What would the logistic loss of a pair cost at a point, and what would InfoNCE with 63 negatives? Both have
# such a value, too.

# %%
cost = 0.2  #!
answer("09.3", cost)

# %% [markdown]
# That is the first sign of a collapse, and it costs nothing to look for: **a triplet loss that stays at its margin**. The second is the
# histogram of cosines. Below are those of sentences of one topic and of two, epoch by epoch, of sentences that training has not seen.

# %%
show(
    cosine_ridges(cosines_over_epochs(broken.snapshots)),
    "An epoch below the other, 0 (before training) on top; cosines from left to right, the share "
    "of the pairs upwards: blue of one topic, orange of two, at the right their means. Before "
    "training both hills stand near 1, but apart. From the first epoch on they are one needle at "
    "cosine 1, as wide as a bin of the histogram.",
)

# %% [markdown]
# **Predict 09.b.** The vectors have 60 numbers each. What is the effective rank of this needle? Write a number.

# %%
guess = 1.5  #!
predict("09.b", guess)

# %%
V = figures_of("broken", broken)
recall("09.b", round(float(effective_rank(spectrum(V))), 1))

# %% [markdown]
# The needle is not thin! The effective rank takes the mean off and looks at shares: it asks along how many directions
# the sentences differ, and never *how much*. And Hit@1 asks who is nearest, never how near: it is far above that of the untrained
# vectors, by differences in the third decimal. A collapse into a point shows in the mean cosine, in the histogram and in the loss.
# **Look at more than one figure.**
#
# Is it any harm, then? Keep each number of a unit vector in eight bits, as a vector store may do to save room:

# %%
def in_eight_bits(V):
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)
    return np.round(127 * unit) / 127

mended = trained("mended", learning_rate=0.01)
W = figures_of("mended", mended)
for name, rows in (("broken", V), ("mended", W)):
    before, after = hit_at(rows, labels)[1], hit_at(in_eight_bits(rows), labels)[1]
    print(f"Hit@1 of {name} in 32 bits {before:.3f}, in 8 bits {after:.3f}")

# %% [markdown]
# And no threshold between *same* and *other* stands anywhere that one would look for it.
#
# The package has warned of the mended training, too: its first epochs led into the same point. But it came out again. A warning asks
# you to look; the histograms say what became of it:

# %%
show(
    cosine_ridges(cosines_over_epochs(mended.snapshots)),
    "The same histograms of the mended training. For some epochs it is a needle, too; then it "
    "opens, and at the end the orange hill (two topics) lies low around 0 and the blue one (one "
    "topic) reaches far to the right.",
)

# %% [markdown]
# ## 3. Why it is slow to leave
#
# A vector has length 1. Its anchor pulls it along the anchor's own vector (notebook 1, section 2), but whatever goes along the vector
# itself only
# changes its length, and that is set back to 1. What counts is the rest.
#
# **Exercise 09.4.** Write that rest: the part of each pull that goes along the sphere.
#
# *8 minutes, medium. What it is for: seeing why a point is hard to leave: what moves a vector of length 1 is only the
# part at a right angle to it.*
#
# hint: The part that goes along v itself only changes its length, which is set back to 1: take that part off.
# hint: How much of the pull goes along v? Their dot product, row by row: `(pull * v).sum(1)`.
# hint: `pull - (pull * v).sum(1, keepdims=True) * v`
# right: where pull and vector point the same way nothing is left: on top of its pair no vector moves
# further: Take two unit vectors at an angle of your choice and print the length of `along`. Which angle moves most?

# %%
def along(v, pull):
    """v (n, d), rows of length 1; pull (n, d) -> the part of each pull at a right angle to its v"""
    return pull - (pull * v).sum(1, keepdims=True) * v  #!

answer("09.4", along)

# %% [markdown]
# Every test sentence is pulled by another, with weight 1. How long is the part that moves it?

# %%
for name, rows in (("broken", V), ("mended", W)):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    moves = np.linalg.norm(along(unit, np.roll(unit, 1, axis=0)), axis=1)
    print(f"{name}: of a pull of length 1 moves {moves.mean():.3f}")

# %% [markdown]
# In the needle next to nothing of a pull is left, and the positive's pull and the negative's push are nearly one vector, so that they
# cancel. A point is
# a place where this loss is nearly flat: the small step found the way out, the large one has not in eight epochs. That hard negatives can
# lead there, early in a training, is known:
# [Schroff, Kalenichenko and Philbin](https://arxiv.org/abs/1503.03832) warn of it in section 3.2, and take negatives that are
# *semi-hard*, farther away than the positive.
#
# ## 4. Three things that one may change
#
# - **the step**: 0.01, a thirtieth of the broken one's;
# - **the pairs**: all triplets of the batch, not the hardest alone;
# - **the loss**: InfoNCE ($\tau = 0.05$) in the place of the margin; the hardest pairs and the large step stay.
#
# **Predict 09.c.** Which of these does not help by itself: `"step"`, `"pairs"` or `"loss"`?

# %%
guess = "step"  #!
predict("09.c", guess)

# %%
table, bad = kept("break-cures"), "broken: triplet, hardest, step 0.3"

def line(name):
    """Means over five seeds, and the lead over the broken one with its 95 % interval."""
    lead = table.lead(name, bad, "map@r")
    low, high = lead.interval()
    means = {measure: table.spread(name, measure).mean for measure in PLANS[table.name].measures}
    between = "" if name == bad else f"{lead.lead:+.3f} ({low:+.3f} to {high:+.3f})"
    return {"training": name, **means, "MAP@R above the broken one": between}

pd.DataFrame(map(line, table.figures)).set_index("training").round(3)

# %%
changes = {"step": "a smaller step, 0.01", "pairs": "all pairs", "loss": "another loss: InfoNCE"}
recall("09.c", max(changes, key=lambda each: table.spread(changes[each], "mean_cosine").mean))

# %%
show(
    seed_dots(table, "map@r"),
    "A line is a training, MAP@R grows to the right. Open circles: one seed each; blue diamonds: "
    "their mean with its spread; open ones are shown to be behind the best. The broken one and "
    "the one with another loss lie together on the left, above the untrained vectors; the three "
    "cured ones lie to the right.",
)

# %% [markdown]
# MAP@R looks at as many neighbours as a topic has sentences, and sees more than Hit@1 does. Five seeds each, measured by `python -m
# labkit.course.plans break-cures`; an interval that leaves 0 out is a lead that other seeds would show, too.
#
# - A smaller step helps most, and all pairs help.
# - Another loss alone does **not**: with one positive and one negative an anchor, InfoNCE falls into the same point, and its MAP@R is
#   lower still.
#   With all pairs it is among the best: what was broken were the pairs and the step.
#
# One cell of the table again, here and now:

# %%
with in_notebook("all pairs, seed 1") as shown:
    now = again(PLANS["break-cures"], "all pairs", seed=1, progress=shown)
for measure, value in now.items():
    print(f"{measure:15} now {value:.4f}, kept {table.figures['all pairs'][1][measure]:.4f}")

# %% [markdown]
# ### The other collapse
#
# Look at the effective rank of *all pairs*: about 11, of 60 numbers. The topics are fourteen, and fourteen points span at most thirteen
# directions around their mean. Here even fewer hold nearly everything, and what else sentences differ in has been flattened:

# %%
flat = trained("all pairs", miner="none")
show(
    spectra_over_epochs(cosines_over_epochs(flat.snapshots)),
    "Singular values of held-out sentences' vectors, the largest first, each as a share of their "
    "sum, upwards in powers of ten; one line an epoch. Before training they sink slowly to the "
    "right. After it seven are large, and then they fall off steeply, to a tenth and less.",
)

# %% [markdown]
# For finding topics that is as it should be. For any other question, such as which of two sentences on cooking is about bread, little
# room is left. No figure that asks for topics will say so; the effective rank does.
#
# ## 5. Anisotropy, and whitening
#
# A space can be narrow without any training. The plain means of word vectors from section 1 have a mean cosine far above 0: all sentences
# share *the*, *of* and *a*. Such a space is called **anisotropic**. Whitening evens it out: the mean is taken off, and each
# direction is divided by its size, so that $\frac{1}{n} X^\top X = I$.
#
# **Exercise 09.5.** Write it. `np.linalg.eigh(C)` gives the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as
# columns. (Any rotation of the result is as right.)
#
# *10 minutes, hard. What it is for: evening a space out, which many pipelines do before they search.*
#
# hint: Take the mean off. Then `C = X.T @ X / len(X)` is the covariance; its eigenvectors are the directions.
# hint: `values, directions = np.linalg.eigh(C)`: along a direction the variance is its value. Its root is the size.
# hint: `X @ directions / np.sqrt(values)`
# right: no direction is larger than another now, whichever way the whole is turned
# further: Whiten with only half of the directions, the largest ones, and measure Hit@1 again. Is the loss of
# whitening SIF in the small directions?

# %%
def whiten(X):
    """X (n, d), n above d -> rows (n, d) with mean 0 and covariance I (a mean over n)"""
    X = X - X.mean(0)
    values, directions = np.linalg.eigh(X.T @ X / len(X))  #!
    return X @ directions / np.sqrt(values)  #!

answer("09.5", whiten)

# %%
X = untrained.encode(list(test.texts)).astype(float)
for when, rows in (("before", X), ("after", whiten(X))):
    found = mean_cosine(rows), effective_rank(spectrum(rows))
    print("{}: mean cosine {:.3f}, effective rank {:.1f}".format(when, *found))

# %% [markdown]
# A better space? It has better *figures of a space*. Three ways to even out vectors stand below, each learned from the training sentences
# and tried on the test split: whitening, *all but the top* (the mean and a few strongest directions off), and **SIF** (notebook
# 8), which lets frequent words count little from the start and takes one direction off.
#
# **Predict 09.d.** SIF has a mean cosine near 0 already. Whitened, will its Hit@1 be `"higher"`, `"lower"` or `"open"`?

# %%
guess = "higher"  #!
predict("09.d", guess)

# %%
evened = kept("break-whitening")
pd.DataFrame(evened.rows(PLANS["break-whitening"].measures)).set_index("variant")

# %%
lead = evened.lead("sif, whitened", "sif", "hit@1")
low, high = lead.interval()
print(f"whitened SIF above SIF: {lead.lead:+.3f}, with other seeds {low:+.3f} to {high:+.3f}")
recall("09.d", "higher" if low > 0 else "lower" if high < 0 else "open")

# %% [markdown]
# Crude means gain by whitening. SIF, which has an even space to begin with, loses: whitening makes
# the small directions as large as the others, and with them whatever noise they hold. **An even space is no aim in itself.** Measure what
# you need.
#
# ## 6. Hard negatives that are none
#
# The nearest negatives teach most, if they are negatives. Who mines them in a large corpus knows some pairs that belong together, and
# takes all others for strangers; some of these mean the same, and nobody has said so. Those are **false negatives**.
#
# In `captions`, five people described each scene. Say that we know of each scene only couples of captions: the fifth and other couples of
# the same
# scene count as strangers. Here the truth is known, so false ones can be counted.
#
# **Predict 09.e.** For each caption take the nearest one that is not its known partner. Which share of these is of the same scene? Write a
# number between 0 and 1.

# %%
guess = 0.02  #!
predict("09.e", guess)

# %%
known, truth = with_truth(load("captions"))
reader = METHODS["mean-vectors"]()
reader.fit(known)
mined = mine_negatives(reader, known, count=50)
scenes = np.unique([truth[text] for text in mined.texts], return_inverse=True)[1]
nearest = mined.triplets[mined.ranks == 1]
print(len(nearest), "triplets of row numbers:", nearest[:3].tolist())

# %% [markdown]
# **Exercise 09.6.** Write the share. A triplet has the row numbers of an anchor, its positive and its negative; `meaning` says of each row
# what it means.
#
# *4 minutes, easy. What it is for: counting how many of the negatives that somebody mined are none.*
#
# hint: `meaning[triplets[:, 0]]` is what each anchor means. And each negative?
# hint: Column 2 has the negatives. Where do the two meanings agree?
# hint: `(meaning[triplets[:, 0]] == meaning[triplets[:, 2]]).mean()`
# right: it can be counted only where somebody knows the truth: on data of your own, read twenty of the nearest
# further: Count them by rank, from the first to the fiftieth nearest. From which rank on would you trust mined
# negatives here?

# %%
def false_share(triplets, meaning):
    """triplets (n, 3): anchor, positive, negative; meaning (m,) -> the share of false negatives"""
    return (meaning[triplets[:, 0]] == meaning[triplets[:, 2]]).mean()  #!

answer("09.6", false_share)

# %%
print(f"any two captions are of one scene: {(scenes[:, None] == scenes).mean():.4f}")
recall("09.e", round(float(false_share(nearest, scenes)), 3))

# %% [markdown]
# Among all captions hardly any two are of one scene; among the *nearest*, a fifth are. The harder a negative, the more likely it is none.
# What
# people do about it: skip the first ranks; ask for a **margin** to the positive; or ask another method, a **guide**, and drop what it
# finds as near as the positive. Here the guide is TF-IDF:

# %%
guide = METHODS["tfidf"]()
guide.fit(known)
guided = mine_negatives(reader, known, count=50, guide=guide)
shares = {"no guide": false_shares(mined, truth), "guided by TF-IDF": false_shares(guided, truth)}
show(
    false_negatives_mined(shares),
    "Upwards the share of mined negatives that are false. Left by rank: the nearest are worst, and "
    "it falls quickly. Right by the margin that is asked for: the wider, the fewer are false. The "
    "guide's line runs below the other on the left, and is no cure either.",
)
for name, each in shares.items():
    first, last = each.by_rank[0], each.by_rank[-1]
    print(f"{name}: of the nearest {first:.3f} are false, of ranks 21 to 50 {last:.3f}")

# %% [markdown]
# A guide takes some of the false ones out, the rank takes nearly all; and with each the hardest *true* negatives go, too. On your own data
# the truth is not known:
# read twenty of the nearest yourself, before a network learns from them. `labkit data mine` writes such files.
#
# ## To try on your own
#
# 1. Break it in another way: `trained("...", margin=1.0)`, `batch=16`, or `encoder="cnn"`. Which signs come first?
# 2. Find the largest step at which the broken settings do not collapse, for three seeds. Is it the same for each?
# 3. Mine in `topics` in the place of `captions`. Why are nearly all of the nearest false there?
# 4. Whiten to fewer directions: `METHODS["whitening"](base="sif", dimension=32)`. Does it still hurt?

# ## Further reading
#
# - Schroff, Kalenichenko and Philbin, [*FaceNet*](https://arxiv.org/abs/1503.03832), 2015. Triplets with a margin, semi-hard negatives,
#   and the warning.
# - Hermans, Beyer and Leibe, [*In Defense of the Triplet Loss*](https://arxiv.org/abs/1703.07737), 2017. Hard mining that works, and what
#   its trainings look like when they do not.
# - Jing, Vincent, LeCun and Tian, [*Understanding Dimensional Collapse in Contrastive Self-supervised
#   Learning*](https://arxiv.org/abs/2110.09348), 2022. Spaces that use a few of their directions.
# - Papyan, Han and Donoho, [*Prevalence of Neural Collapse*](https://arxiv.org/abs/2008.08186), 2020. Why a class ends as a point.
# - Wang and Isola, [*Understanding Contrastive Representation Learning through Alignment and Uniformity on the
#   Hypersphere*](https://arxiv.org/abs/2005.10242), 2020. Two more figures of a space.
# - Su, Cao, Liu and Ou, [*Whitening Sentence Representations for Better Semantics and Faster
#   Retrieval*](https://arxiv.org/abs/2103.15316), 2021. Where whitening helps.

# %% [markdown]
# ## Three questions to end with
#
# *No cell asks for these. Say your answer aloud, or write it down, before you unfold ours.*
#
# **1.** A colleague shows you a loss curve that has been flat for hours, and says that training has converged. What do you ask to see
# before you believe it?
#
# <details><summary>An answer</summary>
#
# The value itself, first: a triplet loss at its margin, or InfoNCE at the logarithm of its batch, has learned nothing. Then the mean
# cosine of held-out sentences and the histogram of their cosines. A curve says that nothing changes any more, and not why.
#
# </details>
#
# **2.** The effective rank of the broken space was larger than that of the one that was cured by all pairs. Is it a useless figure?
#
# <details><summary>An answer</summary>
#
# No, it answers another question: along how many directions sentences differ, whatever the size of the differences. It sees the
# collapse of directions, which the mean cosine does not. For the collapse into a point the mean cosine is the one to look at.
#
# </details>
#
# **3.** Why do hard negatives and a large step break a training together, when each alone may do no harm?
#
# <details><summary>An answer</summary>
#
# The hardest negatives are nearer than the positives early on, and pushing them away by a small step is undone or mended at the next
# batch. A large step throws all vectors together at once, and there nearly nothing of a pull is left that moves a vector, so
# that the next steps, however large, cannot take them apart again.
#
# </details>

# %%
progress("09")
