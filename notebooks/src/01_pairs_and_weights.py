# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 1 · Pairs and weights
#
# **How much does a loss care about a pair of sentences?** A method that learns sentence vectors does one thing: it pulls
# some pairs together and pushes others apart. Losses differ only in how hard they pull and push each pair. In this
# lesson you measure that force, derive it for two losses, and then train with nothing else.
#
# *80 minutes, 38 of them for five exercises; section 6 can wait for a second sitting. You need a little PyTorch, and
# should know what a dot product, a derivative and a logarithm are.*
#
# Where a cell says `...  # your turn`, you write the code. `answer(...)` checks it at once, `hint("01.1")` gives a hint
# (there are three), and `solve("01.1")` shows and runs a solution. Before a result is shown, you are asked to predict
# it. Predictions are not graded; a wrong one is the quickest way to learn something.

# %%
from labkit import playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %% [markdown]
# Each mark is a sentence, and each colour is a topic. Lines are pairs: the thicker the line, the more the loss cares
# about it. Drag the temperature slowly to the left, then to the right, and watch the lines and the number under the
# slider. At one end, a few pairs take all the weight; at the other, all pairs count nearly equally. Neither the
# sentences nor the labels change, so what does the slider change?
#
# ## 1. What a loss gets to see
#
# Here are 24 short posts, four on each of six topics. We treat each post as one sentence. Its vector is the mean of its
# word vectors, and nothing has been learned yet.

# %%
import torch

from labkit import METHODS, load
from labkit.sentpwnet.view import sentence_batch

topics = load("topics")
batch = sentence_batch(topics, size=24, per_class=4, seed=3)
mean_vectors = METHODS["mean-vectors"]()
mean_vectors.fit(topics)
V = torch.tensor(mean_vectors.encode(list(batch.texts)), dtype=torch.float64)  # (24, 300)
labels = torch.tensor([sorted(set(batch.classes)).index(name) for name in batch.classes])
for row in (0, 1, 4, 5):
    print(f"{row:2} {batch.classes[row]:12} {batch.texts[row]}")

# %% [markdown]
# A pair loss never sees the sentences. It sees three $m \times m$ matrices, with a row for each sentence, the *anchor*:
#
# - $S_{ij}$, the cosine of the vectors of sentences $i$ and $j$,
# - $P_{ij}$, true where $j$ is a *positive* of anchor $i$: another sentence on the same topic,
# - $N_{ij}$, true where $j$ is a *negative*: a sentence on a different topic.
#
# **Exercise 01.1.** Compute all three. The rows of `V` do not have length 1 yet.
#
# *6 minutes, easy. Why it matters: everything that follows is computed from these three matrices.*
#
# hint: Divide each row by its length, `V.norm(dim=1, keepdim=True)`. Then one matrix product gives every cosine.
# hint: `labels[:, None] == labels` compares every label with every label. Which of its entries are not pairs?
# hint: `N = ~same`, and `P = same & ~torch.eye(len(labels), dtype=torch.bool)`, since no sentence is its own positive.
# right: every pair is now a positive, a negative, or a sentence with itself
# further: Give one sentence the label of another topic and compute the masks again. How many entries have changed? That
# is what a single wrong label does to a batch.

# %%
def three_matrices(V, labels):
    """V (m, d) and integer labels (m,) -> S (m, m), and the masks P and N, both bool (m, m)"""
    unit = V / V.norm(dim=1, keepdim=True)  #!
    S = unit @ unit.T  #!
    same = labels[:, None] == labels[None, :]  #!
    itself = torch.eye(len(labels), dtype=torch.bool)  #!
    P = same & ~itself  #!
    N = ~same  #!
    return S, P, N

answer("01.1", three_matrices)

# %% [markdown]
# **Predict 01.a.** Which is larger in this batch: the similarity of the *nearest negative* pair, or that of the *farthest
# positive* pair? Write `"nearest negative"` or `"farthest positive"`.

# %%
guess = "farthest positive"  #!
predict("01.a", guess)

