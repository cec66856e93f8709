# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 3 · Thematic triplets
#
# **What can a network learn from text that nobody has labelled?** People who write articles sort their sentences by
# theme: they divide the article into *sections*. In this lesson you turn sections into triplets, train a network with
# attention on them, and let it find the sections of articles that it has never seen.
#
# *60 minutes, 42 of them for five exercises. You need notebook 1, and should know what a softmax is.*
#
# Move the slider. Each position shows an article that a trained network has not seen, with a column for each sentence.
# The upper row shows the section of the sentence. The two lower rows show clusters that two algorithms, k-means and
# Iclust, found in the network's vectors without knowing the sections. A frame marks a sentence in the wrong cluster.

# %%
from labkit import load, load_run
from labkit.course import answer, predict, progress, recall
from labkit.explore import Slider, explore
from labkit.figures import section_ribbon
from labkit.shipped import DEMONSTRATIONS
from labkit.thematic.sections import sectioned, themes

articles = load("articles")
network = load_run(DEMONSTRATIONS["thematic-articles"].folder)
unseen = [sectioned(article) for article in articles.part("test").articles]

def clustered(article):
    shown = unseen[article]
    return section_ribbon(themes(shown, network.encode(list(shown.sentences))), height=220)

explore(
    clustered,
    "Each column is a sentence of the article, in reading order, and dotted lines separate the sections. The upper row "
    "shows the number of the section, the two rows below the number of the cluster from k-means and from Iclust. Most "
    "sentences are in the cluster of their section; frames mark those that are not.",
    article=Slider("article", 0, 15, 1, 0),
)

# %% [markdown]
# The clusters match most of the sections. The network learned from 128 other articles, all invented by a program.
# Nobody told it what any section is about.
#
# ## 1. From an article to triplets
#
# A **triplet** has three sentences: an *anchor*, a *positive* that should be near it, and a *negative* that should be
# farther away. The paper selects them from an article by these rules:
#
# - Only the first sentence of each paragraph is used, and only if it has 5 to 50 words.
# - The first section, "Background" and lists such as "References" are left out. The first two touch on every topic.
# - Anchor and positive come from the same section, at most three paragraphs apart.
# - The negative comes from the previous or the next section.
#
# `eligible(article)` applies the first two rules. It returns a list of sections. Each section is a list of pairs: the
# number of a paragraph, and its first sentence.

# %%
from labkit.corpora.article_rules import eligible


def sections_of(article):
    return [list(sentences) for _, sentences in eligible(article)]

article = articles.part("train").articles[0]
print(article.title)
for section in sections_of(article)[:3]:
    print([(number, f"{sentence[:40]} ...") for number, sentence in section])

# %% [markdown]
# **Exercise 03.1.** Apply the other two rules, and collect every triplet that they allow. Either sentence of a pair may
# be the anchor, so each pair counts twice.
#
# *10 minutes, medium. Why it matters: your network will learn from these triplets, and from nothing else.*
#
# hint: Nest four loops: over the sections, the anchors, the positives and the negatives.
# hint: The neighbours of section number `place` are `sections[max(0, place - 1) : place] + sections[place + 1 : place +
# 2]`; both slices may be empty. Their sentences are the negatives.
# hint: A pair is allowed if `one != two and abs(one - two) <= apart`, where one and two are the numbers of the
# paragraphs.
# right: these labels cost nothing: they come from the way in which the author divided the article
# further: Let the negatives come from all other sections of the article. How many triplets do you get then?

# %%
def triplets_of(sections, apart=3):
    """sections: for each a list of (paragraph number, sentence) -> a list of (anchor, positive, negative)"""
    found = []  #!
    for place, section in enumerate(sections):  #!
        beside = sections[max(0, place - 1) : place] + sections[place + 1 : place + 2]  #!
        negatives = [sentence for other in beside for _, sentence in other]  #!
        for one, anchor in section:  #!
            for two, positive in section:  #!
                if one != two and abs(one - two) <= apart:  #!
                    found += [(anchor, positive, negative) for negative in negatives]  #!
    return found  #!

answer("03.1", triplets_of)

