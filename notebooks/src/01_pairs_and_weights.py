# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 1 · Pairs and weights
#
# *Time: 75 minutes, 43 of them for the exercises. You need: what a dot product, a derivative and a logarithm are, and a
# little PyTorch. All cells together run in under a minute on a laptop.*
#
# A method that learns sentence vectors looks at pairs of sentences: some should be near, some far. This notebook asks one
# question of every such method: **how much does it care about each pair?** At the end you will know
#
# - why the derivative of a loss with respect to a similarity *is* the answer,
# - what three losses answer, and what their family has in common with InfoNCE: the locality loss of SentPWNet, known
#   elsewhere as the multi-similarity loss, soft-margin triplet and contrastive,
# - three slips in eq. 5, 7 and 8 of the paper, which you will have found yourself,
# - which pairs a miner keeps, and why it may leave out the rest.
#
# The paper is [*SentPWNet: A Unified Sentence Pair Weighting Network for Task-specific Sentence
# Embedding*](https://arxiv.org/abs/2005.11347) (Zhang, Li and Wang, 2020); equation numbers are its own.
#
# Each section has three steps: **predict** (say what you expect before you look), **run**, **explain**. Where a line
# says `...  # your turn`, it is yours to fill in. `answer(...)` looks at it at once, `hint("01.1")` helps, in three steps.

# %%
from functools import partial

import numpy as np
import torch

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.explore import Slider, explore, show
from labkit.figures import alike, kept_heatmap, loss_curves, pull_and_push
from labkit.figures import similarity_heatmap, weight_curves, weight_heatmap
from labkit.sentpwnet.method import PairSettings
from labkit.pairs import contrastive, informative, locality
from labkit.pairs import infonce, pair_weights, soft_triplet, weight_parts
from labkit.pairs.losses import LOSSES
from labkit.sentpwnet.view import anchor_curves, cosines, examine
from labkit.sentpwnet.view import lone_curves, one_triplet, sentence_batch

# %% [markdown]
# ## 1. Three matrices
#
# Take $m$ sentences, and for each a vector of length 1. Put the vectors into the rows of $V$. Then
#
# $$S = V V^\top$$
#
# holds every similarity at once: $S_{ij}$ is the cosine of sentences $i$ and $j$. Beside it stand two masks. $P_{ij}$ is
# true where $j$ should be near $i$ (a *positive*), $N_{ij}$ where it should be far (a *negative*). We call $i$ the *anchor*.
# In the paper's section 3.3, $\mathcal{P}_i$ and $\mathcal{N}_i$ are the positives and negatives of anchor $i$: row $i$ of the masks.
#
# Here are 24 sentences of six topics. Their vectors are the means of word vectors: nothing has been learned from the topics.

# %%
topics = load("topics")
vectors = METHODS["mean-vectors"]()
vectors.fit(topics)

batch = sentence_batch(topics, size=24, per_class=4, seed=3)
S = torch.tensor(cosines(vectors.encode(list(batch.texts))))
for row in (0, 1, 4, 5):
    print(f"{row:2} {batch.classes[row]:12} {batch.texts[row]}")

# %% [markdown]
# **Exercise 01.1.** The batch has a label for each sentence. Make the masks, two tensors of True and False: later cells
# choose entries with them. A sentence is no positive of itself.
#
# *4 minutes, easy. What it is for: saying who is to be near whom, for every pair loss here is a function of S and
# these two masks.*
#
# hint: `same` compares every label with every label. Which of its entries are no pair of two sentences?
# hint: `same` holds the diagonal, too: take it out of the positives. Negatives are all that are not the same.
# hint: `positive = same & ~torch.eye(len(labels), dtype=torch.bool)` and `negative = ~same`.
# right: every pair is a positive, a negative, or the sentence with itself
# further: Give a single sentence the label of another topic and make both masks anew. How many of their entries have
# changed? That is what one wrong label does to a batch.

# %%
def masks(labels):
    """labels (m,), integers -> (positive, negative), both bool (m, m)"""
    same = labels[:, None] == labels[None, :]
    positive = same & ~torch.eye(len(labels), dtype=torch.bool)  #!
    negative = ~same  #!
    return positive, negative

answer("01.1", masks)

# %% [markdown]
# **Predict 01.a.** Which number is larger in this batch: the similarity of the *nearest negative* pair, or that of the
# *farthest positive* pair? Write `"nearest negative"` or `"farthest positive"`.

# %%
guess = "nearest negative"  #!
predict("01.a", guess)