# %%
from labkit.explore import show
from labkit.figures import similarity_heatmap
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import examine

S, P, N = three_matrices(V, labels)
nearest_negative, farthest_positive = S[N].max().item(), S[P].min().item()
print(f"nearest negative  {nearest_negative:.2f}\nfarthest positive {farthest_positive:.2f}")
show(
    similarity_heatmap(examine(batch, S.numpy(), PairSettings(miner="none")), height=480),
    "A square with a row and a column for each of the 24 sentences, ordered by topic. Dark blue marks a low similarity, "
    "yellow a high one. No block along the diagonal stands out: these vectors do not know the topics.",
)
recall("01.a", "nearest negative" if nearest_negative > farthest_positive else "farthest positive")

# %% [markdown]
# If the vectors reflected the topics, you would see six bright blocks along the diagonal and darkness elsewhere. You do
# not. There is work to do, and a loss has to decide where to begin.
#
# ## 2. A weight is a slope
#
# How much does a loss care about the pair $(i, j)$? Nudge $S_{ij}$ by a tiny $h$ and see how much the loss changes. If it
# does not change, the pair does not matter. If it changes a lot, the pair matters a lot. That ratio is a slope, and its
# size is the **weight** of the pair:
#
# $$w_{ij} = m \left| \frac{\partial L}{\partial S_{ij}} \right| \approx m \left| \frac{L(S \text{ with } S_{ij} + h) - L(S)}{h} \right|$$
#
# The losses of this package are means over $m$ anchors; the factor $m$ undoes that mean, so that the weight does not
# depend on the size of the batch. A weight is only the size of a slope. The sign is fixed, $-$ for positives and $+$
# for negatives; you will need it again in section 6.
#
# **Exercise 01.2.** Measure the weights of *any* loss this way. Nudge each entry by itself: $(i, j)$ and $(j, i)$ are two
# entries, because each sentence is an anchor.
#
# *8 minutes, medium. Why it matters: you will check every formula below against this measurement.*
#
# hint: Write two loops, over i and over j. In the inner one, copy S, add h to one entry and compute the loss again.
# hint: `nudged = S.clone()`, then `nudged[i, j] += h`. The slope is the difference of the two losses divided by h.
# hint: `W[i, j] = len(S) * abs(loss(nudged, P, N) - before) / h`, with `before = loss(S, P, N)`.
# right: no calculus is needed: this works for every loss, even for one that nobody has ever differentiated
# further: After the next cell, measure the contrastive loss again with `h=1e-5`, `h=1e-9`, `h=1e-13` and `h=1e-15`. A
# number has about sixteen digits: below what `h` do too few of them remain in the difference?

# %%
def measured_weights(loss, S, P, N, h=1e-6):
    """a function (S, P, N) -> loss, and the three matrices -> weights (m, m)"""
    W = torch.zeros_like(S)
    before = loss(S, P, N)  #!
    # Two loops go here: nudge each entry by itself and fill in its weight. Then return W.
    for i in range(len(S)):  #!
        for j in range(len(S)):  #!
            nudged = S.clone()  #!
            nudged[i, j] += h  #!
            W[i, j] = len(S) * abs(loss(nudged, P, N) - before) / h  #!
    return W  #!

answer("01.2", measured_weights)

# %% [markdown]
# Try it on the oldest loss of the family, the **contrastive loss**. Its term for anchor $i$ is
#
# $$\sum_{j \in N_i} [S_{ij} - \lambda]_+ - \sum_{j \in P_i} S_{ij}$$
#
# where $[x]_+$ is $x$ if positive and 0 otherwise: a negative costs something only if it is nearer than the margin
# $\lambda$.

# %%
from labkit.pairs import contrastive

W = measured_weights(contrastive, S, P, N)
print("different weights:", sorted(set(W.round(decimals=3).flatten().tolist())))
print(f"positives that weigh 1: {int((W[P] > 0.5).sum())} of {int(P.sum())}")
print(f"negatives that weigh 1: {int((W[N] > 0.5).sum())} of {int(N.sum())}")

