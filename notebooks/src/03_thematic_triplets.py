# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 3 · Thematic triplets
#
# **What can a network learn from text that nobody has labelled?** People have sorted sentences by theme already: they wrote
# articles, with *sections*. In this lesson sections become triplets, triplets train a network with attention, and two
# clustering methods show what it has learned.
#
# *70 minutes, 34 of them for the exercises. You need notebook 1, and to know what a softmax is.*
#
# The paper is [*Learning Thematic Similarity Metric from Article Sections Using Triplet
# Networks*](https://doi.org/10.18653/v1/P18-2009) (Ein Dor et al. 2018); section and table numbers are its own.

# %%
import numpy as np
import pandas as pd
import torch
from IPython.display import display

from labkit.corpora.article_triplets import Plan
from labkit.thematic.making import triplets_and_funnel
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS
from labkit.shipped import DEMONSTRATIONS
from labkit.evaluation import iclust, kmeans
from labkit.explore import Slider, explore, show
from labkit.figures import attention_bars, section_ribbon, triplet_losses
from labkit.methods import load_run
from labkit.progress import in_notebook
from labkit.text import words
from labkit.thematic.network import ratio
from labkit.thematic.sections import sectioned, themes

articles = load("articles")

# %% [markdown]
# ## 1. From an article to triplets
#
# A triplet is an *anchor*, a *positive* that should be near it, and a *negative* that should be far. The paper (section 3.1) takes
# sentences that open a paragraph; anchor and positive from one section, the negative from the section before or after. Here is an article
# of the small, invented ones that came with the lab:

# %%
article = articles.part("train").articles[0]
print(article.title)
for section in article.sections:
    opening = section.paragraphs[0][:60]
    print(f"  {section.title or '(lead)':24} {len(section.paragraphs)} paragraphs: {opening} ...")

# %% [markdown]
# Not everything is of use. The first section and "Background" speak of everything; "References" and its like are lists; a sentence of
# three words says little; an article with fewer than five sections left is left out. Each is a rule of section 3.1.
#
# **Exercise 03.1.** A sentence must have 5 to 50 tokens. `words(sentence)` gives them, without punctuation.
#
# *2 minutes, easy. What it is for: applying the first of the rules that make labels out of articles.*
#
# hint: `words(sentence)` gives the tokens.
# hint: 5 is long enough, 50 not too long.
# hint: `5 <= len(words(sentence)) <= 50`
# right: a rule's border is part of the rule: with < in place of <= another benchmark would come out
# further: How many sentences of the training articles stand exactly at one of the two borders, and how many would a
# limit of 20 tokens cost? Count them with `words`.

# %%
def long_enough(sentence):
    """a sentence -> whether it may stand in a triplet"""
    return 5 <= len(words(sentence)) <= 50  #!

answer("03.1", long_enough)

# %% [markdown]
# **Exercise 03.2.** Anchor and positive come from one section and stand at most 3 paragraphs apart. A section has usable sentences in
# its paragraphs 0, 1, 2, 5 and 6. How many pairs may be anchor and positive (in either order, so count each pair once)?
#
# *4 minutes, easy. What it is for: seeing how few pairs a rule leaves of a section.*
#
# hint: Five paragraphs make ten pairs. Which of them are more than three apart?
# hint: 0 with 5, 0 with 6, 1 with 5, 1 with 6, 2 with 6.
# hint: 5 are left.
# right: what stands near in a section is more surely of one theme
# further: Find the number for at most 1 paragraph, and for any distance. What may each further pair cost, where two
# paragraphs of a section speak of different things?

# %%
pairs = 5  #!
answer("03.2", pairs)

# %% [markdown]
# **Predict 03.a.** Of all *sections* of the embedded articles, which share is left after all rules? A number from 0 to 1.

# %%
guess = 0.6  #!
predict("03.a", guess)

# %%
triplets, funnel = triplets_and_funnel(articles, Plan("adjacent"))
header, *rows = funnel.rows()
display(pd.DataFrame(rows, columns=header).set_index(""))
recall("03.a", funnel.left("sections") / funnel.read("sections"))