# %%
labels = torch.tensor([list(dict.fromkeys(batch.classes)).index(name) for name in batch.classes])
P, N = masks(labels)
nearest_negative, farthest_positive = S[N].max().item(), S[P].min().item()
print(f"nearest negative  {nearest_negative:.2f}\nfarthest positive {farthest_positive:.2f}")
recall("01.a", "nearest negative" if nearest_negative > farthest_positive else "farthest positive")

# %% [markdown]
# The picture shows $S$, with the sentences ordered by topic. It is drawn from a record that `examine` makes of a batch, its
# $S$ and a `PairSettings`: which loss, with which parameters, and which *miner* chooses the pairs (section 7; until then none).

# %%
found = examine(batch, S.numpy(), PairSettings(loss="contrastive", miner="none"))
show(
    similarity_heatmap(found, height=480),
    "A square with a row and a column for each of the 24 sentences, ordered by topic: from dark "
    "blue (nothing in common) to yellow (the same; the diagonal is each sentence with itself). If "
    "the vectors knew the topics, there would be six yellow squares along the diagonal and "
    "darkness everywhere else; but hardly a square stands out.",
)

# %% [markdown]
# **Why is one cell so bright?** A vector here is a mean of word vectors, so a similarity is a sum over pairs of words, one of
# each sentence, and it can be taken apart without a remainder. The nearest negative pair:

# %%
row, column = divmod(int(S.masked_fill(~N, -1).argmax()), len(S))
why = vectors.explain(batch.texts[row], batch.texts[column])
print(f"sum of all cells {np.sum(why.parts):.6f}, similarity {why.similarity:.6f}")
show(
    alike(why),
    "The two sentences, each word on a card with its own part of the similarity: blue cards draw "
    "the sentences together, orange ones push them apart. In the square below each cell is what "
    "one word of each sentence adds together.",
)

# %% [markdown]
# The largest parts say what this pair has in common for a mean of vectors. And why is the anchor nearer to this stranger than to
# a sentence of its own topic? The difference of two such sums is a sum of words again:

# %%
friend = int(S[row].masked_fill(~P[row], 2).argmin())
print(vectors.contrast(batch.texts[row], batch.texts[column], batch.texts[friend]))

# %% [markdown]
# Both strangers have *spent far too much time* on something, and share many small words; *computer*, which would have told, speaks
# for the friend, but it is one word among fifty. Here nothing has been learned: to a mean all words count alike, whatever the topic.
# All that follows is about how a loss moves such cells.
#
# ## 2. A weight is a slope
#
# A *pair loss* $L$ is any function of $S$, $P$ and $N$ that gives one number. Training moves the vectors downhill. By the
# chain rule (eq. 1 to 3), the way it moves them is
#
# $$\frac{\partial L}{\partial V} = \sum_{ij} \frac{\partial L}{\partial S_{ij}} \cdot \frac{\partial S_{ij}}{\partial V}$$
#
# The second factor does not know which loss was chosen. All that a loss can do is to set the first, one number for each
# pair. So call its size the **weight** of the pair:
#
# $$w_{ij} = \left| \frac{\partial L}{\partial S_{ij}} \right|$$
#
# Its sign is no surprise: minus for positives (more similar is better), plus for negatives. In this lab $L$ is always the
# mean over the $m$ anchors, so that `pair_weights` multiplies by $m$ to give the weights as eq. 5, 7, 9 and 10 print them.
#
# **The contrastive loss** (eq. 6) has for each anchor $i$ the term
#
# $$\sum_{j \in N_i} [S_{ij} - \lambda]_+ - \sum_{j \in P_i} S_{ij}$$
#
# where $[x]_+$ is $x$ if positive and else 0: a negative costs something only when it is nearer than the margin $\lambda$.
#
# **Exercise 01.2.** Differentiate, and write the weights, as numbers. The paper does it in eq. 7, and prints "$S_{ij} = 1$". Can
# that be meant? $S$ is what goes in.
#
# *5 minutes, easy. What it is for: having the plainest weights there are, beside which the others are read.*
#
# hint: A weight is the size of the slope. What is the slope of -S? Of [S - λ]₊ below λ, and above it?
# hint: All positives weigh 1, whatever their similarity; negatives weigh 1 above the margin and else 0.
# hint: `(P | (N & (S > margin))).double()`
# right: all pairs that count at all count the same: that is what the other losses change
# further: Square the hinge: `def squared(S, P, N): return ((S - 0.5).clamp(min=0) ** 2 * N).sum() / len(S)`. Look at
# `pair_weights(squared, S, P, N)` and say what a negative's weight depends on now.

# %%
def contrastive_weights(S, P, N, margin):
    """S (m, m) and the masks -> weights (m, m), 0 outside the masks"""
    return (P | (N & (S > margin))).double()  #!

answer("01.2", contrastive_weights)

