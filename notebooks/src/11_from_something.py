# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 11 · From nothing and from something
#
# **How many labels make up for a start from nothing?** You can begin with a model that has read a billion pairs of sentences.
# Or you can begin with random numbers and learn everything from labels. Here you train a very cheap model on five shares of
# the labels and draw its learning curve. You read off where it catches up with the large model, and then find out whether
# you could have known that in advance, and whether it holds for other data.
#
# *60 minutes, 37 of them for five exercises. You need notebook 1, and should know what a mean and a standard deviation
# are.*
#
# In Play, choose scene 9, *Learned by heart*, and drag the number of training sentences. Filled points are sentences
# that the model was trained on, and rings are new ones. How many sentences does it take until the rings find their
# topic, too?

# %%
from labkit import load, playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %% [markdown]
# ## 1. Before the first label
#
# We compare three starts. All of them produce one vector for each sentence.
#
# | start | what it knows before the first label | source |
# | --- | --- | --- |
# | **bag** | a random vector for each word piece; a sentence is their mean | chance |
# | **static vectors** | the same mean, but with vectors that a model gives to each piece *alone* | MiniLM |
# | **MiniLM and a map** | the model all-MiniLM-L6-v2, followed by a linear map | a billion pairs |
#
# The task is to tell pairs of questions that mean the same thing from pairs that do not. AUC is the probability that a
# pair with the same meaning has a larger similarity than a pair with different meanings, so 0.5 is guessing.
#
# **Predict 11.a.** No label has been used yet. What is the AUC of the bag, whose vectors are **random**?

# %%
guess = 0.5  #!
predict("11.a", guess)

# %%
from labkit.course.variants import COURSE
from labkit.evaluation.scores import score

questions = load("questions")

def bag(share=1.0, seed=0, epochs=12):
    """A bag of random vectors, trained on a share of the labelled pairs; the seed also draws which ones."""
    method = COURSE["bag, partly taught"](patience=0, taught=share, epochs=epochs, learning_rate=0.01)
    method.fit(questions, seed=seed)
    return method

def auc(method):
    return score(method, questions, split="test").figures["auc"]

recall("11.a", round(auc(bag(epochs=0)), 3))

# %%
import pandas as pd

from labkit.course.ablation import kept

ours = kept("start-questions")
free = ("TF-IDF", "bag, no labels", "static vectors, no labels", "MiniLM and a map, no labels")
pd.Series({name: ours.spread(name, "auc").mean for name in free}, name="AUC on test").round(3).to_frame()

# %% [markdown]
# Random vectors in many dimensions are nearly at right angles to each other. So the more pieces two questions *share*,
# the closer their means are. Such a start is not quite nothing: counting shared pieces already tells pairs apart.
#
# ## 2. Your own curve
#
# Now labels arrive. Take a sixteenth, an eighth, a quarter, a half, and all of the 3,447 labelled pairs. Chance decides
# which pairs are drawn, and it also draws the random vectors. That is why you train with several seeds.
#
# **Exercise 11.1.** Train once for each share and each seed, and collect the scores in a table.
#
# *6 minutes, easy. Why it matters: this curve answers the question of the lesson.*
#
# hint: One row for each share, one column for each seed. Begin with `np.zeros((len(shares), len(seeds)))`.
# hint: `enumerate(shares)` gives each row number with its share; do the same for the seeds inside.
# hint: `values[row, column] = score(train(share, seed))`
# right: with every seed in the table, you can ask how much of a curve is luck
# further: Draw one line for each seed instead of their mean. Do the lines cross? Which of them would you have published?

# %%
import numpy as np

def learning_curve(train, score, shares, seeds):
    """train(share, seed) -> a method, score(method) -> a number; -> scores (number of shares, number of seeds)"""
    values = np.zeros((len(shares), len(seeds)))  #!
    for row, share in enumerate(shares):  #!
        for column, seed in enumerate(seeds):  #!
            values[row, column] = score(train(share, seed))  #!
    return values  #!

answer("11.1", learning_curve)

