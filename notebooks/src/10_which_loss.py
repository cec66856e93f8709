# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 10 · Which loss?
#
# **Many losses, one training: which one should you take?** Lesson 1 took three losses apart. Here you compare all of them
# on one question, how much of its push a loss gives to the nearest negative, and find out that a temperature or a batch
# size may matter more than the name of the loss.
#
# *45 minutes, 28 of them for four exercises. You need notebook 1, where a weight is the slope of a loss.*
#
# In Play, choose scene 10, *When β hardly matters*. Two hyperparameters, and nothing happens; then one click on the miner,
# and the two sides part. What does that say about a table that compares two losses?

# %%
from labkit import playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %% [markdown]
# ## 1. One anchor, every loss
#
# An anchor has two positives and four negatives, at the similarities above the columns. Each row is a loss with its usual
# hyperparameters, and each number is the weight of a pair: how hard the loss pulls (positives) or pushes (negatives).

# %%
from functools import partial

import pandas as pd
import torch

from labkit.pairs import LOSSES, pair_weights

def usual(name):
    """The loss with the temperature that trainings start from."""
    loss = LOSSES[name]
    settings = {"temperature": loss.temperature} if "temperature" in loss.hyperparameters else {}
    return partial(loss.function, **settings)

def one_anchor(positives, negatives):
    """S and the masks of an anchor, row 0, with these pairs; the other rows have none."""
    row = torch.tensor([1.0, *positives, *negatives], dtype=torch.float64)
    S = row.expand(len(row), -1)
    P, N = torch.zeros(S.shape, dtype=torch.bool), torch.zeros(S.shape, dtype=torch.bool)
    P[0, 1 : 1 + len(positives)] = N[0, 1 + len(positives) :] = True
    return S, P, N

positives, negatives = [0.8, 0.4], [0.7, 0.5, 0.3, 0.0]
rows = {name: pair_weights(usual(name), *one_anchor(positives, negatives))[0, 1:].numpy() for name in LOSSES}
heads = [f"positive {s}" for s in positives] + [f"negative {s}" for s in negatives]
pd.DataFrame(rows, index=heads).T.round(3)

# %% [markdown]
# The scales differ, because some losses divide by the temperature and some add up triplets. A scale makes no difference: the
# learning rate takes care of it. What differs is how the weight is *shared out*. Read each row from left to right.
#
# Some losses only count. The **margin triplet** loss costs $[S_n - S_p + \text{margin}]_+$ for each triplet, so its slope is
# 1 where that is above 0, and 0 elsewhere.
#
# **Exercise 10.1.** Write its weights for one anchor: of each positive and of each negative.
#
# *7 minutes, easy. What it is for: one end of the scale, a loss that counts violations and does not look at their size.*
#
# hint: A triplet has the slope 1 where S_n - S_p + margin is above 0, and 0 elsewhere.
# hint: `short = negatives[None, :] - positives[:, None] + margin > 0` has a row for each positive, a column for each negative.
# hint: A pair's weight is the number of its short triplets: `short.sum(1)` and `short.sum(0)`.
# right: whole numbers: a pair counts once for each triplet that is not in order by the margin
# further: Move the margin from 0 to 1 in steps and watch the counts. At which margin is every triplet short?

# %%
import numpy as np

def triplet_counts(positives, negatives, margin):
    """similarities (p,) and (n,) -> weights of the positives (p,), weights of the negatives (n,)"""
    short = negatives[None, :] - positives[:, None] + margin > 0  #!
    return short.sum(1), short.sum(0)  #!

answer("10.1", triplet_counts)

# %% [markdown]
# **InfoNCE** shares. With one positive $p$, the anchor's term is $-\log$ of the positive's share in a softmax over
# $S/\tau$, the positive and all negatives in one sum.
#
# **Exercise 10.2.** Differentiate it, and write the weights of the negatives.
#
# *8 minutes, medium. What it is for: the other end of the scale, one push shared among all negatives.*
#
# hint: The loss is -log of the positive's share in a softmax over the positive and all negatives, of S/τ.
# hint: Its slope in S_n is the share of that negative, and 1/τ comes out of the exponent.
# hint: `e = np.exp(negatives / tau)`, then `e / (np.exp(positive / tau) + e.sum()) / tau`
# right: the push is shared out by a softmax: what one negative gets, another loses
# further: Add up the weights of all negatives and compare with the weight of the positive. Which law holds, and why?

# %%
def infonce_push(positive, negatives, tau):
    """S_p, S_n (n,) and the temperature -> weights of the negatives (n,)"""
    e = np.exp(negatives / tau)  #!
    total = np.exp(positive / tau) + e.sum()  #!
    return e / total / tau  #!

answer("10.2", infonce_push)