# %% [markdown]
# Read the table from top to bottom: in each column, what was read, less what each rule removed, is what is left. One triplet:

# %%
for part in ("anchors", "positives", "negatives"):
    print(f"{part[:-1]:9}", getattr(triplets, part)[0])

# %% [markdown]
# These labels are *weak*: nobody said that the two sentences belong together, and now and then they do not. And they must be split **by
# article**, as section 3.1 does: two triplets of one article in training and test would let a network learn the article by heart. The lab
# splits by a hash of the title, so that the split never depends on the order of a file.
#
# ## 2. The loss is one sigmoid
#
# Write $d^+$ for the distance from anchor to positive, $d^-$ for that to the negative. Section 4 of the paper normalises them,
#
# $$p(d^+), p(d^-) = \mathrm{softmax}(d^+, d^-), \qquad \text{loss} = |p(d^+)| + |1 - p(d^-)|$$
#
# **Exercise 03.3.** Write it for tensors of distances. It gets short when you look at it long enough.
#
# *5 minutes, medium. What it is for: seeing more in a formula by simplifying it.*
#
# hint: softmax of two numbers: p(d⁺) = e^{d⁺} / (e^{d⁺} + e^{d⁻}). Divide above and below by e^{d⁻}.
# hint: p(d⁺) = σ(d⁺ - d⁻), and 1 - p(d⁻) is the same.
# hint: `2 * torch.sigmoid(near - far)`
# right: two terms in section 4 of the paper, one sigmoid in truth
# further: Multiply both distances by 10, then divide them by 10, and draw the loss again. Which of the two makes a
# step of it, and which almost a straight line?

# %%
def ratio_loss(near, far):
    """d⁺ and d⁻, (n,) each -> the loss of each triplet, (n,)"""
    return 2 * torch.sigmoid(near - far)  #!

answer("03.3", ratio_loss)

# %%
gap = torch.linspace(-6, 6, 121, dtype=torch.float64)
off = torch.as_tensor(ratio_loss(gap, torch.zeros_like(gap))) - ratio(gap, torch.zeros_like(gap))
print(f"largest difference to the package: {float(off.abs().max()):.1e}")

# %% [markdown]
# **Exercise 03.4.** A weight is a slope (notebook 1). With $x = d^+ - d^-$: what is the slope of this loss with respect to $d^+$?
#
# *5 minutes, medium. What it is for: finding out which triplets a loss gives up on.*
#
# hint: The derivative of σ is σ(1 - σ).
# hint: Twice that.
# hint: `s = torch.sigmoid(x); return 2 * s * (1 - s)`
# right: it is largest at a tie and vanishes on both sides: the loss gives up on triplets that are hopelessly wrong
# further: Draw a hundred x around -2 and turn the sign of ten, as wrong labels do. Which share of all slopes belongs
# to these ten, with this loss and with softplus, whose slope is `torch.sigmoid(x)`?

# %%
def ratio_slope(x):
    """x = d⁺ - d⁻, (n,) -> the slope, (n,)"""
    s = torch.sigmoid(x)
    return 2 * s * (1 - s)  #!

answer("03.4", ratio_slope)

# %% [markdown]
# Beside two other losses: the **hinge** $[1 + d^+ - d^-]_+$, the usual triplet loss (section 4 found the ratio loss better), and
# **softplus**, $\log(1 + e^{d^+ - d^-})$, which is the hinge with its corner rounded off. How hard does each of them pull at a triplet?

# %%
show(triplet_losses(),
     "Left the three losses, right their slopes, over d⁺ - d⁻; to the right of 0 a triplet is "
     "in the wrong order. The ratio loss (solid) is a step: its slope is a hill at 0 and "
     "nothing far from it. The slopes of softplus and hinge rise to 1 and stay there.")

