# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 11 · From nothing and from something
#
# **How many labels is a pretrained model worth?** Whoever has a task of their own can take a model that has read a
# thousand million pairs of sentences, or begin with random numbers and learn from labels. Both have a price. In this lesson
# you train the cheapest model there is on five shares of the labels, draw its learning curve, and read off where it
# catches up with the model; then you find out where that answer does not hold.
#
# *60 minutes, 40 of them for five exercises. You need notebook 1, and to know what a mean and a standard deviation are.*
#
# In Play, choose scene 9, *Learned by heart*, and drag the number of training sentences. Filled points are sentences that
# it has trained on, rings are new ones. How many sentences does it take until the rings, too, find their topic?

# %%
from labkit import load, playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %% [markdown]
# ## 1. Before the first label
#
# | start | what it knows before the first label | from where |
# | --- | --- | --- |
# | **bag** | a random vector for each word piece; a sentence is their mean | chance |
# | **corpus vectors** | the same, with vectors counted in the training texts | this corpus, without labels |
# | **static vectors** | the same, with vectors that a model gives to each piece *alone* | MiniLM |
# | **MiniLM and a map** | the model all-MiniLM-L6-v2, followed by a linear map | a thousand million pairs |
#
# **Predict 11.a.** Pairs of questions, no labels yet. AUC is the chance that a pair with the same meaning has a larger
# similarity than another pair, so 0.5 is guessing. What is the AUC of the bag, whose vectors are **random**?

# %%
guess = 0.5  #!
predict("11.a", guess)

# %%
import pandas as pd

from labkit.course.ablation import kept
from labkit.course.variants import COURSE
from labkit.evaluation.scores import score

questions = load("questions")

def bag(share=1.0, seed=0, epochs=12):
    """A bag of random vectors, trained on a share of the labelled pairs; the seed also draws which ones."""
    method = COURSE["bag, partly taught"](patience=0, taught=share, epochs=epochs, learning_rate=0.01)
    method.fit(questions, seed=seed)
    return method

def auc(method, split="test"):
    return score(method, questions, split=split).figures["auc"]

ours = kept("start-questions")
free = ("TF-IDF", "bag, no labels", "static vectors, no labels", "MiniLM and a map, no labels")
pd.Series({name: ours.spread(name, "auc").mean for name in free}, name="AUC on test").round(3)

# %%
recall("11.a", round(auc(bag(epochs=0)), 3))

# %% [markdown]
# Random vectors in many dimensions are nearly at right angles to each other. So two means of them are near each other
# exactly as far as the sentences *share pieces*. "From nothing" is not nothing: counting what two texts share was always a
# good idea.
#
# ## 2. Your own curve
#
# Now labels arrive. Of the 3,447 labelled pairs take a sixteenth, an eighth, a quarter, a half, and all. Which pairs are
# drawn is luck, and so are the random vectors, so every point needs several seeds and an interval. With $n$ values of mean
# $\bar x$ and standard deviation $s$ (with $n - 1$ in the denominator), Student's 95 % interval is
#
# $$\bar x \pm t_{0.975,\, n-1} \, \frac{s}{\sqrt n}$$
#
# **Exercise 11.1.** Train for each share and each seed, and return the mean and both ends of the interval for each share.
#
# *10 minutes, medium. What it is for: the curve that answers the question of this lesson.*
#
# hint: One row of values for each share, one column for each seed: `score(train(share, seed))`.
# hint: `values.std(axis=1, ddof=1)` is s for each row. `t.ppf(0.975, n - 1)` is the factor, n the number of seeds.
# hint: `half = t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)`; return mean, mean - half, mean + half.
# right: a point without an interval is an anecdote
# further: Use six seeds instead of three. How much narrower is the interval, and how much of that is the factor t?

# %%
import numpy as np
from scipy.stats import t

