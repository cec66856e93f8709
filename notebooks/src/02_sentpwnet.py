# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 2 · SentPWNet, trained and taken apart
#
# *Time: 75 minutes. You need: notebook 1 (what a weight is, what a miner keeps), and what an LSTM and a softmax are.
# All cells together run in about a minute on a laptop.*
#
# The first notebook looked at one batch and one loss. Now a network is trained with them. At the end you will know
#
# - three encoders that turn words into a vector, and how they fare on the same pairs,
# - what weighting brings, what mining brings, and what is a tie,
# - which of $\alpha, \beta, \lambda, \varepsilon$ matters, and why,
# - how a threshold chosen in the wrong place flatters, by how much, and how to see it with no data at all,
# - what the paper's "geohash of length 19" is, and why its first digits are not a larger cell,
# - what a cross-encoder costs.
#
# The paper is *SentPWNet: A Unified Sentence Pair Weighting Network for Task-specific Sentence Embedding*; equation
# and section numbers are its own.
#
# Tables of many trainings are kept beside the notebooks, with three seeds a cell; the command that made each stands
# in its file. You will train some of their cells again, here, and compare.

# %%
import statistics
import time
from os.path import commonprefix

import numpy as np
import pandas as pd
import torch
from s2cell import cell_id_is_valid, cell_id_to_level

from labkit import METHODS
from labkit.check import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.corpora.location import place_tokens, s2_code
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS
from labkit.encoders import inside
from labkit.evaluation import best_threshold, hit_at, inter_intra, pair_classification
from labkit.explore import Slider, explore
from labkit.figures import clusters, kept_heatmap, seed_dots, threshold_curves, weight_curves, weights_over_epochs
from labkit.methods.sentpwnet import PairSettings
from labkit.papers.recipes.cross import CrossSettings, PairReader
from labkit.pairs import informative, locality
from labkit.projection import pca
from labkit.scores import score
from labkit.weighing import anchor_curves, cosines, epoch_weights, examine, sentence_batch

# %%
questions, small = load("questions"), {"size": 60, "dimension": 50, "epochs": 6, "patience": 0}
print({split: len(questions.part(split)) for split in questions.splits}, "pairs")
for row in (0, 1, 2):
    pair = questions.part("dev")
    print(pair.values[row], "|", pair.text_a[row], "|", pair.text_b[row])

# %% [markdown]
# ## 1. Three encoders
#
# A sentence comes in as a row of word vectors $x_1 \dots x_n$, each of $d$ numbers. An **encoder** makes one vector
# of them; at its end the vector is divided by its length, so that dot products are cosines. The paper tries three
# (section 4.1):
#
# - **CNN.** A filter is a small matrix $F$ laid over $w$ words in a row; at place $t$ it answers $c_t = \langle F,
#   [x_t \dots x_{t+w-1}] \rangle + b$. Of each filter only the *largest* answer of the sentence is kept: $\max_t
#   c_t$. The widths are $w = 3, 4, 5$.
# - **LSTM.** It reads the words in order and keeps a state; the vector is the state after the last word.
# - **BiLSTM with attention.** Two LSTMs, one from each end, give a state $h_t$ for each word. A small network gives
#   each word a number $g_t$ (its *logit*), and the vector is $\sum_t a_t h_t$ with $a = \mathrm{softmax}(g)$.
#
# Sentences of a batch have different lengths $n$. They are filled up with padding to the longest, and padding must
# not be seen by anybody.
#
# **Exercise 02.1.** `answers[s, f, t]` is the answer of filter $f$ to sentence $s$ at place $t$. Take the largest
# over the words of the sentence. Mind that answers may all be negative.

# %%
def largest_answers(answers, lengths):
    """answers (sentences, filters, longest), lengths (sentences,) -> (sentences, filters)"""
    outside = ~inside(lengths, answers.shape[2])  # (sentences, longest), true on padding
    return answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)  #!

answer("02.1", largest_answers)

# %% [markdown]
# **Exercise 02.2.** Now attention: turn the logits to shares that sum to 1 over the words of each sentence. The sum of the
# states is there already.

# %%
def attend(states, logits, lengths):
    """states (sentences, longest, size), logits (sentences, longest), lengths (sentences,) -> (sentences, size)"""
    outside = ~inside(lengths, logits.shape[1])
    shares = logits.masked_fill(outside, -torch.inf).softmax(1)  #!
    return (shares[:, :, None] * states).sum(1)

answer("02.2", attend)

# %% [markdown]
# **Predict 02.a.** All three are trained on the same 3,447 pairs, in the same batches, with the locality loss and the
# keep rule. The figure is the **AUC**: the chance that a duplicate pair, drawn at random, has a larger cosine than a
# pair that is none. 0.5 is guessing. Which one comes first: `"CNN"`, `"LSTM"` or `"BiLSTM with attention"`?
#
# <!-- from:
# [02 | {'train':]
# given: chance
# -->

# %%
guess = "BiLSTM with attention"  #!
predict("02.a", guess)