# %% [markdown]
# Softplus and hinge pull hardest at what is most wrong. The ratio loss is bounded: it pulls where a triplet is undecided and gives up on both
# ends. With weak labels that is a virtue, since a hopeless triplet may simply be a wrong one. It is also a danger. Section 4 takes L1 distances,
# $\sum |a - b|$, of vectors of 600 numbers; where such distances differ by dozens, the slope is zero for *all* triplets.

# %%
for difference in (0.5, 5, 50):
    slope = float(ratio_slope(torch.tensor([difference], dtype=torch.float64))[0])
    print(f"d⁺ - d⁻ = {difference:4}: slope {slope:.1e}")

# %% [markdown]
# So the scale of the distances decides. The lab's own networks, which you will meet below, compare by $1 - \cos$, and multiply that by a setting,
# `scale`, before the loss.
#
# ## 3. Attention
#
# Words become states $h_t$: in section 4 of the paper by an LSTM in both directions, here simply their vectors. The sentence is a weighted mean
# of them:
#
# $$a = \mathrm{softmax}_t\big(u \cdot \tanh(W h_t + b)\big), \qquad v = \sum_t a_t h_t$$
#
# $W$, $b$ and $u$ are learned. Sentences of a batch are filled up to one length, and what was filled in must not count.
#
# **Exercise 03.5.** Write it.
#
# *6 minutes, medium. What it is for: building the last part of this network, a mean that chooses its words.*
#
# hint: First a score for each word, u · tanh(W h_t + b); then a softmax over the words that are there.
# hint: `scores.masked_fill(~there, -torch.inf).softmax(1)` gives padding the weight 0.
# hint: `(weights[:, :, None] * h).sum(1)`
# right: padding has no weight: a sentence's vector does not depend on its neighbours in the batch
# further: Fill the padding with huge numbers and see that nothing changes; then leave `masked_fill` out and look
# again. What would happen to a sentence that consists of padding only?

# %%
def attend(h, there, W, b, u):
    """h (n, t, d), there (n, t) bool, W (k, d), b (k,), u (k,) -> sentence vectors (n, d)"""
    scores = torch.tanh(h @ W.T + b) @ u
    weights = scores.masked_fill(~there, -torch.inf).softmax(1)  #!
    return (weights[:, :, None] * h).sum(1)  #!

answer("03.5", attend)

# %% [markdown]
# A network that was trained before you came (`labkit train thematic`), and one of its sentences. The bars are each word's *share* of the
# vector: attention times the length of what is attended to.

# %%
network = load_run(DEMONSTRATIONS["thematic-articles"].folder)
shown = sectioned(articles.part("test").articles[0])
attended = network.attend(shown.sentences[0])
heavy = attended.words[int(np.argmax(attended.shares))]
show(attention_bars(attended),
     "The words of the sentence in their order: each bar is a word's share of the sentence's "
     "vector, each orange diamond its bare attention. The dotted line is an even share. The "
     f"largest share has “{heavy}”.")

# %% [markdown]
# Be careful with such pictures. They say which words the vector is made of. They do not say *why* the vector is near another.
#
# ## 4. Do clusters find the sections again?
#
# The test of section 5.1 of the paper: take the sentences of an article that the network has never seen, make as many clusters as there are
# sections, and compare. How well clusters and sections agree is told by **AMI** (adjusted mutual information): 1 for the same partition, nothing on average
# for one by chance. There are two ways to make the clusters. **Iclust** needs similarities $S_{ij}$ only. At temperature 0 it looks for the
# partition with the largest
#
# $$\langle s \rangle = \frac{1}{n} \sum_C \frac{S_C}{|C|}, \qquad S_C = \sum_{i, j \in C} S_{ij}$$
#
# **Exercise 03.6.** Write it.
#
# *4 minutes, easy. What it is for: judging clusters by similarities alone, without any centre.*
#
# hint: For each cluster: the sum of all similarities within it, each element with itself too, over its size.
# hint: Add these up over the clusters, and divide by the number of elements.
# hint: `sum(S[np.ix_(labels == c, labels == c)].sum() / (labels == c).sum() for c in set(labels)) / len(labels)`
# right: it asks for similarities only: no vectors, no centres
# further: Give every sentence a cluster of its own: what is ⟨s⟩? Say from that why the number of clusters must be
# given at T = 0, and why ⟨s⟩ cannot choose it.