# %%
def collected(split):
    return [each for article in articles.part(split).articles for each in triplets_of(sections_of(article))]

triplets = {split: collected(split) for split in ("train", "test")}
print({split: f"{len(rows)} triplets" for split, rows in triplets.items()})
for name, sentence in zip(("anchor", "positive", "negative"), triplets["train"][0]):
    print(f"{name:9}{sentence}")

# %% [markdown]
# Training and test triplets come from different *articles*. If they came from the same ones, the network could learn
# the articles by heart and do well on the test.
#
# **Predict 03.a.** What share of all *sections* is left after the first two rules? Write a number from 0 to 1.

# %%
guess = 0.6  #!
predict("03.a", guess)

# %%
import pandas as pd
from IPython.display import display

from labkit.thematic.from_dumps import triplets_and_funnel

_, funnel = triplets_and_funnel(articles)
header, *rows = funnel.rows()
display(pd.DataFrame(rows, columns=header).set_index(""))
recall("03.a", funnel.left("sections") / funnel.read("sections"))

# %% [markdown]
# The package draws only one negative from each side for each pair, so this table shows fewer triplets than you have.
#
# These labels are *weak*: sometimes two sentences from the same section do not belong together.
#
# ## 2. A loss that gives up
#
# Let $d^+$ be the distance from the anchor to the positive, and $d^-$ the distance to the negative. The paper turns
# both into shares. The share of $d^+$ should be 0, and the share of $d^-$ should be 1:
#
# $$p(d^+), p(d^-) = \mathrm{softmax}(d^+, d^-), \qquad \text{loss} = |p(d^+)| + |1 - p(d^-)|$$
#
# As the distance, we use $d = \text{scale} \cdot (1 - \cos)$.
#
# **Exercise 03.2.** Compute the loss from the vectors of many triplets.
#
# *8 minutes, medium. Why it matters: your training minimises this number.*
#
# hint: `torch.nn.functional.cosine_similarity(a, p)` gives one cosine for each row.
# hint: `near = scale * (1 - F.cosine_similarity(a, p))`, and `far` in the same way with n.
# hint: `shares = torch.stack([near, far]).softmax(0)`; p(d⁺) is `shares[0]`, p(d⁻) is `shares[1]`.
# right: the two shares add up to 1, so both terms are equal and the loss is 2 σ(d⁺ - d⁻), where σ is the sigmoid
# further: Show by hand that the loss is 2 σ(d⁺ - d⁻): divide numerator and denominator of the softmax by $e^{d^-}$.

# %%
import torch
import torch.nn.functional as F


def ratio_loss(a, p, n, scale):
    """vectors of anchors, positives and negatives, (m, d) each -> the loss of each triplet, (m,)"""
    near = scale * (1 - F.cosine_similarity(a, p))  #!
    far = scale * (1 - F.cosine_similarity(a, n))  #!
    shares = torch.stack([near, far]).softmax(0)  #!
    return shares[0].abs() + (1 - shares[1]).abs()  #!

answer("03.2", ratio_loss)

# %% [markdown]
# How hard does this loss pull on a triplet? As in notebook 1, its slope is the weight of the triplet. Compare it with
# two other losses: the **hinge** $[1 + d^+ - d^-]_+$, and **softplus** $\log(1 + e^{d^+ - d^-})$, which is a hinge with
# a rounded corner.

# %%
from labkit.explore import show
from labkit.figures import triplet_losses

show(
    triplet_losses(),
    "On the left three losses, on the right their slopes, against d⁺ - d⁻; to the right of 0, a triplet is in the "
    "wrong order. The ratio loss is a step, so its slope is a hill at 0 and nearly 0 elsewhere. The other two slopes "
    "rise to 1 and stay there.",
)