# %% [markdown]
# Now one number for each loss. Take a batch of weights: of all that an anchor pushes away, what share goes to the single
# negative that gets most?
#
# **Exercise 10.3.** Compute that share for each anchor, and return the mean over the anchors. Leave out anchors that push
# nothing.
#
# *9 minutes, medium. What it is for: you will compare all losses, and then all temperatures, by this number.*
#
# hint: Loop over the rows. The pushes of anchor i are `W[i, N[i]]`.
# hint: If their sum is 0, go on with the next row; otherwise append their largest divided by their sum.
# hint: `shares.append(push.max() / push.sum())`, and `sum(shares) / len(shares)` at the end.
# right: near 1 the loss listens to the nearest negative alone; at one over their number it does not listen at all
# further: Compute the effective number of negatives instead, `push.sum()**2 / (push**2).sum()`. Do the two agree on the
# order of the losses?

# %%
def nearest_share(W, N):
    """weights (m, m) and the mask of the negatives -> one number"""
    shares = []  #!
    for i in range(len(W)):  #!
        push = W[i, N[i]]  #!
        if push.sum() == 0:  #!
            continue  #!
        shares.append(push.max() / push.sum())  #!
    return sum(shares) / len(shares)  #!

answer("10.3", nearest_share)

# %% [markdown]
# **Predict 10.a.** On a real batch, 24 sentences on six topics, which loss gives most to the nearest negative:
# `"contrastive"`, `"soft-triplet"`, `"infonce"` or `"locality"`?

# %%
guess = "infonce"  #!
predict("10.a", guess)

# %%
from labkit import METHODS, load
from labkit.sentpwnet.view import cosines, sentence_batch

topics = load("topics")
vectors = METHODS["mean-vectors"]()
vectors.fit(topics)
batch = sentence_batch(topics, size=24, per_class=4, seed=3)
S = torch.tensor(cosines(vectors.encode(list(batch.texts))))
P, N = torch.tensor(batch.positive), torch.tensor(batch.negative)

nearest = {name: float(nearest_share(pair_weights(usual(name), S, P, N), N)) for name in LOSSES if name != "simcse"}
for name, share in sorted(nearest.items(), key=lambda each: -each[1]):
    print(f"{name:16} the nearest of 20 negatives gets {share:.3f}")
recall("10.a", max(("contrastive", "soft-triplet", "infonce", "locality"), key=nearest.get))

# %% [markdown]
# If all 20 were pushed alike, each would get 0.05. At the other end, the locality loss lives on one or two negatives.
# Between the two ends there is a hyperparameter.
#
# ## 2. The temperature
#
# The smaller $\tau$, the closer a softmax is to a maximum:

# %%
from labkit.explore import Slider, explore
from labkit.figures import weight_curves
from labkit.pairs import infonce
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import anchor_curves, examine

def losses_at(temperature):
    settings = PairSettings(miner="none", base=0.5, beta=50.0, temperature=temperature)
    names = ("infonce", "supcon", "soft-triplet", "logistic", "locality", "contrastive")
    return weight_curves(anchor_curves(examine(batch, S.numpy(), settings), batch.busiest, losses=names))

explore(
    losses_at,
    "The pairs of one anchor under six losses, positives on the left, negatives on the right: weight, in powers of ten, "
    "against similarity. With a low temperature four of them rise towards the nearest negatives as steeply as the locality "
    "loss; at 1 they are nearly flat.",
    temperature=Slider("τ, the temperature", 0.02, 1.0, 0.02, 0.1),
)
for tau in (0.01, 0.05, 0.2, 1.0):
    W = pair_weights(partial(infonce, temperature=tau), S, P, N)
    print(f"InfoNCE with τ = {tau:4}: the nearest of 20 negatives gets {float(nearest_share(W, N)):.3f}")

# %% [markdown]
# **Predict 10.b.** Pairs of questions, a linear map on mean word vectors, six epochs, everything the same except for $\tau$.
# Which has the best AUC on test: 0.01, 0.05, 0.2 or 1?

# %%
guess = 0.05  #!
predict("10.b", guess)

# %%
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS

def table_of(name, against, measure):
    """Means over the seeds, and the lead over one of the trainings with its 95 % interval."""
    table, lines = kept(name), []
    for variant in table.figures:
        lead = table.lead(variant, against, measure)
        low, high = lead.interval()
        means = {each: table.spread(variant, each).mean for each in PLANS[name].measures}
        between = "" if variant == against else f"{lead.lead:+.3f} ({low:+.3f} to {high:+.3f})"
        lines.append({"training": variant, **means, f"{measure} above {against}": between})
    return pd.DataFrame(lines).set_index("training").round(3)

table_of("loss-temperature", "τ = 1", "auc")

# %%
heat = kept("loss-temperature")
best = max(heat.figures, key=lambda name: heat.spread(name, "auc").mean)
recall("10.b", float(best.removeprefix("τ = ")))