# %%
trained = {}
for encoder in ("cnn", "lstm", "bilstm"):
    trained[encoder] = METHODS["sentpwnet"](encoder=encoder, **small)
    trained[encoder].fit(questions, seed=0)
    print(f"{encoder:7} AUC on test {score(trained[encoder], questions).figures['auc']:.3f}")

# %% [markdown]
# Padding is seen by none of them: a sentence has the same vector alone and beside a long one.

# %%
short, long = sorted(questions.part("test").text_a[:50], key=len)[:: 49]
for encoder, method in trained.items():
    alone, beside = method.encode([short])[0], method.encode([short, long])[0]
    print(f"{encoder:7} largest difference {np.abs(alone - beside).max():.1e}")

# %% [markdown]
# One training says little, for the next seed gives another figure. So here are three seeds of each, with two lines to
# compare with: the mean of word vectors that were never trained on pairs, and the mean through one linear map,
# trained as the others. A circle is a seed, a diamond the mean, its arms the *spread*: the standard deviation over
# the seeds. The grey band is the spread around the best.

# %%
encoders = kept("sentpwnet-encoders")
seed_dots(encoders, "auc")

# %%
three = {name: encoders.spread(name, "auc").mean for name in ("CNN", "LSTM", "BiLSTM with attention")}
recall("02.a", max(three, key=three.get))

# %% [markdown]
# The BiLSTM leads, with 0.849. But look at the second line from the top: the plain mean of the word vectors,
# *trained* and put through one linear map, has 0.831. It reads no order at all, and ties with the CNN. From the
# untrained mean to it are fifteen hundredths; from it to the best network two hundredths. Most of what is learned here is
# learned in the word vectors and one linear map.
#
# <!-- from:
# [sentpwnet-encoders | BiLSTM with attention | auc]
# [sentpwnet-encoders | mean and a linear map | auc]
# [sentpwnet-encoders | mean and a linear map | auc] - [sentpwnet-encoders | mean of word vectors, untrained | auc]
# [sentpwnet-encoders | BiLSTM with attention | auc] - [sentpwnet-encoders | mean and a linear map | auc]
# holds: [sentpwnet-encoders | BiLSTM with attention | auc] leads [sentpwnet-encoders | CNN | auc]
# holds: [sentpwnet-encoders | BiLSTM with attention | auc] leads [sentpwnet-encoders | LSTM | auc]
# holds: [sentpwnet-encoders | mean and a linear map | auc] ties [sentpwnet-encoders | CNN | auc]
# -->
#
# **Exercise 02.3.** When may one say that a method *leads*? The rule of this lab: if the means differ by more than
# the larger of the two spreads. Else it is a **tie**, whatever the third digit says. Of a few seeds, the standard
# deviation divides by $n - 1$.

# %%
def verdict(a, b):
    """Figures of two methods, one a seed, larger is better -> "first", "second" or "tie" """
    gap = statistics.mean(a) - statistics.mean(b)
    spread = max(statistics.stdev(a), statistics.stdev(b))  #!
    return "tie" if abs(gap) <= spread else "first" if gap > 0 else "second"

answer("02.3", verdict)

# %%
for one, other in (("BiLSTM with attention", "CNN"), ("CNN", "LSTM"), ("CNN", "mean and a linear map")):
    print(f"{one} against {other}: {verdict(encoders.values(one, 'auc'), encoders.values(other, 'auc'))}")

# %% [markdown]
# ## 2. What mining brings
#
# The keep rule (eq. 11 and 12) leaves out pairs that are in order already. $\varepsilon$ is its slack; here it is
# 0.3, the paper has 0.1.
#
# <!-- from: 2 given: settings -->
#
# **Predict 02.b.** Which share of the negative pairs is still kept in the last epoch of the CNN's training? A number
# between 0 and 1.

# %%
guess = 0.2  #!
predict("02.b", guess)

# %%
cnn = trained["cnn"]
weights_over_epochs(epoch_weights(cnn.snapshots, cnn.settings))

# %%
recall("02.b", cnn.history.column("kept_negatives")[-1])

# %% [markdown]
# The picture follows the same 120 held-out questions through the epochs (0 is before training). Above: the weights of
# the pairs kept, median and the middle four fifths. Below: the share kept. Of the held-out negatives far more are
# kept at the end. The number under your prediction is of the training batches, which the network has seen six times:
# there it is 3 %.
#
# <!-- from:
# given: how the picture is drawn
# 100 * [02 | 02.b: you predicted | 2]
# -->
#
# So in training nearly all negatives are left out, far more than the paper's "up to 50 %". What does that save? Every
# similarity must be computed *before* one can say which to leave out, and the network has read every sentence by
# then. The loss of a batch is a sum over a small matrix; the reading is what takes the time. Measure both, on one
# batch:
#
# <!-- from: given: the paper's words -->

# %%
batch = sentence_batch(questions, size=128, seed=0)
S = torch.tensor(cosines(cnn.encode(list(batch.texts))))
P, N = torch.tensor(batch.positive), torch.tensor(batch.negative)