# %% [markdown]
# Yours against automatic differentiation, on the real batch:

# %%
automatic = pair_weights(contrastive, S, P, N)
mine = torch.stack([torch.as_tensor(row) for row in contrastive_weights(S, P, N, 0.5)])
print("largest difference:", (mine - automatic).abs().max().item())
print("different weights: ", sorted(set(automatic.flatten().tolist())))

# %% [markdown]
# Two values only, 0 and 1. A positive that is already next to its anchor is pulled as hard as one at the other end of the
# space. The losses that follow differ from this one in nothing but these numbers.
#
# ### What a weight does
#
# Vectors of length 1 lie on a sphere; in two dimensions it is a circle. Since $S_{ij} = v_i \cdot v_j$, the second factor of
# the chain rule is $\partial S_{ij} / \partial v_j = v_i$: going downhill moves a positive by $w_{ij}$ along the *anchor's own
# vector*, and a negative by $w_{ij}$ against it. But its length is set back to 1, so that only the part along the circle
# counts. That part is $w_{ij} \sin\theta$, with $\theta$ the angle between the two.

# %%
def moved_at(positive, negative):
    return pull_and_push(one_triplet(positive, negative, PairSettings(margin=0.5))[:1])

explore(
    moved_at,
    "A circle with the anchor (star) on top, a positive (blue disc) on the left and a negative "
    "(orange diamond) on the right, as high as their similarity to the anchor. The thin arrows "
    "are as long as the weights; the thick ones are their part along the circle, which moves the "
    "vectors: the positive up to the anchor, the negative away from it. (The anchor is moved, "
    "too; its arrow is left out.)",
    positive=Slider("similarity of the positive", -1.0, 1.0, 0.05, 0.2),
    negative=Slider("similarity of the negative", -1.0, 1.0, 0.05, 0.7),
)

# %% [markdown]
# Move the negative below the margin, 0.5: nothing pushes it any more. Move the positive to $-1$: its weight is still 1, and yet
# it does not move, for on the far side of the sphere there is no way that is shorter than another.
#
# ## 3. The soft-margin triplet loss, and a slip
#
# It looks at triplets: an anchor, one of its positives $p$, one of its negatives $n$. The anchor's term (eq. 4) is
#
# $$\sum_{p \in P_i,\, n \in N_i} \log\left(1 + e^{S_{in} - S_{ip}}\right)$$
#
# Section 3.2 then concludes, in eq. 5, that all sampled pairs have the weight 1.
#
# **Predict 01.b.** Take one triplet with $S_{in} = S_{ip}$: it is undecided. Which weight does it give to its pairs? Write a number.

# %%
guess = 0.5  #!
predict("01.b", guess)

# %%
tie = torch.tensor([[1.0, 0.4, 0.4]] * 3, dtype=torch.float64)  # row 0: anchor, positive, negative
only_positive = torch.zeros(3, 3, dtype=torch.bool)
only_negative = only_positive.clone()
only_positive[0, 1] = only_negative[0, 2] = True
weight = pair_weights(soft_triplet, tie, only_positive, only_negative)[0, 2].item()
recall("01.b", weight)

# %% [markdown]
# **Exercise 01.3.** Differentiate $\log(1 + e^{S_n - S_p})$ with respect to $S_n$, and write the weight of a triplet.
#
# *3 minutes, easy. What it is for: seeing by one derivative that a printed equation cannot be right.*
#
# hint: Put x = S_n - S_p and differentiate log(1 + e^x).
# hint: The derivative is e^x / (1 + e^x). It has a name.
# hint: `torch.sigmoid(negative - positive)`
# right: so eq. 5 of the paper, which says 1 for every pair, is a slip
# further: Give the loss a temperature τ: $\tau \log(1 + e^{(S_n - S_p) / \tau})$. What is the weight of a triplet
# now, and what do loss and weight come close to when τ is small?

# %%
def triplet_weight(negative, positive):
    """S_n and S_p, tensors of the same shape -> the weight each triplet gives its pairs"""
    return torch.sigmoid(negative - positive)  #!

answer("01.3", triplet_weight)

# %% [markdown]
# **Exercise 01.4.** $S$ holds cosines. Between which two numbers must such a weight lie?
#
# *3 minutes, easy. What it is for: seeing that bounded similarities bound what a loss can say.*
#
# hint: A cosine lies in [-1, 1]. What are the smallest and the largest S_n - S_p?
# hint: From -2 to 2.
# hint: σ(-2) = 0.119 and σ(2) = 0.881.
# right: even a hopeless triplet weighs only seven times as much as one that is long since in order
# further: Leave the vectors at their own lengths, so that $S$ has no bounds. Between which numbers does the weight
# lie then, and what does the loss do with a triplet that is long since in order?