# %%
def objective(S, labels):
    """S (n, n), labels (n,) -> <s>"""
    total = 0.0
    for cluster in np.unique(labels):
        inside = labels == cluster
        share = S[np.ix_(inside, inside)].sum() / inside.sum()  #!
        total += share
    return total / len(labels)

answer("03.6", objective)

# %% [markdown]
# **k-means** moves centres $\mu_C$ and makes $\sum_i \lVert x_i - \mu_{C(i)} \rVert^2$ small. In table 4 of the paper, Iclust is ahead of k-means
# in AMI for every method.
#
# **Predict 03.b.** For vectors of length 1, with $S$ their cosines: do the two look for the same partition or for different ones? Write
# `"the same"` or `"different"`.

# %%
guess = "the same"  #!
predict("03.b", guess)

# %% [markdown]
# **Exercise 03.7.** Find the sum of squares from $\langle s \rangle$ and $n$. (Multiply $\lVert x - \mu \rVert^2$ out; $\mu$ is the mean of its cluster.)
#
# *8 minutes, hard. What it is for: seeing that two names stand for one and the same search.*
#
# hint: Σ ‖x - μ‖² over a cluster is Σ ‖x‖² - |C| ‖μ‖². What are the two parts for vectors of length 1?
# hint: Σ ‖x‖² = |C|, and |C| ‖μ‖² = S_C / |C|.
# hint: `n * (1 - objective)`
# right: the one is as large as the other is small: at T = 0 both look for the same partition
# further: Let the vectors keep their own lengths, with $S$ their dot products. Which sum takes the place of n in your
# formula, and does the partition enter into it?

# %%
def sum_of_squares(objective, n):
    """<s> of a partition of n vectors of length 1 -> Σ ‖x - μ‖²"""
    return n * (1 - objective)  #!

answer("03.7", sum_of_squares)

# %%
vectors = network.encode(list(shown.sentences), normalize_embeddings=True).astype(float)
S, k = vectors @ vectors.T, len(shown.sections)
found = {"k-means": kmeans(vectors, k, seed=0, restarts=10)}
found["Iclust"] = iclust(S, k, seed=0, restarts=10)
for name, labels in found.items():
    centres = np.array([vectors[labels == c].mean(0) for c in range(k)])
    squares = float(((vectors - centres[labels]) ** 2).sum())
    value = np.squeeze(objective(S, labels)).item()
    yours = np.squeeze(sum_of_squares(value, len(S))).item()
    print(f"{name:8} <s> {value:.4f}   Σ‖x-μ‖² {squares:.4f}, by your formula {yours:.4f}")
recall("03.b", "the same")

# %% [markdown]
# They optimise the same number. If one of them is ahead, its *search* was better on that day, not its idea. (That holds for vectors of length 1;
# section 5.1 takes cosines for both and does not say whether k-means was given such vectors.) What Iclust has beyond k-means is its temperature.

# %%
def at_temperature(temperature):
    found = themes(shown, network.encode(list(shown.sentences)), temperature=temperature)
    return section_ribbon(found, height=220)

explore(at_temperature,
        f"Each column is one of the article's {len(shown.sentences)} sentences, in reading "
        "order; dotted lines are where sections end. The upper row has the number of its "
        "section, the two below that of its cluster by k-means and by Iclust; a frame marks "
        "where it is not the section's.",
        temperature=Slider("T, temperature", 0.0, 0.5, 0.02, 0.0))