def quickest(call, times=5):
    """CPU milliseconds, the least of some times."""
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(1000 * (time.process_time() - start))
    return min(found)

reading = quickest(lambda: cnn.encode(list(batch.texts)))
every = quickest(lambda: locality(S, P, N))
fewer = quickest(lambda: locality(S, *informative(S, P, N, epsilon=0.3)))
print(f"{len(batch.texts)} sentences, milliseconds: reading {reading:.1f};", end=" ")
print(f"loss of all pairs {every:.2f}; keep rule, then loss of the rest {fewer:.2f}")

# %% [markdown]
# Reading takes far longer than either, and the rule itself costs about what it saves. The paper speaks
# of "computation" and does not say of which; in time there is next to nothing to win here. (The lab's streaming form
# of the loss, for batches too large for a matrix, does skip what it can.)
#
# And how much of the loss' attention does the rule leave out? Weigh all negatives of the batch, and sum the weights
# of those kept:

# %%
weight = examine(batch, S.numpy(), PairSettings(miner="none")).weight
kept_negatives = informative(S, P, N, epsilon=0.3)[1].numpy()
print(f"{kept_negatives.sum() / batch.negative.sum():.1%} of the negatives are kept;", end=" ")
print(f"they have {weight[kept_negatives].sum() / weight[batch.negative].sum():.0%} of all weight of negatives")

# %% [markdown]
# A negative that is kept weighs some sixty times as much as one that is dropped. But the dropped are so many that
# together they have two thirds of the weight. Keep that in mind for the next table.
#
# <!-- from:
# [02 | they have] / (100 - [02 | they have]) * (100 - [02 | they have | -1]) / [02 | they have | -1]
# 1 - [02 | they have] / 100
# -->
#
# If not time, does the choice of pairs bring quality? A method is *miner ∘ weighting ∘ encoder*: put every miner
# before every loss. The miners: `all pairs`; `half at random`; `informative` (eq. 11 and 12); `hardest` (of each
# anchor the farthest positive and the nearest negative). The paper announces these ablations in section 4.1 and never
# prints them.
#
# **Predict 02.c.** With the locality loss, `informative` against `all pairs`: is it `"first"`, `"second"` or a
# `"tie"`?

# %%
guess = "first"  #!
predict("02.c", guess)

# %%
parts = kept("sentpwnet-parts")
seed_dots(parts, "auc")

# %%
recall("02.c", verdict(parts.values("locality, informative", "auc"), parts.values("locality, all pairs", "auc")))

# %%
pd.DataFrame(parts.rows(("auc", "accuracy", "f1"))).set_index("variant")

# %% [markdown]
# Read it in three steps.
#
# - **Weighting.** With all pairs, locality has 0.830, the soft triplet 0.773, the contrastive loss 0.768: a lead of
#   six hundredths, while no spread of the three is larger than one hundredth.
# - **The keep rule.** Under the locality loss it makes a tie: 0.828 against 0.830. What it drops had much of the
#   weight in sum, little in each pair, and is not missed. The contrastive loss wins seven thousandths by it, the soft
#   triplet nothing beyond the spread.
# - **The hardest pairs.** They lift the contrastive loss by six hundredths and the soft triplet by five hundredths, and
#   both then *tie* with locality (the soft triplet by a hair: its seeds spread by 0.009). Under locality they change
#   nothing.
#
# <!-- from:
# [sentpwnet-parts | locality, all pairs | auc]
# [sentpwnet-parts | soft triplet, all pairs | auc]
# [sentpwnet-parts | contrastive, all pairs | auc]
# [sentpwnet-parts | locality, all pairs | auc] - [sentpwnet-parts | soft triplet, all pairs | auc]
# given: a bound, which the lines below hold
# [sentpwnet-parts | locality, informative | auc]
# [sentpwnet-parts | locality, all pairs | auc]
# [sentpwnet-parts | contrastive, informative | auc] - [sentpwnet-parts | contrastive, all pairs | auc]
# [sentpwnet-parts | contrastive, hardest | auc] - [sentpwnet-parts | contrastive, all pairs | auc]
# [sentpwnet-parts | soft triplet, hardest | auc] - [sentpwnet-parts | soft triplet, all pairs | auc]
# [sentpwnet-parts | soft triplet, hardest | auc | spread]
# holds: [sentpwnet-parts | locality, all pairs | auc | spread] <= 0.01
# holds: [sentpwnet-parts | soft triplet, all pairs | auc | spread] <= 0.01
# holds: [sentpwnet-parts | contrastive, all pairs | auc | spread] <= 0.01
# holds: [sentpwnet-parts | locality, informative | auc] ties [sentpwnet-parts | locality, all pairs | auc]
# holds: [sentpwnet-parts | contrastive, informative | auc] leads [sentpwnet-parts | contrastive, all pairs | auc]
# holds: [sentpwnet-parts | soft triplet, informative | auc] ties [sentpwnet-parts | soft triplet, all pairs | auc]
# holds: [sentpwnet-parts | contrastive, hardest | auc] ties [sentpwnet-parts | locality, all pairs | auc]
# holds: [sentpwnet-parts | soft triplet, hardest | auc] ties [sentpwnet-parts | locality, all pairs | auc]
# holds: [sentpwnet-parts | locality, hardest | auc] ties [sentpwnet-parts | locality, all pairs | auc]
# -->
#
# So weighting and mining are two ways to do one thing: to listen to the pairs that are not yet in order. The
# hardest-pair miner does it all or nothing, the locality loss by degrees. Who has done one of them gains nothing by
# the other, here. To drop half of the pairs without looking makes every loss a little worse by the mean, the soft
# triplet by no more than its spread.
#
# <!-- from:
# holds: [sentpwnet-parts | locality, all pairs | auc] leads [sentpwnet-parts | locality, half at random | auc]
# holds: [sentpwnet-parts | contrastive, all pairs | auc] leads [sentpwnet-parts | contrastive, half at random | auc]
# holds: [sentpwnet-parts | soft triplet, all pairs | auc] > [sentpwnet-parts | soft triplet, half at random | auc]
# -->
#
# A table is somebody's word. Take two of its cells and train them again:

# %%
for variant in ("contrastive, all pairs", "locality, all pairs"):
    here, there = again(PLANS["sentpwnet-parts"], variant, seed=0)["auc"], parts.figures[variant][0]["auc"]
    print(f"{variant:24} AUC here {here:.4f}, in the table {there:.4f}, difference {abs(here - there):.4f}")

# %% [markdown]
# On the machine that made the table the difference is 0. Another processor or another release of PyTorch rounds
# otherwise, and a training carries that on: expect a difference in the second decimal.
#
# ## 3. Four dials
#
# The locality loss has three numbers and the keep rule one. From notebook 1: a lone positive at similarity $S$ weighs
# $\sigma(\alpha(\lambda - S))$ and a lone negative $\sigma(\beta(S - \lambda))$: eq. 9 and 10 with one pair in each
# sum. ($\sigma(x) = 1/(1+e^{-x})$.)
#
# **Exercise 02.4.** A sentence has one positive and one negative, at the same similarity $S$. At which $S$ do they
# weigh the same, so that pull and push are in balance?

# %%
def balance(alpha, beta, base):
    """The similarity at which pull equals push; base is λ"""
    return base  #!

answer("02.4", balance)

# %% [markdown]
# Look at it, on an anchor among 32 questions of test. Left the positives, right the negatives; each mark is a pair,
# the lines are the three losses. Move $\lambda$ and see from where on a negative counts at all.

# %%
view = sentence_batch(questions, size=32, seed=3, split="test")
V = cosines(cnn.encode(list(view.texts)))

def curves_at(alpha, beta, base):
    settings = PairSettings(miner="none", alpha=alpha, beta=beta, base=base)
    return weight_curves(anchor_curves(examine(view, V, settings), view.busiest))

explore(
    curves_at,
    alpha=Slider("α, how sharply positives", 0.5, 50.0, 0.5, 2.0),
    beta=Slider("β, how sharply negatives", 2.0, 100.0, 2.0, 20.0),
    base=Slider("λ, from where", -0.2, 1.0, 0.05, 0.9),
)

# %% [markdown]
# **Predict 02.d.** Five networks are trained with $\lambda$ = 0, 0.3, 0.5, 0.7 and 0.9, all else alike. Which has the
# largest AUC?
#
# <!-- from: 4 given: settings that are tried -->

# %%
guess = 0.5  #!
predict("02.d", guess)

# %%
bases = kept("sentpwnet-base")
seed_dots(bases, "auc")

# %%
best = max(bases.figures, key=lambda variant: bases.spread(variant, "auc").mean)
recall("02.d", float(best.removeprefix("λ = ")))

# %% [markdown]
# It rises all the way, by seven hundredths: more than any choice of miner under this loss. One way to read it is your
# balance. A positive below $\lambda$ is pulled harder than a negative at the same place is pushed, so $\lambda$ is
# about where the space comes to rest. With $\lambda$ near 1, duplicates must come very close, and negatives are left
# in peace unless they are close, too: a lone negative at 0.75 weighs $\sigma(20 \cdot (0.75 - 0.9)) = 0.05$. With
# $\lambda = 0$ all negatives must get to the other side of 0, near or far, and that is work spent on pairs that
# nobody would confuse. (A reading, no proof: the table says that it is so, not why.)
#
# <!-- from:
# [sentpwnet-base | λ = 0.9 | auc] - [sentpwnet-base | λ = 0 | auc]
# given: a similarity to compute with
# 2 given: the formula's
# 1 / (1 + 2.718281828 ** 3)
# holds: [sentpwnet-base | λ = 0 | auc] < [sentpwnet-base | λ = 0.3 | auc] < [sentpwnet-base | λ = 0.5 | auc] < [sentpwnet-base | λ = 0.7 | auc] < [sentpwnet-base | λ = 0.9 | auc]
# holds: [sentpwnet-base | λ = 0.9 | auc] - [sentpwnet-base | λ = 0 | auc] > [sentpwnet-parts | locality, all pairs | auc] - [sentpwnet-parts | locality, half at random | auc]
# -->
#
# The paper does not say which $\alpha$, $\beta$ and $\lambda$ it took. Here are the other three dials, each turned
# alone; $\beta = 20$, $\alpha = 2$ and $\varepsilon = 0.3$ are where they stand otherwise:
#
# <!-- from: given: a setting -->

