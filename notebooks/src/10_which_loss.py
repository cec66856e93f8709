# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 10 · Which loss?
#
# *Time: 60 minutes, 29 of them for the exercises. You need: notebook 1, where a weight is the slope of a loss. All cells together run in well under a minute.*
#
# Notebook 1 took three losses apart. The gallery of this lab has nine, under ten names, and somebody who begins a training must choose one.
# At the end you will know
#
# - how all of them weigh the pairs of one batch, and that they differ in one thing above all: how much the nearest negative gets,
# - what a temperature does to a loss, and what it does to a result,
# - why a larger batch looks better than it is, or worse, until steps are counted,
# - which loss takes which data: pairs, classes, grades, or sentences without labels,
# - that the answer to "which loss?" is mostly "which dial, which batch, which data?".

# %%
from functools import partial

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.explore import Slider, explore, show
from labkit.figures import seed_dots, weight_curves
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS
from labkit.pairs import LOSSES, infonce, pair_weights
from labkit.pairs.losses import shapes_table
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import anchor_curves, cosines, examine, sentence_batch

Markdown("\n".join(f"- `{name}`: ${loss.latex}$" for name, loss in LOSSES.items()))

# %% [markdown]
# `locality` and `multi-similarity` are one loss. `simcse` is InfoNCE, on a batch that holds every sentence twice: what is new there is
# where the positive comes from.
#
# ## 1. One anchor, nine names
#
# An anchor has two positives and four negatives, at the similarities that stand above the columns. Each row is a loss with its usual
# dials, and each number the
# weight of a pair: how hard the loss pulls at it (positives) or pushes it away (negatives).

# %%
def usual(name):
    """The loss with the temperature that trainings take."""
    loss = LOSSES[name]
    dials = {"temperature": loss.temperature} if "temperature" in loss.hyperparameters else {}
    return partial(loss.function, **dials)

def one_anchor(positives, negatives):
    """S (m, m) and the masks of an anchor, row 0, with these pairs; the other rows have none."""
    row = torch.tensor([1.0, *positives, *negatives], dtype=torch.float64)
    S = row.expand(len(row), -1)
    P, N = torch.zeros(S.shape, dtype=torch.bool), torch.zeros(S.shape, dtype=torch.bool)
    P[0, 1 : 1 + len(positives)] = N[0, 1 + len(positives) :] = True
    return S, P, N

positives, negatives = [0.8, 0.4], [0.7, 0.5, 0.3, 0.0]
rows = {}
for name in LOSSES:
    rows[name] = pair_weights(usual(name), *one_anchor(positives, negatives))[0, 1:].numpy()
heads = [f"positive {s}" for s in positives] + [f"negative {s}" for s in negatives]
pd.DataFrame(rows, index=heads).T.round(3)

# %% [markdown]
# The scales differ, since some losses divide by the temperature and some add up triplets. A scale is no difference: the length of a step
# takes care of
# it. What differs is how the weight is *shared out*. Read each row from left to right.
#
# Contrastive knows 0 and 1 only, and the **margin triplet** loss counts: $[S_n - S_p + \text{margin}]_+$ for each triplet of the anchor has a slope of 0 or 1.
#
# **Exercise 10.1.** Write its weights for one anchor: of each positive and of each negative.
#
# *8 minutes, medium. What it is for: reading a loss by its slope: the margin triplet loss only counts.*
#
# hint: A triplet costs [S_n - S_p + margin]₊: its slope is 1 where that is above 0, and else 0.
# hint: `short = negatives[None, :] - positives[:, None] + margin > 0` has a row a positive, a column a negative.
# hint: A pair's weight is the number of its short triplets: `short.sum(1)` and `short.sum(0)`.
# right: whole numbers: a pair counts once for each triplet that is not in order by the margin
# further: Move the margin from 0 to 1 in steps and watch the counts. At which margin is every triplet short?

# %%
def triplet_counts(positives, negatives, margin):
    """similarities (p,) and (n,) -> weights of the positives (p,), weights of the negatives (n,)"""
    short = negatives[None, :] - positives[:, None] + margin > 0  #!
    return short.sum(1), short.sum(0)  #!

answer("10.1", triplet_counts)