# %% [markdown]
# There are only two values, 0 and 1. A positive that is already next to its anchor is pulled as hard as one at the other
# end of the space, and it is pulled forever. Every loss that follows is an attempt to do better than this.
#
# ## 3. First derivation: the triplet
#
# The **soft-margin triplet loss** compares an anchor with one of its positives $p$ and one of its negatives $n$. Each
# such triplet costs
#
# $$\log\left(1 + e^{S_{in} - S_{ip}}\right)$$
#
# This is nearly 0 if the positive is much nearer than the negative, and it grows if the negative is nearer.
#
# **Predict 01.b.** Take an undecided triplet: $S_{in} = S_{ip}$. What weight does it give to each of
# its two pairs? Write a number.

# %%
guess = 1  #!
predict("01.b", guess)

# %%
from labkit.pairs import soft_triplet

def one_anchor(*similarities):
    """S, P and N in which row 0 is the only anchor: itself, one positive, then negatives, at these similarities."""
    S = torch.tensor([similarities] * len(similarities), dtype=torch.float64)
    P, N = torch.zeros(S.shape, dtype=torch.bool), torch.zeros(S.shape, dtype=torch.bool)
    P[0, 1] = True
    N[0, 2:] = True
    return S, P, N

tie = measured_weights(soft_triplet, *one_anchor(1.0, 0.4, 0.4))
recall("01.b", round(tie[0, 2].item(), 4))

# %% [markdown]
# Now by hand. Let $x = S_{in} - S_{ip}$. The derivative of $\log(1 + e^x)$ is $e^x / (1 + e^x)$, which has a name: it is
# the sigmoid $\sigma(x)$. So a triplet weighs $\sigma(S_{in} - S_{ip})$, and gives that weight to *both* of its pairs. A
# pair takes part in many triplets, and its weight is the sum over all of them.
#
# **Exercise 01.3.** Compute the weights of all pairs.
#
# *8 minutes, medium. Why it matters: you derive a weight on paper, and then check it against your measurement.*
#
# hint: Nest three loops: over the anchors i, over its positives p, over its negatives n.
# hint: `P[i].nonzero().flatten()` gives the positives of anchor i. Add each triplet's weight to W[i, p] and W[i, n].
# hint: In the innermost loop: `w = torch.sigmoid(S[i, n] - S[i, p])`, then `W[i, p] += w` and `W[i, n] += w`.
# right: a pair in the wrong order weighs more, and no pair ever loses all its weight
# further: Write it without loops: `torch.sigmoid(S[:, None, :] - S[:, :, None])` is indexed by [i, p, n]. Mask it with
# P and N, then sum over one axis for the positives and over another for the negatives.

# %%
def triplet_weights(S, P, N):
    """S (m, m) and the masks -> weights (m, m), 0 outside the masks"""
    W = torch.zeros_like(S)
    # Three loops go here: add the weight of each triplet to both of its pairs. Then return W.
    for i in range(len(S)):  #!
        for p in P[i].nonzero().flatten():  #!
            for n in N[i].nonzero().flatten():  #!
                w = torch.sigmoid(S[i, n] - S[i, p])  #!
                W[i, p] += w  #!
                W[i, n] += w  #!
    return W  #!

answer("01.3", triplet_weights)

# %%
W = triplet_weights(S, P, N)
print(f"largest difference from your measurement: {(W - measured_weights(soft_triplet, S, P, N)).abs().max():.0e}")
print(f"the best possible triplet (positive nearest, negative farthest): {torch.sigmoid(torch.tensor(-2.0)):.3f}")
print(f"the worst possible triplet: {torch.sigmoid(torch.tensor(2.0)):.3f}")