# %% [markdown]
# The colder, the better, on this corpus and as far down as we looked. Three hundredths of AUC, with one loss and one
# hyperparameter.
#
# ## 3. The size of the batch
#
# In InfoNCE the negatives are the other sentences of the batch. A larger batch has more of them.
#
# **Exercise 10.4.** Suppose that a network has learned nothing and all similarities are the same. What does InfoNCE cost an
# anchor with one positive and 63 negatives?
#
# *4 minutes, easy. What it is for: reading the first value of a loss curve before you believe in its fall.*
#
# hint: If all similarities are the same, what is the positive's share?
# hint: It is one of 64 equal shares: 1/64, whatever the temperature.
# hint: -log(1/64), the natural logarithm.
# right: so a loss says nothing without its batch: that of a larger batch starts higher
# further: Look up the initial loss of one of your own InfoNCE trainings. How far below the logarithm of its batch size
# does it start, and what did the untrained network know?

# %%
cost = np.log(64)  #!
answer("10.4", cost)

# %% [markdown]
# So curves of two batch sizes cannot be compared: the loss of the larger one starts higher, whatever is learned.
#
# **Predict 10.c.** Compare the AUC, then, for batches of 32, 64, 128 and 256 pairs, **six epochs each**. Which is best?

# %%
guess = 256  #!
predict("10.c", guess)

# %%
from labkit.explore import show
from labkit.figures import seed_dots

sizes = kept("loss-batch")
best = max((32, 64, 128, 256), key=lambda size: sizes.spread(f"{size} pairs, 6 epochs", "auc").mean)
show(
    seed_dots(sizes, "auc"),
    "One line for each training, AUC to the right. Upper four, six epochs each: the larger the batch, the farther left. "
    "Lower four, equally many steps each: the larger, the farther right.",
)
recall("10.c", best)

# %%
for kind in ("6 epochs", "as many steps"):
    found = sizes.lead(f"256 pairs, {kind}", f"32 pairs, {kind}", "auc")
    low, high = found.interval()
    print(f"256 pairs against 32, {kind}: {found.lead:+.3f} ({low:+.3f} to {high:+.3f})")

# %% [markdown]
# Six epochs of 256 pairs have an eighth of the steps of six epochs of 32, so the network has been moved an eighth as often.
# With **as many steps**, the larger batch is far ahead, but it has seen every pair eight times as often and taken that
# much longer. Neither comparison is wrong, and they have opposite results. Whoever says that a large batch helps must
# say what was held equal: epochs, steps, or time.
#
# ## 4. Which one, then?
#
# All losses on pairs of questions, each with its usual hyperparameters, three seeds:

# %%
gallery = kept("loss-gallery")
show(
    seed_dots(gallery, "auc"),
    "One line for each loss, AUC to the right. Locality and CoSENT are farthest right, InfoNCE and supervised contrastive "
    "behind them, then the triplets and logistic, then contrastive; SimCSE, which sees no labels, is next to the untrained "
    "vectors.",
)

# %% [markdown]
# Compare this with section 1: apart from the contrastive loss, the more a loss gives to the nearest negative, the better it
# does here. That is a hint, not a law; these losses are few.
#
# **And it is not a ranking of losses.** Their hyperparameters decide too much. Those of the locality loss were chosen on dev of
# this very corpus. Section 2 moved InfoNCE by three hundredths with one hyperparameter. In lesson 2, where three losses are
# tuned with equally many trials, they tie, and the contrastive loss is one of them.
#
# So choose by your data: a loss that takes pairs, classes or grades. Then look at where the weight goes, and tune
# that, with as many trials as its rival gets.
#
# ## Further reading
#
# - Wang and Liu, [*Understanding the Behaviour of Contrastive Loss*](https://arxiv.org/abs/2012.09740), 2021. What the
#   temperature does.
# - Khosla and others, [*Supervised Contrastive Learning*](https://arxiv.org/abs/2004.11362), 2020. Several positives in one
#   sum.
# - Musgrave, Belongie and Lim, [*A Metric Learning Reality Check*](https://arxiv.org/abs/2003.08505), 2020. How little is left
#   when all losses are tuned alike.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you unfold ours.*
#
# **1.** Two losses give all pairs of a batch the same weights except for a factor of ten. How do two trainings with them
# differ?
#
# <details><summary>An answer</summary>
#
# By nothing that the learning rate cannot undo. An optimiser such as Adam even divides the factor away. What makes losses
# differ is how they share the weight among pairs.
#
# </details>
#
# **2.** A paper says that its loss profits from large batches, and compares six epochs of 32 with six epochs of 512. What is
# missing?
#
# <details><summary>An answer</summary>
#
# What was held equal. With equal epochs the larger batch takes a sixteenth of the steps; with equal steps it sees sixteen
# times the data. A fair table has both, and chooses the learning rate on dev for each size.
#
# </details>
#
# **3.** Your table says that loss A is two hundredths ahead of loss B. What do you ask before you believe it?
#
# <details><summary>An answer</summary>
#
# Whether other seeds would show it, how many trials each got for its hyperparameters, and whether batches and miners were
# the same. The scene at the top shows why: with one miner β does nothing, with another it does a lot.
#
# </details>

# %%
progress("10")