# %%
rows = [row for letter in ("beta", "alpha", "epsilon") for row in kept(f"sentpwnet-{letter}").rows(("auc", "accuracy"))]
pd.DataFrame(rows).set_index("variant")

# %% [markdown]
# (The last column compares the values of one dial with each other.)
#
# - $\beta$: 20 and 50 tie; below, one hundredth to two hundredths are lost. With $\beta = 2$ all negatives weigh nearly alike.
# - $\alpha$: from 0.5 to 10 a tie. An anchor has few positives here, so there is little to choose between.
# - $\varepsilon$: at 1 nearly everything is kept, and 0.3 ties with it. The paper's 0.1 costs a hundredth, 0
#   four hundredths: then a negative counts only when it is nearer than the farthest positive, which leaves too little to
#   learn from. The keep rule never gains here, it can only be mild enough not to harm.
#
# <!-- from:
# [sentpwnet-beta | β = 20 | auc] - [sentpwnet-beta | β = 5 | auc]
# [sentpwnet-beta | β = 20 | auc] - [sentpwnet-beta | β = 2 | auc]
# 2 given: settings that are tried
# given: the paper's setting
# [sentpwnet-epsilon | ε = 0.3 | auc] - [sentpwnet-epsilon | ε = 0.1 | auc]
# [sentpwnet-epsilon | ε = 0.3 | auc] - [sentpwnet-epsilon | ε = 0 | auc]
# holds: [sentpwnet-beta | β = 20 | auc] ties [sentpwnet-beta | β = 50 | auc]
# holds: [sentpwnet-beta | β = 20 | auc] leads [sentpwnet-beta | β = 5 | auc]
# holds: [sentpwnet-alpha | α = 0.5 | auc] ties [sentpwnet-alpha | α = 10 | auc]
# holds: [sentpwnet-epsilon | ε = 0.3 | auc] ties [sentpwnet-epsilon | ε = 1 | auc]
# holds: [sentpwnet-epsilon | ε = 0.3 | auc] leads [sentpwnet-epsilon | ε = 0.1 | auc]
# -->
#
# So look after $\lambda$ first. And a warning about this page: all these figures are of *test*. They say what a dial
# does. Whoever *chose* a value by them would do with dials what section 4 does with thresholds; the lab's own values
# were chosen on dev.
#
# A second warning. $\lambda = 0.9$, $\beta = 20$ and $\varepsilon = 0.3$ were chosen on dev *for this method alone*: the margin
# of the contrastive loss, and all else of the two baselines, is as it first stood. That is no even race. The locality loss
# with its keep rule is the multi-similarity loss with its miner (notebook 1), and for these the usual values are
# $\lambda = 0.5$, $\beta = 50$, $\varepsilon = 0.1$ (those of pytorch-metric-learning). With them:
#
# <!-- from: 4 given: settings -->

# %%
pd.DataFrame(kept("sentpwnet-values").rows(("auc", "accuracy", "f1"))).set_index("variant")

# %% [markdown]
# With the usual values SentPWNet is behind the triplet network, which with its own it ties. Whether it leads is thus
# also a question of who was looked after; nobody has yet looked after the others.
#
# <!-- from:
# holds: [sentpwnet-values | triplet network | auc] leads [sentpwnet-values | SentPWNet, λ 0.5, β 50, ε 0.1: usual for this loss | auc]
# holds: [sentpwnet-values | SentPWNet, λ 0.9, β 20, ε 0.3: chosen on dev | auc] ties [sentpwnet-values | triplet network | auc]
# -->
#
# And what $\varepsilon$ does to a batch of the trained network. Full colours are kept, pale ones are dropped.

# %%
def kept_at(epsilon):
    return kept_heatmap(examine(view, V, PairSettings(epsilon=epsilon)), names=False, height=420)

explore(kept_at, epsilon=Slider("ε, the slack", 0.0, 2.0, 0.05, 0.3))

# %% [markdown]
# ## 4. The threshold, honest and leaking
#
# AUC needs no threshold. Whoever wants to *say* "duplicate" does: a pair is called the same if its cosine is above
# $t$. The paper reports accuracy with the best $t$, and its Algorithm 1, as printed, searches it **on the test set**.
# The pairs that are scored then help to choose what they are scored by: a *leak*.
#
# **Exercise 02.5.** Do it honestly. `best_threshold(scores, labels)` finds the $t$ of highest accuracy. On which pairs?

# %%
def honest(dev_scores, dev_labels, test_scores, test_labels):
    """Cosines and 0/1 labels of either split -> accuracy on test"""
    threshold = best_threshold(dev_scores, dev_labels)  #!
    return ((test_scores > threshold) == (test_labels == 1)).mean()

