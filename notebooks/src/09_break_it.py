# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 9 · Break it
#
# **How do you notice that a training run has collapsed?** The loss may look calm, and a score may even rise, while all your
# vectors turn into one. Here you break a run on purpose, look at it while it is broken, and mend it.
#
# *60 minutes, 29 of them for four exercises. You need notebook 1 (what a weight is), and should know what a singular
# value is.*
#
# In Play, choose scene 3, *Collapse*. Watch Hit@1, the share of sentences whose nearest neighbour is on the same topic,
# while the sentences fall into one spot. Would you have noticed the collapse if you had seen only that number?

# %%
from labkit import playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %%
import numpy as np

from labkit import METHODS, load
from labkit.evaluation import hit_at

topics = load("topics")
test = topics.part("test")
labels = np.array(test.labels)
print(topics.sizes, "sentences of", len(set(test.labels)), "topics")

# %% [markdown]
# ## 1. Two numbers that describe a space
#
# A space of sentences can go wrong in two ways. All vectors can crowd together into one **point**. Or they can spread
# along only a few **directions**, so that everything else in which sentences differ is lost. Two numbers reveal this,
# and neither needs labels. The first is the mean cosine of two different sentences: if it is 1, all vectors point the
# same way.
#
# **Exercise 09.1.** Compute this mean cosine. The rows need not have length 1, and no row forms a pair with itself.
#
# *8 minutes, easy. Why it matters: it is the cheapest check of a space. It needs no labels, and shows at once if all
# vectors crowd together.*
#
# hint: Divide each row by its length. Then `unit @ unit.T` contains every cosine.
# hint: On the diagonal, each row is compared with itself. Leave out these n of the n² entries.
# hint: `(S.sum() - len(S)) / (len(S) * (len(S) - 1))`, where S is the matrix of cosines
# right: a value near 1 means that all rows point the same way, a value near 0 that they share no direction
# further: Write it without the matrix of all cosines, from the squared length of the sum of the unit rows. How many
# rows can you then use?

# %%
def mean_cosine(V):
    """V (n, d) -> the mean cosine over all pairs of two different rows"""
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)  #!
    S = unit @ unit.T  #!
    n = len(S)  #!
    return (S.sum() - n) / (n * (n - 1))  #!

answer("09.1", mean_cosine)

# %% [markdown]
# For the second number, divide the rows by their lengths, subtract their mean, and look at the singular values
# $\sigma_1 \ge \sigma_2 \ge \dots$: they say how wide the cloud is along each of its own axes. If $k$ of them are equal
# and the others are 0, the space uses $k$ directions. In general, turn them into shares, $p_k = \sigma_k / \sum_j
# \sigma_j$, and take the exponential of their entropy. This is the **effective rank** (Roy and Vetterli, 2007):
#
# $$\exp\Big(-\sum_k p_k \log p_k\Big)$$
#
# **Exercise 09.2.** Compute the effective rank. A singular value that is 0 up to rounding adds nothing to the sum.
#
# *10 minutes, medium. Why it matters: one number says how many directions a space uses.*
#
# hint: Centre the unit rows: `unit - unit.mean(axis=0)`. `np.linalg.svd(centred, compute_uv=False)` gives the singular
# values.
# hint: The entropy of the shares is -Σ p log p, over the shares above 0; log 0 would be -∞.
# hint: `p = sigma / sigma.sum()`, `p = p[p > 1e-12]`, and `np.exp(-(p * np.log(p)).sum())`
# right: if k singular values are equal and the others are 0, the result is k
# further: Take the shares of the squared singular values, the variances, instead. Does the number grow or shrink, and
# why?

# %%
def effective_rank(V):
    """V (n, d) -> one number, from 1 to d"""
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)  #!
    centred = unit - unit.mean(axis=0)  #!
    sigma = np.linalg.svd(centred, compute_uv=False)  #!
    p = sigma / sigma.sum()  #!
    p = p[p > 1e-12]  #!
    return np.exp(-(p * np.log(p)).sum())  #!

answer("09.2", effective_rank)