# %% [markdown]
# Softplus and hinge pull hardest on the triplets that are most wrong. The ratio loss pulls hardest on a triplet that is
# undecided, and gives up at both ends. With weak labels this is an advantage, because a hopeless triplet may simply
# have a wrong label. But it is also a danger: if the distances are large, *every* triplet is at one of the ends.
#
# ## 3. A mean that chooses its words
#
# A sentence has word vectors $h_1, h_2, \dots$ A plain mean gives each word the same weight. **Attention** gives each
# word a weight of its own, and learns how to choose it:
#
# $$a = \mathrm{softmax}_t\big(u \cdot \tanh(W h_t + b)\big), \qquad v = \sum_t a_t h_t$$
#
# The parameters of the network below are the word vectors, $W$, $b$ and $u$. Sentences arrive as a table of word
# numbers, in which shorter sentences are padded with 0. This *padding* must get no weight.

# %%
from torch import nn

from labkit.training.reader import reader_and_vectors

reader, start = reader_and_vectors(articles, dimension=64)  # word numbers, and word vectors from counts of neighbours

def new_network(seed):
    torch.manual_seed(seed)
    return nn.ModuleDict(
        {
            "words": nn.Embedding.from_pretrained(torch.tensor(start.matrix), freeze=False),
            "hidden": nn.Linear(64, 64),  # W and b
            "score": nn.Linear(64, 1, bias=False),  # u
        }
    )

print(reader.batch([reader.numbers("A waterfall is near."), reader.numbers("No boat can pass.")])[0])

# %% [markdown]
# **Exercise 03.3.** Write the encoder.
#
# *8 minutes, medium. Why it matters: this is the whole network that you train below.*
#
# hint: `h = net["words"](numbers)` is (n, t, d). `net["score"](torch.tanh(net["hidden"](h)))` is (n, t, 1).
# hint: Padding needs a score of -∞ before the softmax: `scores.masked_fill(numbers == 0, -torch.inf)`.
# hint: `weights = scores.softmax(1)` is (n, t), and the sum is `(weights[:, :, None] * h).sum(1)`.
# right: padding has no weight, so the vector of a sentence does not depend on the other sentences in the table
# further: Replace -∞ with 0 and encode a short sentence alone, then next to a long one. How far apart are the two
# vectors?

# %%
def attend(net, numbers):
    """numbers (n, t), 0 is padding -> sentence vectors (n, d)"""
    h = net["words"](numbers)  # (n, t, d)  #!
    scores = net["score"](torch.tanh(net["hidden"](h)))[:, :, 0]  # (n, t)  #!
    scores = scores.masked_fill(numbers == 0, -torch.inf)  #!
    weights = scores.softmax(1)  #!
    return (weights[:, :, None] * h).sum(1)  #!

answer("03.3", attend)

# %% [markdown]
# Now train it for two epochs on 8,000 of your triplets, with 64 in each step.

# %%
import numpy as np

from labkit.progress import in_notebook

torch.set_num_threads(1)  # with matrices as small as these, more threads only wait for each other
sentences = sorted({sentence for rows in triplets.values() for triplet in rows for sentence in triplet})
numbers_of = {sentence: reader.numbers(sentence) for sentence in sentences}

def encoded(net, texts):
    return attend(net, reader.batch([numbers_of[text] for text in texts])[0])