# %% [markdown]
# Two cosines differ by 2 at most, so a triplet's weight lies between 0.12 and 0.88. Even a hopeless triplet weighs only
# seven times as much as one that was solved long ago. The loss favours the right pairs, but not by much.
#
# ## 4. Second derivation: the nearest negatives
#
# The third loss asks how near a pair is compared with *its rivals*. It is the **locality loss**, better known as the
# multi-similarity loss. An anchor's term is
#
# $$\frac{1}{\alpha} \log\Big(1 + \sum_{j \in P_i} e^{-\alpha (S_{ij} - \lambda)}\Big) + \frac{1}{\beta} \log\Big(1 + \sum_{k \in N_i} e^{\beta (S_{ik} - \lambda)}\Big)$$
#
# Here $\lambda$ is the similarity that separates near from far, and $\alpha$ and $\beta$ set how sharply it does so.
# The derivative of a logarithm of a sum is a share of that sum; the $\beta$ from the inner derivative cancels
# $1/\beta$. For a negative $j$, divide numerator and denominator by $e^{\beta(S_{ij} - \lambda)}$, and the whole idea
# becomes clear:
#
# $$w_{ij} = \frac{e^{\beta(S_{ij} - \lambda)}}{1 + \sum_{k \in N_i} e^{\beta(S_{ik} - \lambda)}} = \frac{1}{\underbrace{e^{\beta(\lambda - S_{ij})}}_{\text{own}} + \underbrace{\textstyle\sum_{k \in N_i} e^{\beta(S_{ik} - S_{ij})}}_{\text{relative}}}$$
#
# - The **own** term is small if the similarity of the pair itself is above $\lambda$.
# - The **relative** term is small if the anchor's *other* negatives are farther away than this one. The sum includes
#   $k = j$, so it is never below 1.
#
# A negative has a large weight only if both are small: it is too near, and nearer than the other negatives. For
# positives, put
# $-\alpha$ in place of $\beta$ and $P_i$ in place of $N_i$. This reverses both comparisons: a positive has a large
# weight if it is farther away than $\lambda$, and farther than the anchor's other positives.
#
# **Predict 01.c.** An anchor has one negative, at similarity 0.6. Now ten more negatives appear, all at 0.6 as well. Does
# the weight of the first one go `"up"` or `"down"`, or does it `"stay"`?

# %%
guess = "stay"  #!
predict("01.c", guess)

# %% [markdown]
# **Exercise 01.4.** Compute the weights of both kinds of pairs.
#
# *10 minutes, hard. Why it matters: the same formula, with other letters, weights the pairs in most sentence encoders
# trained today.*
#
# hint: Loop over the anchors. For each, loop over its negatives and then over its positives.
# hint: The rivals of anchor i are `S[i, N[i]]`. Then `relative = torch.exp(beta * (S[i, N[i]] - S[i, j])).sum()`.
# hint: For both kinds at once: `for mask, scale in ((N, beta), (P, -alpha))`, with `scale` in place of beta.
# right: the weight is one over own plus relative: a pair competes with the anchor's other pairs of its kind
# further: Write both sums without loops: `S[:, None, :] - S[:, :, None]` is S_ik - S_ij, indexed by [i, j, k].

# %%
def locality_weights(S, P, N, alpha=2.0, beta=50.0, base=0.5):
    """S (m, m), the masks, α, β and λ (`base`) -> weights (m, m), 0 outside the masks"""
    W = torch.zeros_like(S)
    # The loops go here, over anchors and over both kinds of pairs. Then return W.
    for mask, scale in ((N, beta), (P, -alpha)):  #!
        for i in range(len(S)):  #!
            rivals = S[i, mask[i]]  #!
            for j in mask[i].nonzero().flatten():  #!
                own = torch.exp(scale * (base - S[i, j]))  #!
                relative = torch.exp(scale * (rivals - S[i, j])).sum()  #!
                W[i, j] = 1 / (own + relative)  #!
    return W  #!

answer("01.4", locality_weights)

# %%
from labkit.pairs import locality

W = locality_weights(S, P, N)
print(f"largest difference from your measurement: {(W - measured_weights(locality, S, P, N)).abs().max():.0e}")