# %%
def measured(name, method):
    V = method.encode(list(test.texts)).astype(float)
    print("{}: mean cosine {:.3f}, effective rank {:.1f}, Hit@1 {:.3f}".format(
        name, mean_cosine(V), effective_rank(V), hit_at(V, labels)[1]))
    return V

untrained = METHODS["mean-vectors"](dimension=50)
untrained.fit(topics)
measured("untrained", untrained);

# %% [markdown]
# ## 2. Break it
#
# Here is a small network: a linear map on the mean of word vectors. Its loss is the triplet loss with a margin: an anchor
# costs $[S_n - S_p + 0.2]_+$, with its hardest negative $n$ (the nearest) and its hardest positive $p$ (the farthest). Its
# learning rate is 0.3, a hundred times the usual 0.003.
#
# **Predict 09.a.** What is the loss after eight epochs? Write a number.

# %%
guess = 0.05  #!
predict("09.a", guess)

# %%
import warnings

from labkit.course.plans import BROKEN
from labkit.progress import in_notebook

print(BROKEN)

def trained(name, **changed):
    """A network with the settings of BROKEN, some of them changed, and what the package says during training."""
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
# The loss falls at first and then stays flat. Training seems to have converged, but it has not.
#
# **Exercise 09.3.** Suppose that all vectors have become the same. What does an anchor then cost with a margin of 0.2?
#
# *3 minutes, easy. Why it matters: at this value, the loss sees no difference between its pairs.*
#
# hint: If all vectors are the same, what are S_n and S_p?
# hint: Both are 1, so S_n - S_p is 0. What is left of [S_n - S_p + margin]₊?
# hint: The margin.
# right: a loss that stays at its margin is the first sign of a collapse: look for it in your own curves
# further: What does InfoNCE with 63 negatives cost if all vectors are the same? It has such a value, too.

# %%
cost = 0.2  #!
answer("09.3", cost)

# %% [markdown]
# That is the first sign of a collapse: **a triplet loss that stays at its margin**. The second sign shows in the
# histogram of cosines. Here it is for held-out sentences, epoch by epoch: blue for two sentences on one topic, orange
# for two sentences on different topics. The axis begins at 0.85, and the few cosines below 0.85 are counted there.

# %%
from labkit.evaluation.geometry import cosines_over_epochs
from labkit.explore import show
from labkit.figures import cosine_ridges

show(
    cosine_ridges(cosines_over_epochs(broken.snapshots, low=0.85)),
    "Histograms of cosines from 0.85 to 1, one below the other, with epoch 0 (before training) at the top. There the "
    "two hills are wide and a little apart, but overlap. From the first epoch on, both form a single needle at cosine "
    "1.",
)

# %% [markdown]
# **Predict 09.b.** The vectors have 60 numbers each, but a linear map has computed them from 50, so they use about 50
# directions at most. What is the effective rank of this needle? Write a number.

# %%
guess = 1.5  #!
predict("09.b", guess)

# %%
V = measured("broken", broken)
recall("09.b", round(float(effective_rank(V)), 1))

# %% [markdown]
# The needle is thin, but it extends in many directions. The effective rank subtracts the mean and looks at shares: it
# asks along how many directions the sentences differ, never *how much*. Hit@1 asks which sentence is nearest, never how
# near it is: its value is far above that of the untrained vectors, thanks to differences in the third decimal of the
# cosine. So this network has learned, but its loss does not show it. A collapse into a point shows in the mean cosine,
# in the histogram and in the loss. **Look at more than one number.**
#
# Does the collapse do any harm? Store each number of a unit vector in eight bits, as a vector database may do to save
# space. We compare with the same run at a learning rate of 0.01. The package will warn about this run as well: its
# first epochs lead into the same point, but it gets out again.

# %%
def in_eight_bits(V):
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)
    return np.round(127 * unit) / 127

fixed = trained("fixed", learning_rate=0.01)
V_fixed = measured("fixed", fixed)
for name, rows in (("broken", V), ("fixed", V_fixed)):
    before, after = hit_at(rows, labels)[1], hit_at(in_eight_bits(rows), labels)[1]
    print(f"Hit@1 of {name} in 32 bits {before:.3f}, in 8 bits {after:.3f}")