# %% [markdown]
# **InfoNCE** shares. With one positive $p$ the anchor's term is $-\log$ of the positive's share in a softmax over $S/\tau$, the
# positive and all negatives in one sum.
#
# **Exercise 10.2.** Differentiate, and write the weights of the negatives.
#
# *8 minutes, medium. What it is for: seeing that InfoNCE shares one push among all negatives.*
#
# hint: The loss is -log of the positive's share in a softmax over the positive and all negatives, of S/τ.
# hint: Its slope in S_n is the share of that negative, and 1/τ comes out of the exponent.
# hint: `e = np.exp(negatives / tau)`, then `e / (np.exp(positive / tau) + e.sum()) / tau`
# right: the push is shared out by a softmax: what one negative gets, another loses
# further: Add up all weights of the negatives and compare with the weight of the positive. Which law holds, and why?

# %%
def infonce_push(positive, negatives, tau):
    """S_p, S_n (n,) and the temperature -> weights of the negatives (n,)"""
    e = np.exp(negatives / tau)  #!
    return e / (np.exp(positive / tau) + e.sum()) / tau  #!

answer("10.2", infonce_push)

# %% [markdown]
# Now a real batch: 24 sentences of six topics, by means of word vectors, as in notebook 1. Of all that an anchor pushes away, which share
# does its *nearest*
# negative get?
#
# **Predict 10.a.** Which loss gives it most, with usual dials: `"contrastive"`, `"soft-triplet"`, `"infonce"` or `"locality"`?

# %%
guess = "infonce"  #!
predict("10.a", guess)

# %%
topics = load("topics")
vectors = METHODS["mean-vectors"]()
vectors.fit(topics)
batch = sentence_batch(topics, size=24, per_class=4, seed=3)
S = torch.tensor(cosines(vectors.encode(list(batch.texts))))
P, N = torch.tensor(batch.positive), torch.tensor(batch.negative)

def of_the_nearest(loss):
    """The share of an anchor's push that its nearest negative gets; the mean over the anchors."""
    push = pair_weights(loss, S, P, N) * N
    return (push.max(1).values / push.sum(1)).mean().item()

nearest = {name: of_the_nearest(usual(name)) for name in LOSSES if name != "simcse"}
for name, share in sorted(nearest.items(), key=lambda each: -each[1]):
    print(f"{name:16} the nearest of 20 negatives gets {share:.3f}")
asked = ("contrastive", "soft-triplet", "infonce", "locality")
recall("10.a", max(asked, key=nearest.get))

# %% [markdown]
# If all 20 were pushed alike, each would get .05: that is the margin triplet loss here. At the other end the locality loss lives on one or
# two negatives.
# Between them lies a dial.
#
# ## 2. Temperature
#
# The smaller $\tau$, the more the softmax is a maximum:

# %%
def losses_at(temperature):
    settings = PairSettings(miner="none", base=0.5, beta=50.0, temperature=temperature)
    found = examine(batch, S.numpy(), settings)
    names = ("infonce", "supcon", "soft-triplet", "logistic", "locality", "contrastive")
    return weight_curves(anchor_curves(found, batch.busiest, losses=names))

explore(
    losses_at,
    "The pairs of one anchor under six losses, positives left, negatives right; weight (in powers "
    "of ten) against similarity. Turn the temperature down, and InfoNCE, supervised contrastive, "
    "soft triplet and logistic rise ever more steeply towards the nearest negatives, up to the "
    "slope of the locality loss; turn it up to 1, and they are nearly flat.",
    temperature=Slider("τ, the temperature", 0.02, 1.0, 0.02, 0.1),
)

# %%
for tau in (0.01, 0.05, 0.2, 1.0):
    share = of_the_nearest(partial(infonce, temperature=tau))
    print(f"InfoNCE with τ = {tau:4}: the nearest of 20 negatives gets {share:.3f}")

# %% [markdown]
# **Predict 10.b.** Pairs of questions, a linear map on mean word vectors, six epochs, everything alike but $\tau$. Which has the best AUC
# on test: 0.01, 0.05, 0.2 or 1?

# %%
guess = 0.05  #!
predict("10.b", guess)

# %%
def table_of(name, against, measure):
    """Means over the seeds, and the lead over one of them with its 95 % interval."""
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
# The colder, the better, on this corpus and down to where we looked. Each step is more than the seeds make, and all of it is some
# hundredths. (The
# coldest one leaves the space narrower, as its mean cosine says: it seems to care about the nearest few alone.)
#
# ## 3. The size of the batch
#
# In InfoNCE the negatives are the other sentences of the batch. A larger batch has more of them.
#
# **Exercise 10.3.** Say that a network has learned nothing and all similarities are the same. What does InfoNCE cost an anchor with one
# positive and 63 negatives?
#
# *3 minutes, easy. What it is for: reading the first value of a loss curve before believing its fall.*
#
# hint: If all similarities are the same, which share has the positive?
# hint: It is one of 64 that share alike: 1/64, whatever the temperature.
# hint: -log(1/64), the natural logarithm.
# right: so a loss says nothing without its batch: that of a larger batch begins higher
# further: Look up the first loss of a training of your own with InfoNCE. How far below the logarithm of its batch
# does it start, and what did the untrained network know?