def first_of(count):
    """The weight of one of `count` negatives, all at similarity 0.6."""
    return locality_weights(*one_anchor(1.0, 0.6, *[0.6] * count))[0, 2].item()

print(f"alone {first_of(1):.2f}, with ten more {first_of(11):.2f}")
recall("01.c", "down" if first_of(11) < first_of(1) else "up")

# %% [markdown]
# The eleven negatives share the weight that one of them had alone. Now move $\beta$ and $\lambda$, and watch which
# pairs light up. Blue pulls together, orange pushes apart; the colour scale is logarithmic, so that small weights are
# visible at all.

# %%
from labkit.explore import Slider, explore
from labkit.figures import weight_heatmap

def weights_at(beta, base):
    settings = PairSettings(miner="none", alpha=2.0, beta=beta, base=base)
    return weight_heatmap(examine(batch, S.numpy(), settings), height=480)

explore(
    weights_at,
    "A square with a row for each anchor and a column for each other sentence: the weights of the locality loss, blue for "
    "positives, orange for negatives. All positives weigh nearly the same; in each row only a few negatives stand out.",
    beta=Slider("β, how sharply", 5.0, 100.0, 5.0, 50.0),
    base=Slider("λ, where near begins", -0.5, 1.0, 0.05, 0.5),
)

# %% [markdown]
# With a small $\beta$, all negatives of an anchor weigh nearly the same. With a large one, each row has one or two
# strong cells: the nearest negatives take almost all the weight. You have seen this before.
#
# ## 5. The temperature
#
# The slider at the top of this page was the temperature $\tau$ of **InfoNCE**, also called multiple negatives ranking, the
# loss that trains most of today's sentence encoders. It has the same formula. Put $\lambda = S_{ip}$, the similarity of
# the anchor's positive, and $\beta = 1/\tau$ into your weights, and you get InfoNCE's weight of a negative, up to the
# constant factor $1/\tau$:

# %%
from functools import partial

from labkit.pairs import infonce

case = one_anchor(1.0, 0.7, 0.6, 0.5, -0.1)  # a positive at 0.7, three negatives
yours = locality_weights(*case, beta=10.0, base=0.7)[0, 2:]
theirs = 0.1 * measured_weights(partial(infonce, temperature=0.1), *case)[0, 2:]
print("yours with λ = S_p, β = 1/τ:", [round(each, 4) for each in yours.tolist()])
print("InfoNCE's weights, times τ: ", [round(each, 4) for each in theirs.tolist()])

# %% [markdown]
# So a small temperature is a large $\beta$. What differs is where "near" begins: InfoNCE measures from the positive, the
# locality loss from a fixed $\lambda$.
#
# ## 6. Train with weights alone
#
# If a weight is all that a loss can say, you should be able to train with weights and no loss at all. Vectors have
# length 1, so they lie on a sphere, and $S_{ij} = v_i \cdot v_j$. Going downhill moves a positive towards its anchor's
# vector and a negative away from it, in proportion to the weight of the pair. Only the part along the sphere counts,
# because the length is reset to 1:

# %%
from labkit.figures import pull_and_push
from labkit.sentpwnet.view import one_triplet

settings = PairSettings(margin=0.5, base=0.5, beta=50.0)  # as in your functions

explore(
    lambda positive, negative: pull_and_push(one_triplet(positive, negative, settings)),
    "Three circles, for the contrastive, the soft triplet and the locality loss. The anchor (star) is on top, a positive "
    "(blue disc) on the left, a negative (orange diamond) on the right. Thin arrows are as long as the weights; thick "
    "arrows are their part along the circle.",
    positive=Slider("similarity of the positive", -1.0, 1.0, 0.05, 0.2),
    negative=Slider("similarity of the negative", -1.0, 1.0, 0.05, 0.7),
)