def learning_curve(train, score, shares, seeds):
    """train(share, seed) -> a method, score(method) -> a number; -> mean, low, high, each (number of shares,)"""
    values = np.zeros((len(shares), len(seeds)))  #!
    for row, share in enumerate(shares):  #!
        for column, seed in enumerate(seeds):  #!
            values[row, column] = score(train(share, seed))  #!
    n = len(seeds)  #!
    mean = values.mean(axis=1)  #!
    half = t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)  #!
    return mean, mean - half, mean + half  #!

answer("11.1", learning_curve)

# %% [markdown]
# **Predict 11.b.** With how many labelled pairs does the bag of random vectors catch up with MiniLM without **any** label?

# %%
guess = 1000  #!
predict("11.b", guess)

# %% [markdown]
# Fifteen trainings, which take about a minute. Your curve is the thick black one. Behind it are ours: other
# starts, five seeds, and hyperparameters chosen for each share.

# %%
from labkit.course.plans import SHARES
from labkit.explore import show
from labkit.figures import label_curves

shares = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
counts = np.array([round(share * questions.sizes["train"]) for share in shares])
mean, low, high = learning_curve(bag, auc, shares, seeds=range(3))

def points(table, start, size):
    """The points of our curve: how many labels, and the name of what learned from them."""
    named = [(round(share * size), f"{start}, {name}") for name, share in SHARES.items()]
    return [point for point in named if point[1] in table.figures]

starts = ("bag", "static vectors", "MiniLM and a map", "corpus vectors")
figure = label_curves(
    ours, "auc", {start: points(ours, start, questions.sizes["train"]) for start in starts}, {"TF-IDF": "TF-IDF"}
)
figure.add_scatter(
    x=counts, y=mean, error_y={"array": high - mean}, name="yours", line={"color": "black", "width": 4}
)
show(
    figure,
    "AUC on test over the number of labelled pairs, which doubles from step to step. MiniLM with its map is above all "
    "others and rises slowly. Static vectors start in the middle, the bag and corpus vectors near TF-IDF; these three rise "
    "more and more steeply, and with all labels the bag is close to MiniLM.",
)

# %% [markdown]
# Read it from left to right, because that is the axis that costs money.
#
# **Exercise 11.2.** At how many labels does a curve $a$ reach a curve $b$ for the first time? Between two points the line is
# straight on the axis above, where each step doubles. Return the first number of labels if $a$ is never behind, and
# infinity if it always is.
#
# *10 minutes, hard. What it is for: turning two curves into one number that has a price.*
#
# hint: Go through the points until `a[at] >= b[at]`. If that is the first one, return `labels[0]`.
# hint: Otherwise the gap a - b was below 0 at the point before. Of the way between the two points, the share
# `before / (before - after)` is gone when the gap is 0.
# hint: `np.exp2((1 - gone) * np.log2(labels[at - 1]) + gone * np.log2(labels[at]))`, and `np.inf` after the loop.
# right: that is what the other method's head start is worth, in labels
# further: Read it off once for each seed. How far apart are the three numbers, and which of them would you publish?

# %%
def catches_up(labels, a, b):
    """labels (n,), rising; scores a and b (n,) -> the number of labels where a first reaches b"""
    for at in range(len(labels)):  #!
        if a[at] >= b[at]:  #!
            if at == 0:  #!
                return labels[0]  #!
            before, after = a[at - 1] - b[at - 1], a[at] - b[at]  #!
            gone = before / (before - after)  #!
            return np.exp2((1 - gone) * np.log2(labels[at - 1]) + gone * np.log2(labels[at]))  #!
    return np.inf  #!

answer("11.2", catches_up)

# %%
model = ours.spread("MiniLM and a map, no labels", "auc").mean
reached = catches_up(counts, mean, np.full(len(counts), model))
print(f"your bag reaches MiniLM without labels at {reached:,.0f} labelled pairs")
recall("11.b", round(reached) if np.isfinite(reached) else "never")