# %% [markdown]
# As it gets warmer, memberships become shares, clusters melt together, and in the end one is left.
#
# ## 5. Opponents that read no sections
#
# A network that learned from sections should be ahead of what never saw one. Three such opponents, all made from the words of the same articles:
#
# - **mean**: the plain mean of the words' vectors; it opens table 3 and table 4 of the paper.
# - **SIF**: the same with rare words heavier, $a / (a + p_w)$ for a word of frequency $p_w$, less the direction that all sentences share.
# - **PV-DBOW** (*paragraph vector, distributed bag of words*): not a mean of anything. Each sentence has a vector $d$ of its own, from which its words
#   $w$ can be told from words $v$ drawn at random. With a vector $u_w$ for each word, $\mathrm{softplus}(x) = \log(1 + e^x)$, $p_v$ the chance to be
#   drawn and $k$ drawn words for each true one, training makes small, over all $d$ and $u$,
#
# $$f(d) = \mathrm{mean}_{w} \, \mathrm{softplus}(-d \cdot u_w) + k \sum_v p_v \, \mathrm{softplus}(d \cdot u_v) + \tfrac{\rho}{2} \lVert d \rVert^2$$
#
# A sentence that comes later has no $d$ yet. It is found by making $f$ small once more, with all $u$ held fast. (Section 5.1 does not compare with
# PV-DBOW but with skip-thoughts; the paper of notebook 5 does, in its table 3.)
#
# The first figure below, **triplet accuracy**, says how often the positive is nearer than the negative:

# %%
rules = kept("thematic-rules")
measures = PLANS["thematic-rules"].measures
table = pd.DataFrame(rules.rows(measures)).set_index("variant")
table.loc[[name for name in table.index if "learned" in name], list(measures)]

# %% [markdown]
# On triplets PV-DBOW is a little ahead of the plain mean, 0.689 ± 0.009 to 0.661 ± 0.005, and far behind SIF with 0.793; on clusters it leads nothing. It
# has to learn each word's vector from the few sentences that have it, where mean and SIF take theirs from counts of all neighbours; that may be one reason.
# It was made for texts longer than a sentence. (Two of its settings were chosen on dev.) SIF is the one to beat. A baseline that is too weak makes any
# method look good.
#
# ## 6. Where should the negative come from?
#
# From the neighbouring section (*adjacent*: the choice of section 3.1), from any other section of the article, or from another article? Neighbouring
# sections are the hardest to tell apart.
#
# **Predict 03.c.** Which of the three gives the best triplet accuracy on test triplets with *adjacent* negatives: `"adjacent"`, `"other section"`
# or `"other article"`?

# %%
guess = "adjacent"  #!
predict("03.c", guess)

# %%
asked = ("adjacent", "other section", "other article")
display(table)
recall("03.c", max(asked, key=lambda name: rules.spread(name, "triplet_accuracy").mean))

# %% [markdown]
# Three seeds each, mean ± spread, on the test split; the last column compares triplet accuracies. *titles*: the positive is the title of the
# anchor's section (section 3.2). This table was measured by `python -m labkit.course.plans thematic-rules`. Do not believe it: measure one cell again.

# %%
with in_notebook("adjacent, seed 0") as bar:
    now = again(PLANS["thematic-rules"], "adjacent", seed=0, progress=bar)
then = rules.figures["adjacent"][0]
both = pd.DataFrame({"now": now, "kept": then})
both["so it is"] = np.where(abs(both["now"] - both["kept"]) < 0.01, "the same", "different")
both.round(4)

# %% [markdown]
# Read it twice. By **triplet accuracy** adjacent negatives have the largest mean, and that is what one should expect: the negatives of the test triplets are adjacent,
# too. But three seeds do not show it: the interval of its lead over each of the two others just contains 0. Compared with SIF alone, adjacent
# negatives are ahead, by an interval that leaves 0 out; the last column compares seven rows at once and leaves that open, too. Titles are behind adjacent ones: there is one for a whole section, so there are few.
#
# By **clusters** the order is another: with Iclust, negatives from any other section have the larger mean, though three seeds leave it open. A network that
# has practised on neighbouring sections only need not know what tells an article's first section from its last.
#
# Section 5.1 of the paper asks by clusters, too, and finds no more than this: a random section of the *same* article does as well as the
# neighbouring one, and only another article does worse, an AMI of .266 to .296 with Iclust (table 4). Within an article, it says, triplets are difficult
# enough; across articles they are too easy. On articles of Wikipedia our networks agree (`labkit reproduce thematic/4`, the same AMI): .266 for any
# section, .261 for the neighbouring one, .239 for another article. Here, on few, short and invented articles, another article does no worse by clusters
# than the neighbouring section: how hard a negative should be depends on what there is to learn from.
#
# One more thing: SIF, a weighted mean without any training, already has most of the distance from the plain mean to the networks.
#
# And the loss? All with adjacent negatives:

# %%
losses = kept("thematic-losses")
pd.DataFrame(losses.rows(PLANS["thematic-losses"].measures)).set_index("variant")

# %% [markdown]
# The ratio loss is ahead of the hinge by two hundredths, and between it and softplus it is open: on these clean, invented articles there is little that is hopeless, and
# nothing is lost by giving up on it. A scale of 200 costs nearly three hundredths: where distances are large, most triplets lie where the loss is flat.
# These networks compare by cosine, and $1 - \cos$ lies between 0 and 2, so that some triplets are always near a tie, where the slope is. With L1 distances
# of hundreds of numbers, and real articles, none may be.
#
# ## To try on your own
#
# 1. `labkit data make triplets --articles FILE --rule titles --output t.csv`: triplets whose positive is the section's *title*. Train on them.
# 2. In the app, Papers, *Try it* of Thematic: choose another article, and look at the sentences in the wrong cluster. Whose mistake is it, the network's or the author's?
#
# ## Further reading
#
# - Ein Dor, Mass, Halfon, Venezian, Shnayderman, Aharonov and Slonim 2018, [*Learning Thematic Similarity Metric from Article Sections Using Triplet
#   Networks*](https://doi.org/10.18653/v1/P18-2009): the paper, six pages.
# - Hermans, Beyer and Leibe 2017, [*In Defense of the Triplet Loss for Person Re-Identification*](https://arxiv.org/abs/1703.07737): why hard triplets
#   matter, and how softplus and hinge differ in practice.
# - Slonim, Atwal, Tkačik and Bialek 2005, [*Information-based clustering*](https://doi.org/10.1073/pnas.0507432102): where Iclust comes from, and what
#   its temperature trades.
# - Wiegreffe and Pinter 2019, [*Attention is not not Explanation*](https://aclanthology.org/D19-1002): both sides of the quarrel about pictures like
#   that of section 3.
# - Le and Mikolov 2014, [*Distributed Representations of Sentences and Documents*](https://arxiv.org/abs/1405.4053): paragraph vectors; and Lau and
#   Baldwin 2016, [*An Empirical Evaluation of doc2vec*](https://arxiv.org/abs/1607.05368): what they are worth when tuned.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** Nobody has checked the labels, and some are wrong. Why can a network learn from them all the same, and when
# could it not?
#
# <details><summary>An answer</summary>
#
# Wrong labels that are wrong by accident pull in all directions and nearly cancel, while the right ones agree. If
# they are wrong by a system, they agree as well, and the network learns that: most first sections speak of
# everything, and this is why a rule drops them. A loss that is bounded helps with accidents, not with a system.
#
# </details>
#
# **2.** At temperature 0 and on vectors of length 1, k-means and Iclust look for the same partition. How can a table
# nevertheless have one of them ahead?
#
# <details><summary>An answer</summary>
#
# By how it searches: where it starts, how often it starts anew, in which of many local optima it stops. Or by what is
# not the same after all, such as vectors that kept their lengths, or a temperature above 0. Give both the same
# vectors and compare the objective that they reached: if that differs, it was the search.
#
# </details>
#
# **3.** One network is the best at triplets with adjacent negatives, another at finding the sections as clusters.
# Which one is better?
#
# <details><summary>An answer</summary>
#
# Each is better at what resembles its training: adjacent negatives teach the borders between neighbouring sections,
# and clusters need the far ones apart, too. Without a use there is no answer. Choose the figure that is like your
# use, and do so before you look at test.
#
# </details>

# %%
progress("03")