# %%
cost = np.log(64)  #!
answer("10.3", cost)

# %% [markdown]
# So curves of two batch sizes cannot be laid over each other: the loss of the larger one begins higher, whatever is learned.
#
# **Predict 10.c.** Now the AUC, for batches of 32, 64, 128 and 256 pairs, **six epochs each**. Which is best?

# %%
guess = 256  #!
predict("10.c", guess)

# %%
sizes = kept("loss-batch")
best = max((32, 64, 128, 256), key=lambda size: sizes.spread(f"{size} pairs, 6 epochs", "auc").mean)
show(
    seed_dots(sizes, "auc"),
    "A line is a training, AUC grows to the right; open circles are seeds, diamonds their means, "
    "open where they are shown to be behind the best. Upper four, six epochs each: the larger the "
    "batch, the further left. Lower four, equally many steps each: the larger, the further right.",
)
recall("10.c", best)

# %%
def lead_of(one, other):
    lead = sizes.lead(one, other, "auc")
    low, high = lead.interval()
    print(f"{one} above {other}: {lead.lead:+.3f} ({low:+.3f} to {high:+.3f})")

for kind in ("6 epochs", "as many steps"):
    lead_of(f"256 pairs, {kind}", f"32 pairs, {kind}")

# %% [markdown]
# Six epochs of 256 pairs are an eighth of the steps of six epochs of 32: the network has been moved an eighth as often. Between 32 and 64 it is
# open. Given **as many steps**, the larger
# batch is far ahead; but then it has seen every pair eight times as often, and taken that much longer. Neither comparison is wrong, and they
# have opposite results. Whoever says that a large batch helps must say what was held: epochs, steps, or time.
#
# ## 4. Pairs, classes, grades
#
# A loss needs to know which pairs are positive and which negative. Where that comes from depends on the data:

# %%
Markdown(shapes_table())

# %% [markdown]
# - **Pairs and classes** make the two masks at once. With classes an anchor has several positives, and here losses differ: InfoNCE picks
#   each of them out by
#   itself, while in *supervised contrastive* they are each other's rivals, and one that has more than its share is pushed away.
# - **Grades**, such as 0 to 5, make no masks. Most losses then take the two ends of the scale and drop the middle. **CoSENT** asks for the
#   order alone:
#
# $$\log\Big(1 + \sum_{g_{ij} > g_{kl}} e^{(S_{kl} - S_{ij})/\tau}\Big)$$
#
# **Exercise 10.4.** Write it, for some pairs with their similarities and grades.
#
# *10 minutes, hard. What it is for: using all grades of a corpus, and not only its two ends.*
#
# hint: Compare every two pairs: `grades[:, None] > grades[None, :]` says where the first is graded higher.
# hint: Where it is, the exponent is (s of the lower - s of the higher) / τ: small when the order is right.
# hint: `np.log1p((np.exp((s[None, :] - s[:, None]) / tau) * (grades[:, None] > grades[None, :])).sum())`
# right: only the order of the grades counts: no threshold says from which grade on two are the same
# further: Give two pairs the same grade, and then exchange their similarities: does the loss notice? Compare with
# what Spearman's correlation does with ties.

# %%
def cosent_loss(s, grades, tau):
    """similarities (n,) and grades (n,) of n pairs -> one number"""
    gaps = (s[None, :] - s[:, None]) / tau  # [ij, kl]  #!
    return np.log1p((np.exp(gaps) * (grades[:, None] > grades[None, :])).sum())  #!

answer("10.4", cosent_loss)

# %% [markdown]
# **Predict 10.d.** `relatedness` has pairs with grades. Will CoSENT, which uses all of them, be ahead of InfoNCE, which sees the two ends
# only: `"ahead"`, `"behind"` or `"open"`?

# %%
guess = "ahead"  #!
predict("10.d", guess)

# %%
table_of("loss-grades", "InfoNCE (multiple negatives)", "spearman")

# %%
graded = kept("loss-grades")
low, high = graded.lead("CoSENT", "InfoNCE (multiple negatives)", "spearman").interval()
recall("10.d", "ahead" if low > 0 else "behind" if high < 0 else "open")

# %% [markdown]
# Nobody knows which: other seeds could turn it round. Against the losses that look at each pair by itself, contrastive and logistic, all
# grades
# do help. **SimCSE**, which sees no label, is not shown to differ from the untrained vectors here: two
# dropouts of a mean of word vectors have little to tell.
#
# ## 5. Which, then?
#
# All losses on pairs of questions, each as it comes, three seeds:

# %%
gallery = kept("loss-gallery")
show(
    seed_dots(gallery, "auc"),
    "A line is a loss, AUC grows to the right; open circles are seeds, diamonds their means, "
    "open where they are shown to be behind the best. Locality and CoSENT lie rightmost, InfoNCE and "
    "supervised contrastive behind them, then the triplets and logistic, then contrastive; SimCSE "
    "lies by the untrained vectors.",
)
pd.DataFrame(gallery.rows(PLANS["loss-gallery"].measures)).set_index("variant")

# %% [markdown]
# Lay this beside section 1. But for the contrastive loss, who gives clearly more to the nearest negative is not further left
# here. It looks as if on these pairs the nearest stranger taught most. That is a guess, and nine losses are few to make it by.
#
# **It is no ranking of losses.** Each stands at its usual dials, and those of the locality loss ($\beta = 20$, $\lambda = 0.9$, not those of
# section 1) were chosen on dev of this very corpus, long ago. Section 2 moved InfoNCE by one dial. In notebook 2, tuned by as many trials each, three losses tie: the contrastive one is
# among them. With other data or another encoder
# the order may be another. One cell again:

# %%
for measure, value in again(PLANS["loss-gallery"], "CoSENT", seed=1).items():
    print(f"{measure:15} now {value:.4f}, kept {gallery.figures['CoSENT'][1][measure]:.4f}")

# %% [markdown]
# So choose by the data first (section 4), then look at where the weight goes (sections 1 and 2), and tune the dial of whatever you chose:
# with as many trials as its rival has.
#
# ## To try on your own
#
# 1. Give the anchor of section 1 a second near negative, at 0.69. Which losses halve the weight of the first, and which do not care?
# 2. Train `contrastive` with `margin=0.2` and 0.8: `METHODS["sentpwnet"](loss="contrastive", miner="none", margin=0.2)`. How far does one
#   dial carry it?
# 3. Let the temperature learn itself (`learn_temperature=True`, InfoNCE). Where does it end?
# 4. Where in the table of section 4 does your own data stand?

# ## Further reading
#
# - Wang, Han, Huang, Dong and Scott, [*Multi-Similarity Loss*](https://arxiv.org/abs/1904.06627), 2019. Losses compared by their weights.
# - van den Oord, Li and Vinyals, [*Representation Learning with Contrastive Predictive Coding*](https://arxiv.org/abs/1807.03748), 2018.
#   InfoNCE.
# - Khosla and others, [*Supervised Contrastive Learning*](https://arxiv.org/abs/2004.11362), 2020. Several positives in one sum.
# - Gao, Yao and Chen, [*SimCSE*](https://arxiv.org/abs/2104.08821), 2021. A positive made by dropout.
# - Wang and Liu, [*Understanding the Behaviour of Contrastive Loss*](https://arxiv.org/abs/2012.09740), 2021. What the temperature does.
# - Musgrave, Belongie and Lim, [*A Metric Learning Reality Check*](https://arxiv.org/abs/2003.08505), 2020. How little is left when all
#   are tuned alike.

# %% [markdown]
# ## Three questions to end with
#
# *No cell asks for these. Say your answer aloud, or write it down, before you unfold ours.*
#
# **1.** Two losses give all pairs of a batch the same weights but for a factor of ten. What is the difference between two trainings with
# them?
#
# <details><summary>An answer</summary>
#
# None that the length of a step does not take care of: a loss teaches by its slopes alone, and a common factor is a longer step. An
# optimiser such as Adam divides it away by itself. What makes losses differ is how they share the weight out among pairs.
#
# </details>
#
# **2.** A paper says that its loss profits from large batches, and compares six epochs of 32 with six epochs of 512. What is missing?
#
# <details><summary>An answer</summary>
#
# What was held: with equal epochs the larger batch takes a sixteenth of the steps, with equal steps it sees sixteen times the data. A fair
# table has both, or equal time, and chooses the learning rate on dev for each size, for the best step grows with the batch.
#
# </details>
#
# **3.** Your data has grades from 0 to 5. Which losses can take it, and what do those lose that take the ends of the scale?
#
# <details><summary>An answer</summary>
#
# CoSENT takes all of it, since it asks for the order alone. The others need a positive and a negative, so that the middle is dropped or
# cut somewhere, and that 4 is more than 3 is never taught. Whether that costs anything is to be measured: here it did not against
# InfoNCE.
#
# </details>

# %%
progress("10")