# %% [markdown]
# So the model is worth about half of all our labels *here*, to somebody who would begin with nothing.
#
# ## 3. How sure is a lead?
#
# With a sixteenth of the labels, the results from different starts are far apart; with all labels they nearly meet. When two methods are close, do
# not compare two intervals. Seed 3 drew *the same* labels for both, so the values come in **pairs**, and what was luck for
# both cancels in their differences.
#
# **Exercise 11.3.** Compute the mean lead of `a` over `b`, its 95 % interval, and a verdict: `"ahead"` if the interval is
# above 0, `"behind"` if it is below, `"open"` otherwise.
#
# *7 minutes, easy. What it is for: every comparison from here on.*
#
# hint: `d = a - b` holds one lead for each seed. The interval is the one of exercise 11.1, for d.
# hint: `half = t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))`
# hint: If `d.mean() - half > 0` the verdict is "ahead"; if `d.mean() + half < 0` it is "behind".
# right: pairs need fewer seeds, because shared luck falls out of the difference
# further: Shuffle the seeds of `b` a hundred times. How much wider does the interval get on average?

# %%
def lead(a, b):
    """scores (n,) of two methods, one for each seed, in the same order -> mean lead, low, high, verdict"""
    d = a - b  #!
    half = t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))  #!
    low, high = d.mean() - half, d.mean() + half  #!
    if low > 0:  #!
        verdict = "ahead"  #!
    elif high < 0:  #!
        verdict = "behind"  #!
    else:  #!
        verdict = "open"  #!
    return d.mean(), low, high, verdict  #!

answer("11.3", lead)

# %%
def compared(table, measure, one, other):
    """A line of a table: one start against another in our tables."""
    a, b = np.broadcast_arrays(*(np.array(table.values(name, measure)) for name in (one, other)))
    return [one, other, *lead(a, b)]

def leads(lines):
    columns = ["start", "against", "lead", "from", "to", "verdict"]
    return pd.DataFrame(lines, columns=columns).set_index("start").round(3)

leads([
    compared(ours, "auc", f"{one}, {share}", f"{other}, {share}")
    for share in ("1/16", "all")
    for one, other in (("static vectors", "bag"), ("MiniLM and a map", "static vectors"))
])

# %% [markdown]
# With few labels the start is nearly everything. With all of them the bag and static vectors tie, and MiniLM is ahead by
# less than a hundredth.
#
# ## 4. Other data, other answers
#
# Questions were made by a program with a vocabulary of its own, which favours whoever learns the words. Three more corpora:
# `topics`, where all classes of the test set were taught; `places`, names and addresses of shops as people typed them; and
# STS-B, sentences that people wrote, with grades.
#
# **Predict 11.c.** Places, all labels: which start has the best Hit@1, `"bag"`, `"static vectors"` or
# `"MiniLM and a map"`?

# %%
guess = "MiniLM and a map"  #!
predict("11.c", guess)

# %%
tables = {  # our table, its score, and how many labelled rows there are
    "start-questions": ("auc", questions.sizes["train"]),
    "start-topics": ("map@r", load("topics").sizes["train"]),
    "start-places": ("hit@1", load("places").sizes["train"]),
    "start-stsb": ("spearman", 5749),
}
rows = {}
for name, (measure, size) in tables.items():
    table = kept(name)
    means = {each: round(table.spread(each, measure).mean, 3) for each in table.figures}
    labels, named = zip(*points(table, "bag", size)[1:])
    model = np.full(len(labels), means["MiniLM and a map, no labels"])
    rows[name.removeprefix("start-")] = {
        "score": measure,
        **{f"{start}, {share}": means[f"{start}, {share}"]
           for start in ("bag", "MiniLM and a map") for share in ("no labels", "all")},
        "static vectors, all": means["static vectors, all"],
        "bag reaches MiniLM at": np.round(catches_up(labels, [means[each] for each in named], model)),
    }
pd.DataFrame(rows).T.rename_axis("corpus")