def trained(scale=8.0, seed=0, epochs=2):
    net, random = new_network(seed), np.random.default_rng(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    chosen = random.permutation(len(triplets["train"]))[:8000]
    with in_notebook(f"scale {scale:g}") as shown:
        for epoch in range(epochs):
            for rows in np.array_split(random.permutation(chosen), 125):
                a, p, n = (encoded(net, column) for column in zip(*(triplets["train"][row] for row in rows)))
                loss = ratio_loss(a, p, n, scale).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            shown(epoch + 1, epochs, f"epoch {epoch + 1} of {epochs}")
    with torch.no_grad():
        return dict(zip(sentences, encoded(net, sentences).numpy()))

vectors = {"your network": trained(), "yours, scale 200": trained(scale=200.0)}

# %%
from labkit import METHODS

def accuracy(of):
    """The share of test triplets whose positive is nearer than the negative."""
    a, p, n = (torch.tensor(np.array([of[text] for text in column])) for column in zip(*triplets["test"]))
    return float((F.cosine_similarity(a, p) > F.cosine_similarity(a, n)).double().mean())

for name in ("mean-vectors", "sif"):
    vectors[name] = dict(zip(sentences, METHODS[name](dimension=64).fit(articles, seed=0).encode(sentences)))
for name, of in vectors.items():
    print(f"{name:16} {accuracy(of):.3f}")

# %% [markdown]
# `mean-vectors` is the plain mean of the word vectors. `sif` gives rare words more weight and removes the direction
# that all sentences share. Neither learns anything from sections, and `sif` is the baseline to beat. Your network beats
# it. With a scale of 200 the loss gives up on triplets that it could have learned from, and the network does worse.
#
# Which words does such a network choose? Here are the sentences of one test article, as the network from the first
# picture reads them. A bar shows the *share* of a word in the sentence vector: its attention times the length of its
# vector.

# %%
from labkit.figures import attention_bars

explore(
    lambda sentence: attention_bars(network.attend(unseen[0].sentences[sentence])),
    "The words of the sentence in order. Each bar is the share of the word in the sentence vector, each orange diamond its "
    "attention. The dotted line is an even share. Words such as 'shore' have more than that, words such as 'the' have less.",
    sentence=Slider("sentence", 0, 25, 1, 0),
)

# %% [markdown]
# Be careful with such pictures. They show which words a vector is made of, not *why* it is near another vector. Lesson
# 12 tests such explanations.
#
# ## 4. Finding the sections again
#
# Now sort the sentences of each test article into as many clusters as it has sections. The paper prefers **Iclust** to
# k-means. Iclust needs only the similarities $S_{ij}$ of the sentences. It looks for the partition with the largest
#
# $$\langle s \rangle = \frac{1}{n} \sum_C \frac{S_C}{|C|}, \qquad S_C = \sum_{i, j \in C} S_{ij}$$
#
# Here $n$ is the number of sentences, and $|C|$ is the number of sentences in cluster $C$.
#
# **Exercise 03.4.** Compute $\langle s \rangle$. The sum includes the similarity of each sentence to itself.
#
# *6 minutes, easy. Why it matters: in the next exercise you make this number as large as possible.*
#
# hint: `inside = labels == cluster` marks the sentences of a cluster; `np.unique(labels)` lists the clusters.
# hint: `S[np.ix_(inside, inside)].sum()` is the sum over all pairs in the cluster. Divide it by the size of the
# cluster.
# hint: Add up over the clusters, and divide by `len(labels)` at the end.
# right: it needs only similarities, so you can cluster without vectors and without centres
# further: Give every sentence a cluster of its own. What is ⟨s⟩ then? Why can you not use ⟨s⟩ to choose the number of
# clusters?

# %%
def objective(S, labels):
    """S (n, n), labels (n,) -> <s>"""
    total = 0.0  #!
    for cluster in np.unique(labels):  #!
        inside = labels == cluster  #!
        total += S[np.ix_(inside, inside)].sum() / inside.sum()  #!
    return total / len(labels)  #!

answer("03.4", objective)

# %% [markdown]
# To find a good partition, move one sentence at a time: take each sentence in turn, and put it into the cluster where
# $\langle s \rangle$ is largest. Repeat until a whole pass moves nothing.
#
# **Exercise 03.5.** Write this search. Move a sentence only if $\langle s \rangle$ grows by more than $10^{-9}$, so
# that rounding cannot move it back and forth forever.
#
# *10 minutes, hard. Why it matters: you need a complete clustering algorithm to judge your network.*
#
# hint: Work on a copy: `labels = labels.copy()`. Put a `for` loop over the rows into a loop `while moved`.
# hint: For each cluster, set `labels[row] = cluster` and compute the objective. Remember the best cluster, and set
# `labels[row]` to it at the end of the turn.
# hint: Start each turn with `best, value = labels[row], objective(S, labels)`, and replace both if a cluster gives more
# than `value + 1e-9`.
# right: no single move improves the result; a better partition may still exist, so start several times
# further: Compute the change of ⟨s⟩ from two sums over rows of S, instead of a new objective for each move. How much
# faster is it?

# %%
def regroup(S, labels):
    """S (n, n), labels (n,) to start from -> labels (n,) that no single move makes better"""
    labels, clusters, moved = labels.copy(), np.unique(labels), True  #!
    while moved:  #!
        moved = False  #!
        for row in range(len(S)):  #!
            best, value = labels[row], objective(S, labels)  #!
            for cluster in clusters:  #!
                tried = labels.copy()  #!
                tried[row] = cluster  #!
                if objective(S, tried) > value + 1e-9:  #!
                    best, value, moved = cluster, objective(S, tried), True  #!
            labels[row] = best  #!
    return labels  #!

answer("03.5", regroup)

# %% [markdown]
# **k-means** looks for centres $\mu_C$ that make $\sum_i \lVert x_i - \mu_{C(i)} \rVert^2$ small, where $C(i)$ is the
# cluster of sentence $i$. In the paper, Iclust is ahead of k-means with every method.
#
# **Predict 03.b.** Take vectors of length 1, and let $S$ be their cosines. Do the two algorithms look for the same
# partition or for different ones? Write `"the same"` or `"different"`.

# %%
guess = "the same"  #!
predict("03.b", guess)

# %%
from sklearn.metrics import adjusted_mutual_info_score

from labkit.evaluation import kmeans


def unit_rows(of, article):
    rows = np.array([of[text] for text in article.sentences], dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)

def searched(S, k, starts=3):
    random = np.random.default_rng(0)
    found = [regroup(S, random.permutation(np.arange(len(S)) % k)) for _ in range(starts)]
    return max(found, key=lambda labels: objective(S, labels))

rows, k = unit_rows(vectors["your network"], unseen[0]), len(unseen[0].sections)
S = rows @ rows.T
for name, labels in {"k-means": kmeans(rows, k, seed=0, restarts=10), "yours": searched(S, k)}.items():
    centres = np.array([rows[labels == each].mean(0) for each in range(k)])
    squares = ((rows - centres[labels]) ** 2).sum()
    print(f"{name:8} <s> {objective(S, labels):.4f}, sum of squares {squares:.4f},",
          f"n (1 - <s>) {len(S) * (1 - objective(S, labels)):.4f}")
recall("03.b", "the same")

# %% [markdown]
# The last two columns agree, and always will. For one cluster, $\sum \lVert x - \mu \rVert^2 = \sum \lVert x \rVert^2 -
# |C| \lVert \mu \rVert^2 = |C| - S_C / |C|$, and the sum over all clusters is $n (1 - \langle s \rangle)$. The two
# algorithms minimise the same number. If one is ahead, its *search* was better.
#
# How well do clusters and sections agree? **AMI** (adjusted mutual information) is 1 if they are the same and, on
# average, 0 for random clusters. Here are means over the test articles:

# %%
def agreement(of, cluster):
    found = [cluster(unit_rows(of, article), len(article.sections)) for article in unseen]
    return np.mean([adjusted_mutual_info_score(each.truth, labels) for each, labels in zip(unseen, found)])

def by_means(rows, k):
    return kmeans(rows, k, seed=0, restarts=10)

for name, of in vectors.items():
    print(f"{name:16} k-means {agreement(of, by_means):.3f}")
mine = agreement(vectors["your network"], lambda rows, k: searched(rows @ rows.T, k))
print(f"your network     your clustering {mine:.3f}")

# %% [markdown]
# Your network finds the sections better than the two baselines do. With a scale of 200 it does worse again. Your
# clustering, with three starts, is close to k-means with ten.
#
# ## 5. Where should the negative come from?
#
# Should it come from the neighbouring section (*adjacent*), from any other section of the article, or from another
# article? Neighbouring sections are the hardest to tell apart. The table below was measured with the package's network,
# which trains longer than yours. It shows the mean ± spread on test over three seeds (`python -m labkit.course.plans
# thematic-rules`). Triplet accuracy is measured on test triplets with *adjacent* negatives.
#
# **Predict 03.c.** Which of the three gives the best triplet accuracy: `"adjacent"`, `"other section"` or `"other
# article"`?

# %%
guess = "adjacent"  #!
predict("03.c", guess)

# %%
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS

rules = kept("thematic-rules")
display(pd.DataFrame(rules.rows(PLANS["thematic-rules"].measures)).set_index("variant"))
asked = ("adjacent", "other section", "other article")
recall("03.c", max(asked, key=lambda name: rules.spread(name, "triplet_accuracy").mean))

# %% [markdown]
# By **triplet accuracy**, adjacent negatives have the largest mean. That is no surprise, because the negatives of these
# test triplets are adjacent, too. But three seeds do not show a lead. The last column compares each row with the best
# by an interval over the seeds, widened for six comparisons; *open* means that the interval contains 0.
#
# By **clusters**, the order is different. With Iclust, negatives from any other section have a larger mean than
# adjacent ones, though this comparison is open as well. A network that has seen only neighbouring sections need not
# know what separates the first section of an article from the last.
#
# *titles* uses the title of the section as the positive, so it has few triplets.
#
# On Wikipedia, the paper finds that any other section of the *same* article does as well as a neighbouring one, and
# that another article is worse. Our networks agree (`labkit reproduce thematic/4`): an AMI of 0.266 for any section,
# 0.261 for the neighbouring one, 0.239 for another article.
#
# Now measure one cell of the table again:

# %%
with in_notebook("adjacent, seed 0") as shown:
    now = again(PLANS["thematic-rules"], "adjacent", seed=0, progress=shown)
for measure, value in now.items():
    print(f"{measure:16} now {value:.4f}, stored {rules.figures['adjacent'][0][measure]:.4f}")

# %% [markdown]
# ## Errata
#
# The paper is [*Learning Thematic Similarity Metric from Article Sections Using Triplet
# Networks*](https://doi.org/10.18653/v1/P18-2009) (Ein Dor et al., 2018). Some of its statements are unclear or
# incomplete:
#
# | where | printed | what holds |
# | --- | --- | --- |
# | section 4 | a loss of two terms | the terms are equal; it is $2 \sigma(d^+ - d^-)$ |
# | section 4 | L1 distances of vectors with 600 numbers | they can differ by dozens, where this loss is flat; the package uses $1 - \cos$ and a scale |
# | section 4 | "0.8 dropout" | it does not say whether 0.8 is dropped or kept; in the package it is a setting |
# | section 5.1 | Iclust leads k-means | on vectors of length 1 both have the same objective (Iclust at temperature 0); the lead comes from the search |
# | section 5.1 | clusters of sentences | it does not say which; here, the first sentence of each paragraph is used |
#
# ## Try it yourself
#
# 1. Change `triplets_of` so that negatives come from any other section, train again, and compare both scores.
# 2. In the app, go to Papers, open *Try it* for Thematic, and look at a sentence in the wrong cluster. Whose mistake is
#    it, the network's or the author's?
#
# ## Further reading
#
# - Hermans, Beyer and Leibe, [*In Defense of the Triplet Loss for Person
#   Re-Identification*](https://arxiv.org/abs/1703.07737), 2017. It compares softplus and hinge in practice.
# - Slonim, Atwal, Tkačik and Bialek, [*Information-based clustering*](https://doi.org/10.1073/pnas.0507432102), 2005.
#   It introduces Iclust and explains its temperature.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** Nobody has checked the labels, and some are wrong. Why can a network learn from them anyway? When could it not?
#
# <details><summary>An answer</summary>
#
# Labels that are wrong by accident pull in all directions and nearly cancel, while the right ones agree. Labels that
# are wrong for one common reason agree, too, and the network learns that reason. This is why a rule leaves out first
# sections. The ratio loss helps against accidents, not against a common reason.
#
# </details>
#
# **2.** On vectors of length 1, k-means and Iclust look for the same partition. How can a table still show one of them
# ahead?
#
# <details><summary>An answer</summary>
#
# Their searches may differ in where they start, how often they start, and in which local optimum they stop. Or the
# vectors were not the same after all. Give both the same vectors, and compare the objective that they reach.
#
# </details>
#
# **3.** One network is best at triplets with adjacent negatives, another at finding sections by clustering. Which one
# is better?
#
# <details><summary>An answer</summary>
#
# Each is better at the task that resembles its training. Choose the score closest to your own use, and do so before you
# look at the test set.
#
# </details>

# %%
progress("03")