# %% [markdown]
# Rounding costs the broken space 0.05 to 0.06 and the fixed one almost nothing. And a threshold that separates "same"
# from "other" would be hidden in the third decimal, too.
#
# A warning asks you to look, and the histograms of the fixed run show what happened:

# %%
show(
    cosine_ridges(cosines_over_epochs(fixed.snapshots)),
    "The same histograms for the fixed run, from -1 to 1. For some epochs they form a needle, too; then they widen, "
    "and at the end the orange hill (two topics) is around 0 and the blue one (one topic) far to the right.",
)

# %% [markdown]
# ## 3. What is left of a pull
#
# A vector has length 1. Its anchor pulls it along the anchor's own vector (notebook 1, section 6). The part of that
# pull along the vector itself only changes its length, which is reset to 1. Only the remaining part moves the vector.
#
# **Exercise 09.4.** Compute this remaining part, which points along the sphere, for each pull.
#
# *8 minutes, medium. Why it matters: you will measure how much of a pull is left inside the needle.*
#
# hint: The part that goes along v itself only changes its length, which is reset to 1: subtract that part.
# hint: How much of the pull goes along v? Their dot product, row by row: `(pull * v).sum(1)`.
# hint: `pull - (pull * v).sum(1, keepdims=True) * v`
# right: if pull and vector point the same way, nothing is left, so a vector at the same place as its pair does not move
# further: Take two unit vectors at an angle of your choice and print the length of `across`. At which angle is it
# longest?

# %%
def across(v, pull):
    """v (n, d), rows of length 1; pull (n, d) -> the part of each pull at a right angle to its v"""
    return pull - (pull * v).sum(1, keepdims=True) * v  #!

answer("09.4", across)

# %% [markdown]
# Now pull each test sentence towards a random sentence on its own topic, and push it away from a random sentence on
# another topic, both with weight 1. See what is left of pull and push together:

# %%
draw = np.random.default_rng(0)
own = [draw.choice(np.flatnonzero((labels == topic) & (np.arange(len(labels)) != row))) for row, topic in enumerate(labels)]
other = [draw.choice(np.flatnonzero(labels != topic)) for topic in labels]
for name, rows in (("broken", V), ("fixed", V_fixed)):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rest = across(unit, unit[own] - unit[other])
    print(f"{name}: what moves a vector has length {np.linalg.norm(rest, axis=1).mean():.3f}")

# %% [markdown]
# In the needle hardly anything is left: pull and push are nearly the same vector, and nearly the vector itself. At a point
# this loss is almost flat. That alone does not explain a standstill, because we train with Adam, which divides a
# gradient by the usual size of gradients. So look at how far the held-out sentences moved in each epoch:

# %%
for name, method in (("broken", broken), ("fixed", fixed)):
    spaces = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in method.snapshots.vectors]
    moved = [np.linalg.norm(after - before, axis=1).mean() for before, after in zip(spaces, spaces[1:])]
    print(f"{name}:", " ".join(f"{each:.3f}" for each in moved))

# %% [markdown]
# Both runs fall into the point in their first epoch, and both become slow there. The run with the small step gets out
# in its fourth epoch; the run with the large step is still there after eight. We have not measured why. It is well
# known that hard negatives can lead into a point early in training: [Schroff, Kalenichenko and
# Philbin](https://arxiv.org/abs/1503.03832) warn of it in section 3.2, and use *semi-hard* negatives instead, which are
# farther away than the positive.
#
# ## 4. Two cures, and one that does not work
#
# - **the step**: a learning rate of 0.01 instead of 0.3;
# - **the pairs**: all triplets of the batch instead of the hardest ones;
# - **the loss**: InfoNCE ($\tau = 0.05$) instead of the margin, with the hardest pairs and the large step.
#
# We add a second score. MAP@R looks at as many neighbours as a topic has sentences, so it sees more than Hit@1 does.
#
# **Predict 09.c.** Which of these does not help on its own: `"step"`, `"pairs"` or `"loss"`?

# %%
guess = "step"  #!
predict("09.c", guess)

# %%
import pandas as pd