# %%
three = ("bag", "static vectors", "MiniLM and a map")
recall("11.c", max(three, key=lambda start: kept("start-places").spread(f"{start}, all", "hit@1").mean))

# %% [markdown]
# Four corpora, and no two give the same answer.
#
# - **Topics.** The bag catches up with the untrained model after a few hundred labels and ends far above it.
# - **Places.** The bag is ahead *before the first label*. What tells two shops apart is a street, a misspelt name or a row of
#   digits, and a model has read little about these.
# - **STS-B.** The model without labels beats the bag with all of them. If people write your sentences, look here first.
#
# **Two warnings.** On `topics` all classes of the test set were taught. Take the labels of half of the classes away, and test
# on these:

# %%
unseen = kept("start-unseen")
leads([
    compared(unseen, "map@r, withheld", f"{start}, other classes", f"{start}, no labels") for start in three
])

# %% [markdown]
# Labels of *other* classes help the bag a little, and they **hurt** the model: a map that has drawn seven topics apart has
# folded the space between the others. A test set whose classes were all taught tells you nothing about this.
#
# The second warning is about forgetting. MiniLM's last layer was trained on questions.
#
# **Predict 11.d.** On `topics`, is it then `"ahead"` of MiniLM as it came, `"behind"`, or is it `"open"`?

# %%
guess = "open"  #!
predict("11.d", guess)

# %%
tuned, before = kept("start-forgetting"), "MiniLM and a map, no labels"
lines = [
    compared(tuned, measure, name, before)
    for name in ("MiniLM and a map, 1/4", "MiniLM, its last layer, 1/4")
    for measure in ("auc", "topics map@r")
]
found = leads(lines)
found.insert(0, "score", ["AUC on questions", "MAP@R on topics"] * 2)
found

# %%
recall("11.d", lines[-1][-1])

# %% [markdown]
# At home four hundredths are gained, elsewhere fourteen are lost, and no score at home will tell you. A cheap cure is to go
# part of the way back: between the weights as they were and the weights as they are now, there may be some that still
# know the task and have forgotten less ([Wortsman and others](https://arxiv.org/abs/2109.01903)).
#
# **Exercise 11.4.** Walk back in a straight line and score each stop, at home and elsewhere.
#
# *6 minutes, easy. What it is for: a cure for forgetting that needs no training.*
#
# hint: Share 0 is `learned`, share 1 is `start`.
# hint: `weights = learned + share * (start - learned)`
# hint: Append `(share, home(weights), elsewhere(weights))` for each share, and return the list.
# right: a straight line between two networks: nothing is cheaper to try
# further: It works when the two are near each other. Walk from one trained bag to another one with a different seed, and
# look at the AUC on the way. Why does it sag?

# %%
def way_back(start, learned, shares, home, elsewhere):
    """two arrays of weights; shares of the way; two functions weights -> score; -> a list of (share, home, elsewhere)"""
    rows = []  #!
    for share in shares:  #!
        weights = learned + share * (start - learned)  #!
        rows.append((share, home(weights), elsewhere(weights)))  #!
    return rows  #!

answer("11.4", way_back)

# %% [markdown]
# On your bag: at home on questions (dev), elsewhere on `relatedness`, graded pairs of other sentences.

# %%
import torch

relatedness = load("relatedness")
untrained, taught = bag(epochs=0), bag()
start, learned = (each.network.words.table.weight.detach().numpy().copy() for each in (untrained, taught))

def with_weights(weights):
    untrained.network.words.table.weight.data[:] = torch.tensor(weights)
    return untrained

stops = way_back(
    start, learned, [0, 0.25, 0.5, 0.75, 1],
    lambda weights: auc(with_weights(weights), "dev"),
    lambda weights: score(with_weights(weights), relatedness).figures["spearman"],
)
pd.DataFrame(stops, columns=["way back", "AUC, questions", "Spearman, relatedness"]).set_index("way back").round(3)