# %% [markdown]
# A thin arrow is a weight, and a thick one is the part of it along the sphere. Move the negative below 0.5: two losses
# let go of it, but the triplet loss does not. Then move the positive to 1: it still has a weight, but nothing moves it.
#
# **Exercise 01.5.** Write one step of training. The product $v_i \cdot v_j$ appears twice in $S$, as $S_{ij}$ and as
# $S_{ji}$, so both weights act on $v_i$. With $\bar w_{ij} = w_{ij}$ for a negative and $-w_{ij}$ for a positive, the
# gradient of $v_i$ is
#
# $$g_i = \frac{1}{m} \sum_j (\bar w_{ij} + \bar w_{ji}) \, v_j$$
#
# Remove the part of $g_i$ that points along $v_i$, step by `rate` against what remains, and divide each row by its
# length.
#
# *6 minutes, medium. Why it matters: you train with six lines of code, and only the weights differ between losses.*
#
# hint: `signed = W * N - W * P` gives the signed weights. Add its transpose, multiply by V, divide by m: these are the
# gradients.
# hint: How much of each gradient points along its vector? `(gradient * V).sum(dim=1, keepdim=True)`. Subtract that times V.
# hint: `V = V - rate * along`, then `V / V.norm(dim=1, keepdim=True)`.
# right: this gradient step turns weights into better vectors, without automatic differentiation
# further: Leave out the line that removes the part along the vector. Since each row is divided by its length anyway,
# does the line matter? Compare the two after one step with rate 0.1 and with rate 10.

# %%
def step(V, P, N, weights_of, rate):
    """V (m, d), rows of length 1; the masks; a function (S, P, N) -> weights -> V after one step"""
    W = weights_of(V @ V.T, P, N)
    signed = W * N - W * P  # (m, m)  #!
    gradient = (signed + signed.T) @ V / len(V)  # (m, d)  #!
    along = gradient - (gradient * V).sum(dim=1, keepdim=True) * V  #!
    V = V - rate * along  #!
    return V / V.norm(dim=1, keepdim=True)  #!

answer("01.5", step)

# %% [markdown]
# Now train three times from the same start, with 40 steps and three kinds of weights. (A pair takes part in many
# triplets, so triplet weights are about ten times as large, and the rate is smaller.) The last two columns count the
# pairs that weigh at least a twentieth as much as the heaviest.

# %%
import pandas as pd

def contrastive_weights(S, P, N):
    return (P | (N & (S > 0.5))).double()

def trained(weights_of, rate, steps=40):
    """The unit vectors at the start and after each step."""
    spaces = [V / V.norm(dim=1, keepdim=True)]
    for _ in range(steps):
        spaces.append(step(spaces[-1], P, N, weights_of, rate))
    return spaces

rows, runs = [], {}
for name, weights_of, rate in (
    ("contrastive", contrastive_weights, 1.0),
    ("soft triplet", triplet_weights, 0.1),
    ("locality", locality_weights, 1.0),
):
    runs[name] = trained(weights_of, rate)
    for at in (0, 5, 40):
        S_at = runs[name][at] @ runs[name][at].T
        W = weights_of(S_at, P, N)
        weigh = W > W.max() / 20
        counts = int((weigh & P).sum()), int((weigh & N).sum())
        rows.append([name, at, S_at[N].max().item(), S_at[P].min().item(), *counts])
columns = ["weights", "step", "nearest negative", "farthest positive", "positives that weigh", "negatives that weigh"]
pd.DataFrame(rows, columns=columns).set_index(["weights", "step"]).round(2)

# %% [markdown]
# All three put the batch in order: at the end every positive is nearer than every negative. None lets go of a positive.
# The difference is in the negatives. The triplet loss works on all 480 until the last step, the contrastive loss on
# those above its margin. The locality loss starts with 89. As the heaviest of them get lighter, more negatives count
# (234), and at the end none do. Watch its space fall into order:

# %%
def space_at(at):
    V_at = runs["locality"][at]
    return similarity_heatmap(examine(batch, (V_at @ V_at.T).numpy(), PairSettings(miner="none")), height=480)