from labkit.course.ablation import kept
from labkit.course.plans import PLANS

table, bad = kept("break-cures"), "broken: triplet, hardest, step 0.3"

def line(name):
    """Means over five seeds, and the lead over the broken run with its 95 % interval."""
    lead = table.lead(name, bad, "map@r")
    low, high = lead.interval()
    means = {measure: table.spread(name, measure).mean for measure in PLANS[table.name].measures}
    between = "" if name == bad else f"{lead.lead:+.3f} ({low:+.3f} to {high:+.3f})"
    return {"run": name, **means, "MAP@R above the broken run": between}

pd.DataFrame(map(line, table.figures)).set_index("run").round(3)

# %%
from labkit.figures import seed_dots

changes = {"step": "a smaller step, 0.01", "pairs": "all pairs", "loss": "another loss: InfoNCE"}
show(
    seed_dots(table, "map@r"),
    "One line for each run; MAP@R increases to the right. Open circles are seeds, diamonds their means; open diamonds "
    "are shown to be behind the best. The broken run and the one with another loss are on the left, the cured runs on "
    "the right.",
)
recall("09.c", max(changes, key=lambda each: table.spread(changes[each], "mean_cosine").mean))

# %% [markdown]
# Each row has five seeds. If the interval excludes 0, other seeds would most likely show the lead, too.
#
# - A smaller step helps most. Using all pairs raises MAP@R, but Hit@1 even falls a little.
# - Another loss alone does **not** help. With one positive and one negative for each anchor, InfoNCE falls into the
#   same point, and its MAP@R is even lower. With all pairs it is among the best. The fault was in the pairs and the
#   step.
#
# **The other collapse.** Look at the effective rank of *all pairs*: about 11, where about 50 were possible. There are
# fourteen topics, and fourteen points span at most thirteen directions around their mean; here even fewer account for
# nearly everything. This is fine for finding topics. For any other question, little room may be left, and no score
# based on topics will tell you. The effective rank will.
#
# ## Try it yourself
#
# 1. Break it in another way: `trained("...", margin=1.0)`, `batch=16`, or `encoder="cnn"`. Which signs come first?
# 2. For each of three seeds, find the largest step at which the broken settings do not collapse. Do the seeds agree?
#
# ## Further reading
#
# - Schroff, Kalenichenko and Philbin, [*FaceNet*](https://arxiv.org/abs/1503.03832), 2015. It trains with triplets, a
#   margin and semi-hard negatives, and warns against the hardest ones.
# - Jing, Vincent, LeCun and Tian, [*Understanding Dimensional Collapse in Contrastive Self-supervised
#   Learning*](https://arxiv.org/abs/2110.09348), 2022. It studies spaces that use only a few of their directions.
# - Papyan, Han and Donoho, [*Prevalence of Neural Collapse*](https://arxiv.org/abs/2008.08186), 2020. It shows why a
#   class ends up as a point.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you unfold ours.*
#
# **1.** A colleague shows you a loss curve that has been flat for hours, and says that training has converged. What do you
# ask to see before you believe it?
#
# <details><summary>An answer</summary>
#
# First ask for the value itself: a triplet loss at its margin, or InfoNCE at the logarithm of its batch size, sees
# hardly any difference between its pairs. Then ask for the mean cosine and the histogram of cosines of held-out
# sentences. A curve says that nothing changes any more, not why.
#
# </details>
#
# **2.** The effective rank of the broken space was larger than that of the space cured by all pairs. Is the effective
# rank useless?
#
# <details><summary>An answer</summary>
#
# No, it answers another question: along how many directions do sentences differ, whatever the size of the differences? It
# sees the collapse of directions, which the mean cosine does not. For the collapse into a point, use the mean cosine.
#
# </details>
#
# **3.** Why do hard negatives and a large step break a run together, when each alone may do no harm?
#
# <details><summary>An answer</summary>
#
# Early in training the hardest negatives are nearer than the positives. If a small step pushes them the wrong way, the
# next batch repairs it. A large step throws all vectors together at once. At that point almost nothing is left of a
# pull, and in our run eight epochs did not separate them again.
#
# </details>

# %%
progress("09")