# %% [markdown]
# There is no valley on the way. A quarter of the way back costs next to nothing at home, and halfway the bag is better
# elsewhere than it ever was.
#
# ## 5. Is it worth it?
#
# An interval without 0 says that there is a lead. It does not say that the lead is worth its price. Suppose a label costs
# 0.20 euros, and a hundredth of AUC saves you 200 euros a year. Then all 3,447 labels cost 689 euros, and the lead must
# exceed 0.034.
#
# **Exercise 11.5.** Write the rule: `"yes"` if even the lower end of the interval exceeds what is needed, `"no"` if even
# the upper end falls short, `"measure more"` otherwise.
#
# *7 minutes, medium. What it is for: a decision from an interval and a price, without asking whether 0 is inside.*
#
# hint: What do all labels cost, and how large a lead is worth as much?
# hint: `need = labels * price / hundredth / 100`, since a lead of 1 is a hundred hundredths. Then compare both ends.
# hint: "yes" if `low > need`, "no" if `high < need`, else "measure more"
# right: an interval answers yes, no, or that it does not know
# further: Let a millisecond per query cost something, too. From how many queries a day on is a transformer too expensive?

# %%
def worth(low, high, labels, price, hundredth):
    """interval of a lead; number of labels, price of one, worth of a hundredth -> a word"""
    cost = labels * price  #!
    need = cost / hundredth / 100  #!
    if low > need:  #!
        return "yes"  #!
    if high < need:  #!
        return "no"  #!
    return "measure more"  #!

answer("11.5", worth)

# %%
lines = []
for name, (measure, size) in tables.items():
    table = kept(name)
    free = [each for each in table.figures if each.endswith("no labels") or each in ("TF-IDF", "SIF")]
    best = max(free, key=lambda each: table.spread(each, measure).mean)
    for start_of in three:
        by, low, high, _ = compared(table, measure, f"{start_of}, all", best)[2:]
        lines.append([name.removeprefix("start-"), start_of, best, by, worth(low, high, size, 0.2, 200)])
columns = ["corpus", "start, all labels", "best without labels", "lead", "worth it?"]
pd.DataFrame(lines, columns=columns).set_index(["corpus", "start, all labels"]).round(3)

# %% [markdown]
# One price and one rule, and the corpora disagree. The row to beat is always the best that is free: measure it on your own
# sentences before you pay for the first label.
#
# ## Further reading
#
# - Reimers and Gurevych, [*Sentence-BERT*](https://arxiv.org/abs/1908.10084), 2019. Where pretrained sentence encoders come
#   from.
# - Tulkens and van Dongen, [*Model2Vec*](https://github.com/MinishLab/model2vec), 2024. Static vectors, distilled.
# - Kumar and others, [*Fine-Tuning can Distort Pretrained Features*](https://arxiv.org/abs/2202.10054), 2022. Why a map alone
#   can be ahead of tuning everything.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you unfold ours.*
#
# **1.** Somebody tunes a bag on dev and takes MiniLM as it comes. The bag is ahead by a little. What is missing?
#
# <details><summary>An answer</summary>
#
# MiniLM with labels: a map after it costs seconds, and deserves as many trials on dev as the bag had. As it stands, the
# comparison is of labels and trials with none.
#
# </details>
#
# **2.** Two people read the same curves. One says "with all labels the starts are level, so the start does not matter", the
# other "with few labels they are far apart, so labels do not matter". What do both leave out?
#
# <details><summary>An answer</summary>
#
# How many labels they have. A start is worth a number of labels. Far beyond that number the start matters little, and far
# below it little else does.
#
# </details>
#
# **3.** You have 200 labelled sentences. What would you do, and what would you not believe afterwards?
#
# <details><summary>An answer</summary>
#
# Take the strongest start that is free, and change few hyperparameters: 100 sentences for dev cannot tell hundredths apart.
# Our own curves flatter their left ends, because even a sixteenth of the labels was tuned on a whole dev set.
#
# </details>

# %%
progress("11")