# %% [markdown]
# Let the scores of $n$ seeds have the mean $\bar x$ and the standard deviation $s$ (with $n - 1$ in its denominator). Student's
# interval contains the mean over all possible seeds in 95 % of such experiments:
#
# $$\bar x \pm t_{0.975,\, n-1} \, \frac{s}{\sqrt n}$$
#
# With three seeds the factor $t_{0.975,\,2}$ is 4.3; with many it falls to 1.96.
#
# **Exercise 11.2.** Compute the mean of each row of such a table, and both ends of its interval.
#
# *6 minutes, easy. Why it matters: it shows how far chance may have moved a number that you read off a curve.*
#
# hint: `values.mean(axis=1)` is the mean of each row, `values.std(axis=1, ddof=1)` its standard deviation s.
# hint: n is the number of columns, `values.shape[1]`. The factor is `t.ppf(0.975, n - 1)`.
# hint: `half = t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)`; return mean, mean - half, mean + half.
# right: a point without an interval is an anecdote
# further: How much narrower does an interval get with six seeds instead of three? How much of this is due to t?

# %%
from scipy.stats import t

def interval(values):
    """values (rows, n) -> mean, low, high, each (rows,)"""
    n = values.shape[1]  #!
    mean = values.mean(axis=1)  #!
    half = t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)  #!
    return mean, mean - half, mean + half  #!

answer("11.2", interval)

# %% [markdown]
# **Predict 11.b.** How many labelled pairs does the bag of random vectors need to catch up with MiniLM, which gets **none**?

# %%
guess = 1000  #!
predict("11.b", guess)

# %% [markdown]
# Fifteen training runs take about half a minute. Your curve is the thick black one. Behind it are ours: three starts, five
# seeds, and hyperparameters chosen on dev for each share.

# %%
from labkit.course.plans import SHARES
from labkit.explore import show
from labkit.figures import label_curves

shares = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
counts = np.array([round(share * questions.sizes["train"]) for share in shares])
values = learning_curve(bag, auc, shares, seeds=range(3))
mean, low, high = interval(values)

def points(table, start, size):
    """The points of our curve: how many labels, and the name of what learned from them."""
    named = [(round(share * size), f"{start}, {name}") for name, share in SHARES.items()]
    return [point for point in named if point[1] in table.figures]

starts = ("bag", "static vectors", "MiniLM and a map")
curves = {start: points(ours, start, questions.sizes["train"]) for start in starts}
figure = label_curves(ours, "auc", curves, {"TF-IDF": "TF-IDF"})
thick = {"color": "black", "width": 4}
figure.add_scatter(x=counts, y=mean, error_y={"array": high - mean}, name="yours", line=thick)
show(
    figure,
    "AUC on test against the number of labelled pairs. MiniLM with its map is on top and rises slowly. Static vectors "
    "start in the middle, the bag near TF-IDF; both rise steeply and nearly meet MiniLM on the right. Your thick black "
    "curve is near that of the bag.",
)

# %% [markdown]
# The horizontal axis is the one that costs money. Each step to the right doubles the labels.
#
# ## 3. Where two curves meet
#
# **Exercise 11.3.** At how many labels does a curve $a$ reach a curve $b$ for the first time? Between two points,
# assume a straight line on the axis above, where each step doubles. Return the first number of labels if $a$ is never
# behind, and infinity if it always is.
#
# *10 minutes, hard. Why it matters: two curves become one number, and that comes at a price.*
#
# hint: Go through the points until `a[at] >= b[at]`. If that is the first point, return `labels[0]`.
# hint: Otherwise the gap a - b was below 0 at the point before. The gap reaches 0 at the fraction `gone = before /
# (before - after)` of the way between the two points.
# hint: `np.exp2((1 - gone) * np.log2(labels[at - 1]) + gone * np.log2(labels[at]))`, and `np.inf` after the loop.
# right: this is how many labels the other method's head start is worth
# further: Where does your bag reach our *static vectors* when both have the same number of labels? Interpolate our
# curve at your counts.

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

answer("11.3", catches_up)

# %%
model = ours.spread("MiniLM and a map, no labels", "auc").mean
level = np.full(len(counts), model)
reached = catches_up(counts, mean, level)
print(f"your bag reaches MiniLM without labels at {reached:,.0f} labelled pairs")
each = np.array([[catches_up(counts, values[:, seed], level) for seed in range(3)]])
print(f"seed by seed: {', '.join(f'{count:,.0f}' for count in each[0])}")
if np.isfinite(each).all():
    middle, fewest, most = (float(end[0]) for end in interval(each))
    print(f"interval {fewest:,.0f} to {most:,.0f}")
recall("11.b", round(reached) if np.isfinite(reached) else "never")