answer("02.5", honest)

# %%
def scored(method, split):
    """The cosine of each pair of a split, and its label."""
    part = questions.part(split)
    return method.pairwise_similarity(method.encode(part.text_a), method.encode(part.text_b)), np.array(part.values)

dev, test = scored(cnn, "dev"), scored(cnn, "test")

# %% [markdown]
# **Predict 02.e.** By how many *points* (hundredths of accuracy) does the leaking figure lie above the honest one, on
# the test pairs of `questions`?

# %%
guess = 5.0  #!
predict("02.e", guess)

# %%
threshold_curves(*dev, *test)

# %%
leaking, right = honest(*test, *test), honest(*dev, *test)
print(f"chosen on dev {right:.3f}, chosen on test {leaking:.3f}")
recall("02.e", 100 * float(leaking - right))

# %% [markdown]
# One curve a split, and the two thresholds lie close together: with 508 and 956 pairs the leak is worth less than a
# point. It is small because both splits are large, not because the procedure is right. Now draw smaller test sets
# from the same pairs, 200 of each size, and take the mean:

# %%
for count in (25, 50, 100, 200, 400):
    random, gains = np.random.default_rng(count), []
    for _ in range(200):
        rows = random.choice(len(test[0]), count, replace=False)
        part = test[0][rows], test[1][rows]
        gains.append(honest(*part, *part) - honest(*dev, *part))
    print(f"{count:4} test pairs: the leak is worth {100 * np.mean(gains):.1f} points")

# %% [markdown]
# **Exercise 02.6, a small experiment.** Take the network away. A score is drawn at random, the labels of 50 pairs are
# 0 and 1, half of each: nothing can be known, and the honest accuracy is 0.5. Search the threshold on these same 50
# pairs. Which accuracy does one report, on average over some hundreds of draws? (Within 0.01.)
#
# <!-- from:
# given: chance
# given: what the exercise allows
# -->

# %%
random, labels = np.random.default_rng(0), np.arange(50) % 2
reported = float(np.mean([honest(scores, labels, scores, labels) for scores in random.random((500, 50))]))  #!
answer("02.6", reported)

# %% [markdown]
# So a leaking figure is not a little optimistic by nature: it is as optimistic as the test set is small. MRPC's test
# set of 1,725 pairs and Quora's of thousands are large ones; that kept the slip in Algorithm 1 cheap.
#
# <!-- from: given: the size of MRPC's test set -->
#
# ## 5. Places, and a code that is no geohash
#
# Section 4.3 is about *places*: a shop is noted down by several people, in several ways, and all records of one shop
# shall be found. A record becomes one sentence of characters: address, name, and a code of its position, joined by
# `<PAD>`.

# %%
places = load("places")
record = places.part("test")
for row in range(3):
    print(record.labels[row], "|", record.texts[row])
print(place_tokens(record.texts[0])[-25:])

# %% [markdown]
# The paper calls the code "a Geohash of length 19". A geohash is written with letters *and* digits, and its beginning
# is the geohash of a larger cell: cut it, and you have zoomed out. Here are four of the codes the paper prints. They
# are 19 decimal digits without a letter: the numbers of cells of the **S2** grid. A random number of 19 digits would
# be a cell of level 18 once in some thirty million.

# %%
for code in (3760125996951404544, 3919372159020957696, 3748128673543225344, 6924438286450556928):
    print(code, "a cell:", cell_id_is_valid(code), " level:", cell_id_to_level(code))

# %% [markdown]
# S2 lays six squares around the Earth and halves each side again and again: level 1 has 4 cells on each square, level
# 2 has 16, and at level 18 a cell is some 35 m wide. The id of a cell has 64 bits: 3 for the square, 2 for each
# level, then a single 1, the **marker**, then zeros to the end. For level $\ell$ the marker is bit $2\,(30 - \ell)$.
#
# So a larger cell is a shorter beginning *of the bits*.
#
# **Exercise 02.7.** Given a cell and a coarser level, find the cell of that level around it: clear what lies below
# the new marker, and set the marker. (For a power of two, `cell & -marker` clears all bits below it.)

# %%
def parent(cell, level):
    """The id of an S2 cell -> the id of the cell of this level around it"""
    marker = 1 << (2 * (30 - level))
    return (cell & -marker) | marker  #!

answer("02.7", parent)

# %%
here = int(s2_code(48.0, 9.0))
for level in (18, 16, 14, 12, 10):
    print(f"level {level}  {parent(here, level)}   {parent(here, level):064b}")

# %% [markdown]
# In bits, each level is the one before with two bits less. The decimals on the left show no such thing: digits in the
# middle change, and none is ever cut.
#
# **Predict 02.f.** Two records lie 3 m apart, as when two people stand at one door. Of 1,000 such couples, how many
# of the 19 leading digits does the couple share that shares *fewest*?
#
# <!-- from: given: what the next cell draws -->

# %%
guess = 15  #!
predict("02.f", guess)