explore(
    space_at,
    "The square of similarities from section 1, after the chosen number of steps: six yellow blocks appear along the "
    "diagonal, and the rest turns dark.",
    at=Slider("step", 0, 40, 1, 0),
)

# %% [markdown]
# A **miner** goes further: before the loss is computed, it drops every pair that is already in order, even one that
# still has weight. The paper of this lesson keeps a negative $j$ of anchor $i$ if $S_{ij} > \min_{k \in P_i} S_{ik} -
# \varepsilon$, that is, if it is nearer than the farthest positive, or nearly so. It keeps a positive if $S_{ij} <
# \max_{k \in N_i} S_{ik} + \varepsilon$. How many of your pairs would this miner have kept?

# %%
from labkit.pairs import informative

print("step   positives kept   negatives kept   weight kept")
for at in (0, 2, 5, 10, 40):
    V_at = runs["locality"][at]
    W = locality_weights(V_at @ V_at.T, P, N)
    kept_P, kept_N = informative(V_at @ V_at.T, P, N, epsilon=0.1)
    weight = W[kept_P | kept_N].sum() / W.sum()
    print(f"{at:4} {kept_P.sum() / P.sum():16.0%} {kept_N.sum() / N.sum():16.0%} {weight:13.0%}")

# %% [markdown]
# At step 2 the miner would drop about half of the pairs and a quarter of the weight. At step 5 it would drop everything
# and end the training. Your own run continued from there and moved the farthest positive from 0.63 to 0.99.
#
# All of this was measured on one batch. Whether clever weights make better *encoders*, on sentences not used in
# training, is another question, which the next lesson answers.
#
# ## Further reading
#
# - Wang, Han, Huang, Dong and Scott, [*Multi-Similarity Loss with General Pair
#   Weighting*](https://arxiv.org/abs/1904.06627), 2019. This paper defines the weight of a pair as a slope, and
#   introduces the locality loss and its miner.
# - Hermans, Beyer and Leibe, [*In Defense of the Triplet Loss*](https://arxiv.org/abs/1703.07737), 2017. It explains
#   the soft margin, and what happens if only the hardest pairs are kept.
# - Wang and Isola, [*Alignment and Uniformity on the Hypersphere*](https://arxiv.org/abs/2005.10242), 2020. It shows
#   the effect of pulling and pushing on the whole sphere.
#
# <details><summary>Errata of the paper</summary>
#
# The paper is [*SentPWNet*](https://arxiv.org/abs/2005.11347) (Zhang, Li and Wang, 2020). You have derived what its
# equations should say:
#
# | loss | weight of a pair | printed |
# | --- | --- | --- |
# | contrastive | 1 for positives, 1 for negatives above $\lambda$ | eq. 7 prints $S_{ij} = 1$ and means $w_{ij} = 1$ |
# | soft-margin triplet | $\sigma(S_n - S_p)$, summed over its triplets | eq. 5 prints 1 for every pair |
# | locality | $1 / (\text{own} + \text{relative})$ | eq. 9 and 10 are right; in eq. 8 the negatives stand outside the sum over the anchors |
#
# </details>

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** On one batch, two losses have different values, but give every pair the same weight. Which teaches more?
#
# <details><summary>An answer</summary>
#
# Neither. Your `step` never saw the value of a loss, only the weights. This is also why values of different losses must
# not be compared.
#
# </details>
#
# **2.** You double $\beta$. Which negatives of an anchor gain weight, and which lose weight?
#
# <details><summary>An answer</summary>
#
# The ratio of two weights of one anchor is $e^{\beta (S_{ij} - S_{ik})}$, and doubling $\beta$ squares it. The nearest
# negative gains weight relative to all others. If even the nearest is below $\lambda$, all of them lose weight.
#
# </details>
#
# **3.** Some miners keep only the nearest negative of each anchor. It has the largest weight, so why can that be costly?
#
# <details><summary>An answer</summary>
#
# It is also the one most likely to be a positive that nobody has labelled. Without the other negatives, such a mistake is
# all the anchor learns from.
#
# </details>

# %%
progress("01")