# %% [markdown]
# So on this corpus the head start of the model is worth about half of our labels, give or take a few hundred.
#
# ## 4. Could you have known?
#
# You read that number off after you had paid for all labels. Suppose you stop at a quarter of them, with three points on
# the curve, and ask how many you need in total. A common rule of thumb says that each doubling of the labels raises the
# score by the same amount. That is a straight line on the axis above,
#
# $$\text{score} \approx c + g \, \log_2(\text{labels})$$
#
# where $g$ is the gain of a doubling. Fit the line to the points you have, and continue it until it reaches the target.
#
# **Exercise 11.4.** Forecast at how many labels the line reaches the target. Return infinity if it does not rise.
#
# *7 minutes, medium. Why it matters: you have to decide on a purchase before you have the labels.*
#
# hint: `np.polyfit(x, y, 1)` fits a line by least squares and returns the slope first, then the intercept.
# hint: `g, c = np.polyfit(np.log2(labels), scores, 1)`. Solve target = c + g log2(labels) for log2(labels).
# hint: `return np.exp2((target - c) / g)` if g is above 0, else `np.inf`.
# right: two numbers make a line, and the line makes a claim about labels that nobody has bought yet
# further: Make a separate forecast for each seed. How far apart are the answers, and what does that tell a buyer?

# %%
def forecast(labels, scores, target):
    """labels (n,) and scores (n,) so far -> the number of labels where their straight line reaches the target"""
    g, c = np.polyfit(np.log2(labels), scores, 1)  #!
    if g <= 0:  #!
        return np.inf  #!
    return np.exp2((target - c) / g)  #!

answer("11.4", forecast)

# %% [markdown]
# **Predict 11.c.** From your first three points: does the line ask for `"too few"` labels, for `"too many"`, or is it
# `"about right"`, within a tenth?

# %%
guess = "about right"  #!
predict("11.c", guess)

# %%
def judged(said):
    return "about right" if abs(said / reached - 1) < 0.1 else "too many" if said > reached else "too few"

lines = []
for count in (2, 3):
    said = forecast(counts[:count], mean[:count], model)
    lines.append([f"{counts[count - 1]:,}", round(said), judged(said)])
pd.DataFrame(lines, columns=["labels so far", "forecast", "verdict"]).set_index("labels so far")

# %%
recall("11.c", lines[1][-1])

# %%
gains = pd.Series(np.diff(mean), index=[f"{a:,} to {b:,}" for a, b in zip(counts, counts[1:])], name="gain of a doubling")
gains.round(3).to_frame()

# %% [markdown]
# The first doubling brings about half as much as the next ones. A likely reason, which we have not tested, is that with
# few labels most words of the test questions occur in no labelled pair. A line through this slow beginning rises too
# slowly, so both forecasts ask for too many labels. The second forecast, from three points, is closer, but still 40 %
# too high. Buy fewer labels than such a line asks for, then draw the curve and forecast again.
#
# ## 5. Other data, other answers
#
# A program made these questions, with a vocabulary of its own. That favours a method that learns its words. Here are
# two more corpora: `places` contains names and addresses of shops as people type them, and STS-B contains pairs of
# sentences written by people, with a grade for the similarity of each pair.
#
# **Predict 11.d.** On `places` with all labels, which start has the best Hit@1: `"bag"`, `"static vectors"` or
# `"MiniLM and a map"`?

# %%
guess = "MiniLM and a map"  #!
predict("11.d", guess)

# %%
tables = {  # our table, its score, and how many labelled rows there are
    "start-questions": ("auc", questions.sizes["train"]),
    "start-places": ("hit@1", load("places").sizes["train"]),
    "start-stsb": ("spearman", 5749),
}
rows = {}
for name, (measure, size) in tables.items():
    found = {each: kept(name).spread(each, measure).mean for each in kept(name).figures}
    nothing, something = found["bag, no labels"], found["MiniLM and a map, no labels"]
    labels, named = zip(*points(kept(name), "bag", size)[1:])
    needs = catches_up(labels, [found[each] for each in named], [something] * len(labels))
    rows[name.removeprefix("start-")] = {
        "score": measure,
        **{each: round(found[each], 3) for each in found if each.endswith(("no labels", "all"))},
        "labels the bag needs": "none" if nothing >= something else f"{needs:,.0f}",
    }
pd.DataFrame(rows)