# %%
smallest, largest = 0.1192, 0.8808  #!
answer("01.4", (smallest, largest))

# %% [markdown]
# So it is never 1, and never near 0 either: the loss keeps pulling at triplets that have long been in order. A *pair*
# takes part in many triplets, and its weight is the sum over them. Here each anchor has 3 positives and 20 negatives:

# %%
weights = pair_weights(soft_triplet, S, P, N)
for kind, mine, others in (("positive", P, N), ("negative", N, P)):
    low, high = weights[mine].min(), weights[mine].max()
    print(f"a {kind}'s weight: {low:.2f} to {high:.2f}, in {int(others[0].sum())} triplets each")

# %% [markdown]
# ## 4. The locality loss, and a brace in the wrong place
#
# The third loss (eq. 8) takes logarithms of sums. With its brace where it belongs, an anchor's term is
#
# $$\frac{1}{\alpha} \log\Big(1 + \sum_{j \in P_i} e^{-\alpha (S_{ij} - \lambda)}\Big) + \frac{1}{\beta} \log\Big(1 + \sum_{j \in N_i} e^{\beta (S_{ij} - \lambda)}\Big)$$
#
# and the loss is the mean over all anchors $i$. Here $\lambda$ is the similarity from which both kinds are measured, and
# $\alpha$ and $\beta$ say how sharply. As eq. 8 is printed, the sum over the anchors ends before the second half: which anchor is
# the $i$ in it then? It belongs inside.
#
# With the rule of section 7 below (eq. 11 and 12) this is the **multi-similarity loss** with its miner
# ([Wang et al. 2019](https://arxiv.org/abs/1904.06627)). The paper says so itself: section 3.3 calls the weighting "not new in
# computer vision", cites Wang et al., and writes the loss as $\mathcal{L}_{MS}$. New, as far as the authors know (section 3.3),
# is its use for sentences.
#
# **Exercise 01.5.** Write it, as plain loops or in one line.
#
# *7 minutes, medium. What it is for: having the loss by which the networks of the next notebook are trained.*
#
# hint: Write the term of one anchor first: two logarithms. Then take the mean over the anchors.
# hint: For a row i: `pull = log(1 + Σ_{j in P_i} exp(-α(S_ij - λ))) / α`, `push` with +β over N_i.
# hint: `((1 + (exp(-α(S-λ)) * P).sum(1)).log()/α + (1 + (exp(β(S-λ)) * N).sum(1)).log()/β).mean()`
# right: with the brace as printed, the negatives of all anchors but one would be lost
# further: Write eq. 8 with its brace as printed, the second half outside the sum over the anchors and for one of them
# only. `pair_weights` takes any function of S, P and N: which negatives have a weight left?

# %%
def locality_loss(S, P, N, alpha, beta, base):
    """S (m, m) and the masks -> one number, the mean over the anchors; base is λ"""
    pull = torch.log1p((torch.exp(-alpha * (S - base)) * P).sum(1)) / alpha  #!
    push = torch.log1p((torch.exp(beta * (S - base)) * N).sum(1)) / beta  #!
    return (pull + push).mean()  #!

answer("01.5", locality_loss)

# %%
settings = dict(alpha=2.0, beta=50.0, base=0.5)
mine = torch.as_tensor(locality_loss(S, P, N, **settings)).item()
print(f"yours {mine:.6f}, the package {locality(S, P, N, **settings).item():.6f}")

# %% [markdown]
# *A word on numbers.* With $\beta = 200$ the term $e^{\beta(S-\lambda)}$ reaches $e^{100}$, and in float32 that is infinite.
# The package computes the same sums through `logsumexp`, which takes the largest exponent out first.
#
# ## 5. Its weight, in closed form
#
# Differentiate a logarithm of a sum, and you get a share of that sum. For a negative (eq. 9):
#
# $$w_{ij} = \frac{e^{\beta(S_{ij} - \lambda)}}{1 + \sum_{k \in N_i} e^{\beta(S_{ik} - \lambda)}} = \frac{1}{\underbrace{e^{\beta(\lambda - S_{ij})}}_{\text{own}} + \underbrace{\textstyle\sum_{k \in N_i} e^{\beta(S_{ik} - S_{ij})}}_{\text{relative}}}$$
#
# Read the right-hand side slowly, for it is the whole idea of section 3.3:
#
# - **own similarity**: small when the pair itself is nearer than $\lambda$;
# - **relative similarity**: small when the anchor's *other* negatives are farther away than this one. ($k = j$ is among
#   them, so it is never below 1.)
#
# A negative weighs much only when both are small. That is the *locality* in the name. Eq. 10 is the same for positives, with
# $-\alpha$ in the place of $\beta$.
#
# **Exercise 01.6.** Write eq. 9 for all negatives at once.
#
# *8 minutes, hard. What it is for: reading a weight as what a pair brings itself, and what its rivals leave to it.*
#
# hint: Two parts under the line: the pair's own, e^(β(λ - S_ij)), and a sum over the anchor's negatives k.
# hint: `S[:, None, :] - S[:, :, None]` is S_ik - S_ij for all i, j, k: mask k with N, sum it away.
# hint: `relative = (torch.exp(beta * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(2)`
# right: own and relative similarity, and it agrees with automatic differentiation to the last digits
# further: Write eq. 10, for the positives, in the same way, and hold it against `pair_weights(locality, S, P, N) *
# P`, with α = 2. Which signs have changed, and which positives weigh most?