# %%
def shared_digits(metres, couples=1000):
    """Leading digits that the codes of two points so far apart have in common, for random points of Europe."""
    random, found = np.random.default_rng(0), []
    for latitude, longitude, angle in random.uniform((40, 0, 0), (55, 20, 2 * np.pi), (couples, 3)).tolist():
        north, east = metres * np.cos(angle) / 111_195, metres * np.sin(angle) / 111_195 / np.cos(np.radians(latitude))
        found.append(len(commonprefix((s2_code(latitude, longitude), s2_code(latitude + north, longitude + east)))))
    return found

for metres in (3, 30, 300, 3000):
    digits = shared_digits(metres)
    if metres == 3:
        fewest = min(digits)
    print(f"{metres:5} m apart, digits shared: {min(digits):2} to {max(digits):2}, median {np.median(digits):.0f}")
recall("02.f", fewest)

# %% [markdown]
# The middle couple lies in one cell, and shares all 19. But wherever an edge runs between the two, the ids part, and
# at the edge of a large cell they part early. A geohash has such edges as well. What it has not is this: cells of the
# decimal. Take 1,000 cells of level 14 in Europe, and of each its first and its last id:
#
# <!-- from: given: what the next cell draws -->

# %%
spots = np.random.default_rng(1).uniform((40, 0), (55, 20), (1000, 2)).tolist()
cells = [parent(int(s2_code(*spot)), 14) for spot in spots]
marker = 1 << (2 * (30 - 14))
digits = [len(commonprefix((str(cell - marker + 1), str(cell + marker - 1)))) for cell in cells]
print("all ids within one cell of level 14, some 500 m wide, share their first 31 bits")
print(f"and, from cell to cell, their first {min(digits)} to {max(digits)} of 19 digits")

# %% [markdown]
# Train on places: the same CNN, now over characters. **Hit@k** is the share of records for which one of the $k$
# nearest other records is of the same place.

# %%
placed = METHODS["sentpwnet"](**small | {"dimension": 30})
placed.fit(places, seed=0)
codeless = [text.rsplit(" <PAD> ", 1)[0] for text in record.texts]
for said, texts in (("as they are", record.texts), ("without their codes", codeless)):
    hits = hit_at(placed.encode(list(texts)), record.labels)
    print(f"records {said:20}", {f"Hit@{k}": round(value, 3) for k, value in hits.items()})

# %% [markdown]
# Trained once, so this is a hint and no more: taking the code away costs few of the first places, and more of the
# first ten. The network has read the code in training, and finds most records by name and address all the same. That
# is as it should be with these places: a neighbour in the same building has nearly the same code.
#
# Now the three losses, all pairs, three seeds each (kept):

# %%
pd.DataFrame(kept("sentpwnet-places").rows(("hit@1", "hit@3", "hit@10"))).set_index("variant")

# %% [markdown]
# At Hit@1 locality and the contrastive loss tie: the seeds spread by two hundredths and more, and less than that lies between
# the two. At Hit@3 locality leads, by 0.039 with a spread of 0.022. The soft triplet is behind. (On questions, with
# all pairs, weighting was worth more.)
#
# <!-- from:
# [sentpwnet-places | contrastive | hit@1 | spread]
# [sentpwnet-places | locality | hit@3] - [sentpwnet-places | contrastive | hit@3]
# [sentpwnet-places | locality | hit@3 | spread]
# holds: [sentpwnet-places | locality | hit@1] ties [sentpwnet-places | contrastive | hit@1]
# holds: [sentpwnet-places | locality | hit@3] leads [sentpwnet-places | contrastive | hit@3]
# holds: [sentpwnet-places | contrastive | hit@3] leads [sentpwnet-places | soft triplet | hit@3]
# holds: [sentpwnet-places | locality | hit@1 | spread] > 0.02
# holds: [sentpwnet-parts | locality, all pairs | auc] leads [sentpwnet-parts | contrastive, all pairs | auc]
# -->
#
# The paper's figure 2 shows records of five places as points, and gives one number for how well they are parted:
# *inter / intra*, how far the centre of a place is from the nearest other centre, over how far records are from their
# own. The text calls the picture a PCA, its caption a t-SNE, and nobody says whether the number, 2.99, is of the
# vectors or of the picture. That matters. Here are the records of the first five places of the test split:
#
# <!-- from: [sentpwnet/figure-2 | BiLSTM + SentPWNet | inter/intra of the vectors | paper] -->

# %%
first = list(dict.fromkeys(record.labels))[:5]
shown = record.take([row for row, label in enumerate(record.labels) if label in first])
rows = placed.encode(list(shown.texts))
picture = pca(rows)
for said, points in (("the vectors", rows), ("the picture", picture.points)):
    print(f"inter / intra of {said}: {inter_intra(points, shown.labels).ratio:.2f}")
clusters(picture, shown, height=420)