# %%
recall("11.d", max(starts, key=lambda start: kept("start-places").spread(f"{start}, all", "hit@1").mean))

# %% [markdown]
# Three corpora give three answers to the question of this lesson.
#
# - **Questions.** The bag needs about 2,000 labels by our curve. Your curve said about 1,700, and its interval contains
#   2,000.
# - **Places.** It needs none, because the bag is ahead *before the first label*. Two shops differ by a street, a
#   misspelt name or a row of digits, and a model has read little about these.
# - **STS-B.** It needs more labels than there are (`inf`): the model without labels beats the bag with all 5,749. If
#   people write your sentences, expect this answer.
#
# ## 6. Is it worth it?
#
# An interval that excludes 0 shows a lead. It does not show that the lead is worth its price. Suppose a label costs
# 0.20 euros, and a hundredth of AUC saves you 200 euros a year. Then all 3,447 labels cost 689 euros, and the lead must
# exceed 0.034.
#
# **Exercise 11.5.** Write the rule: `"yes"` if even the lower end of the interval exceeds what is needed, `"no"` if even
# the upper end falls short, `"measure more"` otherwise.
#
# *8 minutes, medium. Why it matters: an interval and a price lead to a decision; whether 0 is inside does not.*
#
# hint: What do all labels cost, and how large a lead is worth as much?
# hint: `need = labels * price / hundredth / 100`, since a lead of 1 is a hundred hundredths. Then compare both ends.
# hint: "yes" if `low > need`, "no" if `high < need`, else "measure more"
# right: an interval can answer yes, no, or "I do not know yet"
# further: Let a millisecond per query cost something, too. Above how many queries a day is a transformer too expensive?

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

# %% [markdown]
# The alternative to every purchase is free: MiniLM without labels. Compare it with your bag and with our MiniLM plus
# map:

# %%
mapped = np.array([ours.values(name, "auc") for _, name in points(ours, "MiniLM and a map", questions.sizes["train"])[1:]])
lines = {}
for name, leads in (("your bag", values - model), ("MiniLM and a map", mapped - model)):
    ends = zip(*interval(leads)[1:], counts)
    lines[f"{name}: worth it?"] = [worth(*low_high, count, 0.2, 200) for *low_high, count in ends]
pd.DataFrame(lines, index=pd.Index([f"{count:,}" for count in counts], name="labels"))

# %% [markdown]
# If you start from nothing, only the whole purchase is sure to pay off; with half of it, you would have to measure
# more. If you start from the model, even the first 215 labels pay off: the lead is small, but so is the price. So the
# start also decides whether a *small* set of labels is worth anything. First measure the free options on your own
# sentences.
#
# ## Further reading
#
# - Reimers and Gurevych, [*Sentence-BERT*](https://arxiv.org/abs/1908.10084), 2019. It explains how pretrained sentence
#   encoders are made.
# - Tulkens and van Dongen, [*Model2Vec*](https://github.com/MinishLab/model2vec), 2024. It distils sentence encoders
#   into static word vectors.
# - Kumar et al., [*Fine-Tuning can Distort Pretrained Features*](https://arxiv.org/abs/2202.10054), 2022. It shows why
#   a map alone can be better than tuning the whole model.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** Somebody trains a bag, tunes it on dev, and uses MiniLM unchanged. The bag is slightly ahead. What is missing?
#
# <details><summary>An answer</summary>
#
# MiniLM with labels is missing. Training a map on top takes seconds, and the map deserves as many trials on dev as the
# bag had. So far, the bag had labels and trials, and MiniLM had neither.
#
# </details>
#
# **2.** Two people read the same curves. One says "with all labels the starts are level, so the start does not matter", the
# other "with few labels they are far apart, so labels do not matter". What do both leave out?
#
# <details><summary>An answer</summary>
#
# Both leave out how many labels they have. A start is worth a certain number of labels. Far above that number the start
# matters little; far below it, hardly anything else matters.
#
# </details>
#
# **3.** You have 200 labelled sentences. What would you do, and what would you not believe afterwards?
#
# <details><summary>An answer</summary>
#
# Take the strongest start that is free, and change few hyperparameters: with 100 dev sentences, you cannot measure
# differences of a hundredth. Our own curves are too high at their left ends, because even a sixteenth of the labels was
# tuned on a whole dev set.
#
# </details>

# %%
progress("11")