# %%
def negative_weights(S, N, beta, base):
    """S (m, m) and the negatives' mask -> weights (m, m), 0 outside N"""
    own = torch.exp(beta * (base - S))
    relative = (torch.exp(beta * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(2)  #!
    return torch.where(N, 1 / (own + relative), 0.0)

answer("01.6", negative_weights)

# %% [markdown]
# Closed form against automatic differentiation. The difference is rounding:

# %%
automatic = pair_weights(locality, S, P, N)
mine = torch.stack([torch.as_tensor(row) for row in negative_weights(S, N, 50.0, 0.5)])
print("largest difference:", (mine - automatic * N).abs().max().item())

# %% [markdown]
# ### Three losses side by side
#
# A pair that is alone with its anchor (a triplet needs one more pair, which stands at similarity 0.5). Above is what the pair costs,
# below how steep that is: the weight. The three losses seem to differ little above, and much below.

# %%
def losses_at(s, beta, base):
    settings = PairSettings(alpha=2.0, beta=beta, base=base, margin=base)
    return loss_curves(lone_curves(settings, other=0.5), at=s)

explore(
    losses_at,
    "Loss (above) and weight (below) against similarity, a positive on the left, a negative on "
    "the right; green solid: locality, red dashed: soft triplet, blue dotted: contrastive. Thick "
    "strokes are tangents: their steepness is the height of the marks below. For a negative the "
    "locality loss is the contrastive one with its corner at λ rounded off; for a positive it "
    "bends from 1 to 0.",
    s=Slider("similarity s", -1.0, 1.0, 0.05, 0.6),
    beta=Slider("β, how sharply", 5.0, 100.0, 5.0, 50.0),
    base=Slider("λ, from where", -0.5, 1.0, 0.05, 0.5),
)

# %% [markdown]
# And the same as arrows, on the circle of section 2:

# %%
def arrows_at(positive, negative):
    return pull_and_push(one_triplet(positive, negative, PairSettings(beta=50.0, base=0.5)))

explore(
    arrows_at,
    "Three circles, one a loss, with the anchor (star) on top, a positive (blue disc) on the left "
    "and a negative (orange diamond) on the right; thin arrows are the weights, thick ones their "
    "part along the circle. The same two pairs are moved by different amounts: contrastive fully, "
    "soft triplet by the difference of the two similarities, locality by where each stands from "
    "λ.",
    positive=Slider("similarity of the positive", -1.0, 1.0, 0.05, 0.2),
    negative=Slider("similarity of the negative", -1.0, 1.0, 0.05, 0.55),
)

# %% [markdown]
# ## 6. Own and relative
#
# **Predict 01.c.** An anchor has one negative, at similarity 0.6. Now ten more negatives appear, all at 0.6 as well. The
# weight of the first: does it go `"up"`, `"down"`, or `"stay"`?

# %%
guess = "down"  #!
predict("01.c", guess)

# %%
def one_anchor(negatives):
    """The weight of the first of these negatives, and its two parts."""
    row = torch.tensor([[1.0, *negatives]], dtype=torch.float64).expand(len(negatives) + 1, -1)
    nobody = torch.zeros(row.shape, dtype=torch.bool)
    first = nobody.clone()
    first[0, 1:] = True
    parts = weight_parts(row, nobody, first, beta=50.0, base=0.5)
    return parts.weight[0, 1].item(), parts.own[0, 1].item(), parts.relative[0, 1].item()

alone, crowded = one_anchor([0.6]), one_anchor([0.6] * 11)
for name, (weight, own, relative) in (("alone", alone), ("with ten more", crowded)):
    print(f"{name:14} weight {weight:.3f} = 1 / (own {own:.3f} + relative {relative:.1f})")
recall("01.c", "down" if crowded[0] < alone[0] else "up")

# %% [markdown]
# The eleven share what one had: together they weigh a little more than one alone did, each far less. The own part did
# not change, since the pair itself did not.
#
# Now the whole batch. Move the sliders and watch which pairs light up. Blue pulls together, orange pushes apart; the
# scale under the picture goes in powers of ten, so that small weights are seen at all.

# %%
def weights_at(beta, base):
    settings = PairSettings(miner="none", alpha=2.0, beta=beta, base=base)
    return weight_heatmap(examine(batch, S.numpy(), settings), height=480)

explore(
    weights_at,
    "A square with a row for each anchor and a column for each other sentence: the weights of the "
    "locality loss, blue for positives, orange for negatives, in powers of ten: half the colour "
    "is a hundredth of the weight. All positives (the squares along the diagonal) weigh nearly "
    "the same; of the negatives only a few cells in a row have full colour.",
    beta=Slider("β, how sharply", 5.0, 100.0, 5.0, 50.0),
    base=Slider("λ, from where", -0.5, 1.0, 0.05, 0.5),
)

# %% [markdown]
# With $\beta$ small, all negatives of an anchor weigh nearly alike. With $\beta$ large, each row has one or two strong cells: the
# nearest negatives take everything. The next picture shows the same for one anchor, for all three losses. Each mark is a
# pair. The line shows what the hardest positive or negative of the anchor would weigh at other similarities, with all
# other pairs unchanged: the closed form that you have derived. Weights below a millionth are drawn at the lower edge.

# %%
def curves_at(beta, base):
    settings = PairSettings(miner="none", alpha=2.0, beta=beta, base=base, margin=base)
    return weight_curves(anchor_curves(examine(batch, S.numpy(), settings), batch.busiest))

explore(
    curves_at,
    "The pairs of one anchor, positives on the left, negatives on the right: weight (in powers of "
    "ten) against similarity. Each mark is a pair; each line is what the hardest pair would weigh "
    "elsewhere. On the right the locality loss (green solid) rises steeply to its nearest negatives, "
    "contrastive (blue dotted) jumps from nothing to 1 at λ, soft triplet (red dashed) hardly "
    "changes.",
    beta=Slider("β, how sharply", 5.0, 100.0, 5.0, 50.0),
    base=Slider("λ, from where", -0.5, 1.0, 0.05, 0.5),
)

# %% [markdown]
# ### The family
#
# The locality loss, alias multi-similarity (section 4), has relatives. Put $\lambda = S_{ip}$, the similarity of a
# positive, and $\beta = 1/\tau$ into a negative's weight (eq. 9): out comes, but for a factor $1/\tau$, how **InfoNCE** weighs a negative, also
# known as multiple negatives ranking. With it most sentence encoders of today are trained; $\tau$ is their *temperature*.
# What it counts as near is measured from the positive, and not from a fixed place. **Supervised contrastive** lets all
# positives and negatives share one sum, and the soft triplet can have a temperature, too (without one it is 1). What
# each weight does, in a sentence:

# %%
family = ("locality", "infonce", "supcon", "soft-triplet")
for name in family:
    print(f"{LOSSES[name].title}\n    {LOSSES[name].weight}")

row = torch.tensor([[1.0, 0.7, 0.6, 0.5, -0.1]] * 5)  # an anchor, a positive, three negatives
near, far = torch.zeros(5, 5, dtype=torch.bool), torch.zeros(5, 5, dtype=torch.bool)
near[0, 1] = far[0, 2:] = True
ours = weight_parts(row, near, far, beta=10.0, base=0.7).weight[0, 2:]
theirs = 0.1 * pair_weights(partial(infonce, temperature=0.1), row, near, far)[0, 2:]
print("eq. 9 with λ = S_p and β = 1/τ:", [round(each, 4) for each in ours.tolist()])
print("InfoNCE's weights, times τ:    ", [round(each, 4) for each in theirs.tolist()])

# %% [markdown]
# Turn the temperature down, and see where the weight goes.

# %%
def family_at(temperature, beta):
    settings = PairSettings(miner="none", base=0.5, beta=beta, temperature=temperature)
    found = examine(batch, S.numpy(), settings)
    return weight_curves(anchor_curves(found, batch.busiest, losses=family))

explore(
    family_at,
    "The same anchor under four losses: weight (in powers of ten) against similarity, positives on "
    "the left, negatives on the right. At a temperature of 0.1 InfoNCE and supervised "
    "contrastive rise towards the nearest negatives as steeply as the locality loss with β = 10 "
    "does, and the soft triplet a little less; at 1 they are nearly flat.",
    temperature=Slider("τ, the temperature", 0.02, 1.0, 0.02, 0.1),
    beta=Slider("β, how sharply", 5.0, 100.0, 5.0, 10.0),
)

# %% [markdown]
# Temperature and $\beta$ are one dial with two ends: hot ($\tau$ large, $\beta$ small), and all negatives count; cold,
# and the nearest takes everything. No paper's name hangs on it, and yet notebook 2 will show that such dials decide
# who leads.
#
# **Exercise 01.7, a small experiment.** One anchor has six negatives at the similarities given here.
# Find the $\beta$, to within 5 %, at which the nearest of them has *half* of the weight of all six. Any way of finding it is good.
#
# *6 minutes, medium. What it is for: getting a feeling for β in units of a cosine.*
#
# hint: With β near 0 all negatives share alike; with β large the nearest takes all. Try some values between.
# hint: The weights of one anchor's negatives are a softmax of β S. Write its largest share as a function of β.
# hint: Halve the interval from 1 to 100 again and again: the share rises with β.
# right: β is how much the loss listens to the nearest: half at a gap of a few hundredths of a cosine
# further: Move the second negative to 0.61 and find β anew. Then leave out all but the two nearest and write down the
# share of the nearest: β and their gap enter it as a product, and in no other way.

# %%
similarities = torch.tensor([0.62, 0.58, 0.55, 0.31, 0.12, -0.20], dtype=torch.float64)

def share_of_nearest(beta):
    """The weights of one anchor's negatives (eq. 9) differ by nothing but the factor e^(β S)."""
    return torch.softmax(beta * similarities, 0)[0].item()

betas = torch.arange(1.0, 60.0, 0.1)  #!
half = min(betas.tolist(), key=lambda beta: abs(share_of_nearest(beta) - 0.5))  #!
answer("01.7", half)

# %% [markdown]
# ## 7. Which pairs are kept at all
#
# Most pairs of a batch teach nothing: they are in order already. A **miner** leaves them out before the loss is computed.
# The paper keeps (section 3.3, eq. 11 for negatives and eq. 12 for positives)
#
# $$\text{negative } j \text{ of } i \text{ if } S_{ij} > \min_{k \in P_i} S_{ik} - \varepsilon, \qquad \text{positive } j \text{ of } i \text{ if } S_{ij} < \max_{k \in N_i} S_{ik} + \varepsilon$$
#
# In words: a negative counts if it is nearer than the *farthest* positive, or nearly so. $\varepsilon$ is what "nearly" means.
#
# **Exercise 01.8.** Write the rule, with masks of True and False as in 01.1. What should happen to an anchor that has no positive?
#
# *7 minutes, medium. What it is for: leaving out what is in order before a loss is computed.*
#
# hint: A negative is kept if it is nearer than the farthest positive, up to ε; a positive the same way round.
# hint: The farthest positive of a row: S outside P filled with +∞, then the minimum. With no positive it is +∞.
# hint: `N & (S > S.masked_fill(~P, inf).amin(1, keepdim=True) - epsilon)`, and P with the maximum over N plus ε.
# right: what is already in order by more than ε is left out of the loss
# further: Write a miner that keeps only the farthest positive and the nearest negative of each anchor, and count what
# it keeps of this batch. Notebook 2 (section 4) trains with both.

# %%
def keep(S, P, N, epsilon):
    """S (m, m) and the masks -> (positives kept, negatives kept), subsets of the masks"""
    farthest_positive = S.masked_fill(~P, torch.inf).amin(1, keepdim=True)  #!
    nearest_negative = S.masked_fill(~N, -torch.inf).amax(1, keepdim=True)  #!
    return P & (S < nearest_negative + epsilon), N & (S > farthest_positive - epsilon)  #!

answer("01.8", keep)

# %% [markdown]
# Move $\varepsilon$: at 2 everything is kept, for two cosines never differ by more.

# %%
def kept_at(epsilon):
    return kept_heatmap(examine(batch, S.numpy(), PairSettings(epsilon=epsilon)), height=480)

explore(
    kept_at,
    "A square with a row for each anchor: blue cells (+) are positives, orange ones (−) "
    "negatives; full colours are kept, pale ones dropped, and the white diagonal is a sentence "
    "with itself. With these vectors and ε = 0.1 most pairs of both kinds are kept.",
    epsilon=Slider("ε, the slack", 0.0, 2.0, 0.05, 0.1),
)

# %% [markdown]
# Section 3.3 says that leaving pairs out "can save up to 50% computation based on our experiments". How much is kept depends on
# the vectors, so measure it: first with vectors that know nothing of the topics, then with vectors that were given the answer, more and more of it.

# %%
truth = torch.nn.functional.one_hot(labels).double()
plain = torch.tensor(vectors.encode(list(batch.texts), normalize_embeddings=True)).double()
print("share of the answer   positives kept   negatives kept")
for share in (0.0, 0.05, 0.1, 0.2, 0.4):
    mixed = torch.cat([(1 - share) ** 0.5 * plain, share**0.5 * truth], 1)
    kept_P, kept_N = informative(mixed @ mixed.T, P, N, epsilon=0.1)
    print(f"{share:19.0%} {kept_P.sum() / P.sum():16.0%} {kept_N.sum() / N.sum():16.0%}")

# %% [markdown]
# With these vectors, at the start of a training, little can be left out; once they tell the topics apart, nearly
# everything. That is why the lab reports the kept share of every epoch rather than one number.
#
# ## What you have seen
#
# | loss | weight of a pair | what the paper prints (sections 3.2 and 3.3) |
# | --- | --- | --- |
# | contrastive | 1 for positives, 1 for negatives above $\lambda$ | $S_{ij} = 1$ in eq. 7, where it means $w_{ij}$ |
# | soft-margin triplet | $\sigma(S_n - S_p)$, summed over its triplets | 1 in eq. 5 |
# | locality | $1 / (\text{own} + \text{relative})$ | right in eq. 9 and 10; in eq. 8 a brace stands in the wrong place |
#
# Everything here was one batch, no training. Whether weighting *helps* is another question, and the next notebook
# measures it. There $\lambda = 0.9$, $\beta = 20$ and $\varepsilon = 0.3$ were chosen on dev. With the values usual for the
# loss, $\lambda = 0.5$, $\beta = 50$, $\varepsilon = 0.1$, it is behind the triplet network; and tuned by as many trials as
# the others, it has no lead.

# ## Further reading
#
# - Zhang, Li and Wang, [*SentPWNet*](https://arxiv.org/abs/2005.11347), 2020. The paper of this notebook; read section 3 with
#   your own results beside it.
# - Wang, Han, Huang, Dong and Scott, [*Multi-Similarity Loss with General Pair Weighting for Deep Metric
#   Learning*](https://arxiv.org/abs/1904.06627), 2019. Where weight-as-slope, the locality loss and its miner come from; it
#   compares many more losses in this way.
# - Hadsell, Chopra and LeCun, [*Dimensionality Reduction by Learning an Invariant
#   Mapping*](https://doi.org/10.1109/CVPR.2006.100), 2006. The contrastive loss as it first stood, with squared distances, and
#   its pairs drawn as springs.
# - Hermans, Beyer and Leibe, [*In Defense of the Triplet Loss*](https://arxiv.org/abs/1703.07737), 2017. The soft margin, and
#   what choosing the hardest pairs of a batch does.
# - Wang and Isola, [*Understanding Contrastive Representation Learning through Alignment and Uniformity on the
#   Hypersphere*](https://arxiv.org/abs/2005.10242), 2020. What pulling and pushing come to on the whole sphere.
# - Musgrave, Belongie and Lim, [*A Metric Learning Reality Check*](https://arxiv.org/abs/2003.08505), 2020. How little is left of
#   the differences between losses when all are tuned alike. Read it before notebook 2.

# %% [markdown]
# ## Three questions to end with
#
# *No cell asks for these. Say your answer aloud, or write it down, before you unfold ours.*
#
# **1.** On a batch two losses have different values, and the same weight, with the same sign, for each pair. Which
# one teaches more by this batch?
#
# <details><summary>An answer</summary>
#
# Neither. What moves the vectors is $\partial L / \partial S$ times $\partial S / \partial V$, and the second factor
# is the same for every loss. The value itself moves nothing, so values of different losses must not be compared.
#
# </details>
#
# **2.** You double $\beta$. Which negatives of an anchor gain weight, and which lose?
#
# <details><summary>An answer</summary>
#
# Two weights of one anchor are to each other as $e^{\beta (S_{ij} - S_{ik})}$, and doubling $\beta$ squares this: the
# nearest gains on all others. Its own weight is another matter. Above $\lambda$ its own part of the denominator,
# $e^{\beta(\lambda - S_{ij})}$, shrinks to nothing; below $\lambda$ it grows, and a $\beta$ that is large enough
# leaves even the nearest without weight.
#
# </details>
#
# **3.** Why may it cost nothing to leave out the pairs that are in order, and much to keep only the nearest negative
# of each anchor?
#
# <details><summary>An answer</summary>
#
# Under a loss that weighs by similarity, a negative that is in order has hardly any weight left to lose. The nearest
# negative has the most, but it is also the one that most likely is a positive which nobody has labelled. Who keeps
# nothing else learns from such mistakes first, and from a single pair where there were many to hold against it.
#
# </details>

# %%
progress("01")