# %% [markdown]
# 0.97 and 1.23: the same 22 records, the same vectors, and the picture flatters, for it has kept 2 of 60 directions,
# those along which the records spread most. Whoever prints such a number must say of what. (Ours is not to be held
# against 2.99. The corpus makes its places by fives that are easily mistaken: a shop, its neighbour in the same
# building, its branch, its namesake in the next town, and one of nearly the same name; and the paper trained for 100
# epochs.)
#
# <!-- from:
# [02 | inter / intra of the vectors:]
# [02 | inter / intra of the picture:]
# given: sizes
# [sentpwnet/figure-2 | BiLSTM + SentPWNet | inter/intra of the vectors | paper]
# -->
#
# ## 6. One vector each, or both together?
#
# All of this is a **bi-encoder**: each sentence gets a vector by itself, and a pair is a dot product. A
# **cross-encoder** reads both sentences as one row and gives a score; its words can look at each other. The paper
# announces a comparison in section 4.1 and never prints it.
#
# **Exercise 02.8.** There are `sentences` stored sentences, and `queries` questions come in, each to be compared with
# all of them. How often must a network read something, in all?

# %%
def readings(queries, sentences):
    """-> (how often the bi-encoder reads a text, how often the cross-encoder reads a pair)"""
    return queries + sentences, queries * sentences  #!

answer("02.8", readings)

# %%
print("1,000 queries, 1,000,000 sentences:", readings(1_000, 1_000_000))

# %% [markdown]
# Now train a small cross-encoder, a BiLSTM with attention like ours, three times.

# %%
reader_accuracy = []
for seed in (0, 1, 2):
    reader = PairReader(CrossSettings(size=60, dimension=50, epochs=3, patience=0))
    reader.fit(questions, seed=seed)
    parts_read = [questions.part(split) for split in ("dev", "test")]
    cross = [reader.scores(part.text_a, part.text_b) for part in parts_read]
    reader_accuracy.append(pair_classification(cross[0], dev[1], cross[1], test[1]).accuracy)
print("cross-encoder, accuracy on test:  ", [round(value, 3) for value in reader_accuracy])
known = encoders.values("BiLSTM with attention", "accuracy")
print("BiLSTM as bi-encoder, the table's:", [round(value, 3) for value in known])

# %%
bi, texts = trained["bilstm"], questions.part("test").sentences()[:800]
stored, query = bi.encode(texts), questions.part("dev").text_a[0]
for count in (100, 200, 400, 800):
    quick = quickest(lambda: bi.similarity(bi.encode([query]), stored[:count]), 3)
    slow = quickest(lambda: reader.scores([query] * count, texts[:count]), 3)
    print(f"one query, {count:4} sentences: bi-encoder {quick:6.1f} ms, cross-encoder {slow:6.1f} ms")
print(f"a million sentences, at the same pace: {slow / count * 1_000_000 / 1000:.0f} s a query for the cross-encoder")

# %% [markdown]
# The cross-encoder's time grows with the number of sentences, the other's hardly: its sentences are vectors already,
# and a dot product is cheap. That is the part of the comparison that holds for networks of any size.
#
# The accuracy is another matter. This cross-encoder is small, starts from nothing and sees the pairs three times: it
# is little better than guessing, since it must first find out that words of the one sentence are to be looked for in
# the other, what a bi-encoder with a cosine has built in. The large pretrained ones of the paper's introduction are
# not that weak. So nothing here says that cross-encoders are worse, only that they are slow, and that reading both
# sentences together is no gift by itself.
#
# ## What you have seen
#
# | question | answer, on these data |
# | --- | --- |
# | which encoder? | the BiLSTM with attention leads; a trained mean of words ties with the CNN |
# | weighting? | six hundredths of AUC over equal weights and over triplets, when all pairs take part |
# | mining? | the keep rule: a tie under locality. The hardest pairs bring the other two losses level with it |
# | which dial? | $\lambda$ (seven hundredths) and $\varepsilon$ when too strict (four hundredths); $\beta$ little; $\alpha$ nothing |
# | the threshold on the test set? | 0.8 points with 956 pairs, 4.5 with fifty, and eight out of pure noise |
# | geohash? | no: the decimal number of an S2 cell of level 18, whose beginnings are no cells |
# | a fair race? | no: three dials were turned for this method alone; with the usual values it is behind the triplet network |
# | cross-encoder? | its time grows with the number of sentences; at this size it is no better either |
#
# <!-- from:
# [sentpwnet-parts | locality, all pairs | auc] - [sentpwnet-parts | soft triplet, all pairs | auc]
# [sentpwnet-base | λ = 0.9 | auc] - [sentpwnet-base | λ = 0 | auc]
# [sentpwnet-epsilon | ε = 0.3 | auc] - [sentpwnet-epsilon | ε = 0 | auc]
# [02 | 02.e: you predicted | 2]
# [02 | 50 test pairs: the leak is worth]
# -->
#
# All of it was measured on sentences that a program has made, at a size that fits into two minutes. What people wrote,
# at larger sizes, is measured by `labkit reproduce` (its figures are in `docs/RESULTS.md`): read that before you
# believe it of others.

# %%
progress("02")
