# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 7 · All together
#
# **Which method should you try first on your own sentences?** Eleven methods on one corpus, then four of them on a file of
# your own: how to read a table of means and spreads, how to split a file so that nothing leaks, and what you may conclude.
#
# *45 minutes, 19 of them for the exercises. You need notebook 0, and one of notebooks 2 to 6.*

# %%
import time
import zlib

import numpy as np
from scipy import stats

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.corpora.minimal import KINDS, minimal_pairs
from labkit.corpora.relations import points
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS
from labkit.explanation import lost
from labkit.explore import show
from labkit.figures import clusters, seed_dots
from labkit.papers.stored import stored
from labkit.shipped import DEMONSTRATIONS
from labkit.methods import load_run
from labkit.projection import tsne
from labkit.evaluation.scores import score

FILE = "topics"  # or your own file: "mine.csv" with the columns text,label

# %% [markdown]
# ## 1. One corpus, eleven methods
#
# `questions` has pairs of questions; some ask the same in other words. Each method gives a pair a similarity, and a
# threshold that was chosen on the dev split tells same from other. All methods are small here. These are the eleven:
#
# | method | how it makes a vector | learns from labels |
# | --- | --- | --- |
# | `tfidf` | counts of words, the rare ones weigh more | no |
# | `lsa` | the same, in the few directions that keep most of it | no |
# | `mean-vectors` | the mean of a sentence's word vectors | no |
# | `sif` | a mean in which frequent words weigh little | no |
# | `sbert-lp on mean-vectors` | those means, moved by their neighbours (notebook 4; [paper](https://aclanthology.org/2021.findings-emnlp.262)) | no |
# | `film` | a linear map on `tfidf` (notebook 6; [paper](https://arxiv.org/abs/2010.05523)) | yes |
# | `siamese` | an encoder, contrastive loss: all pairs weigh the same | yes |
# | `triplet` | the same encoder, triplet loss on the hardest pair of each kind | yes |
# | `sentpwnet` | the same encoder, weighted pairs (notebook 2; [paper](https://arxiv.org/abs/2005.11347)) | yes |
# | `pthought` | one encoder, two decoders (notebook 5; [paper](https://doi.org/10.1016/j.ins.2020.05.129)) | yes |
# | `bag` | the mean of word pieces that learn, contrastive loss on the labelled pairs: the simplest thing that learns | yes |
#
# The lab has some more, which `labkit.METHODS` lists. The thematic network of notebook 3
# ([paper](https://aclanthology.org/P18-2009)) is not among the eleven: it learns from articles, not from pairs.
#
# The figure to look at is **AUC**. Take one pair that is the same and one that is not: how often has the first the higher
# similarity? No threshold is in it. 1 is perfect, and who guesses is right in half of the cases.
#
# **Predict 07.a.** Which of these will have the highest AUC: `"tfidf"`, `"mean-vectors"`, `"film"`, `"sentpwnet"` or
# `"pthought"`?

# %%
guess = "sentpwnet"  #!
predict("07.a", guess)

# %%
plan, table = PLANS["together"], kept("together")
print(f"{'':24}" + "".join(f"{measure:>15}" for measure in plan.measures) + "   by auc")
for row in sorted(table.rows(plan.measures), key=lambda row: row["auc"], reverse=True):
    cells = "".join(f"{row[measure]:>15}" for measure in plan.measures)
    print(f"{row['variant']:24}{cells}   {row['beside the best']}")
asked = ("tfidf", "mean-vectors", "film", "sentpwnet", "pthought")
recall("07.a", max(asked, key=lambda name: table.spread(name, "auc").mean))

# %% [markdown]
# A mean over three seeds ± their **spread**, the standard deviation, on the test split; where no chance is in a method one
# figure stands alone. `accuracy` and `f1` are those of the threshold; `inter_intra` (notebook 0) is how far apart classes
# are, in units of how wide they are. Measured by `python -m labkit.course.plans together`. One cell of it again, now:

# %%
began = time.perf_counter()
now = again(plan, "film", seed=1)
for measure, value in now.items():
    print(f"{measure:12} now {value:.4f}   kept {table.figures['film'][1][measure]:.4f}")
print(f"{time.perf_counter() - began:.1f} s")

# %% [markdown]
# The first column as a picture:

# %%
best = max(table.figures, key=lambda name: table.spread(name, "auc").mean)
show(
    seed_dots(table, "auc"),
    "A line is a method, AUC grows to the right. Open circles: one seed each; blue diamonds: their "
    "mean, the arms its spread, mostly too short to be seen; open diamonds are shown to be behind "
    f"{best}, the best with {table.spread(best, 'auc').mean:.3f}. What learns from labels lies to "
    "the right, and most gaps are much wider than the arms.",
)

# %% [markdown]
# ## 2. What one may say
#
# A method with a better mean is not yet a better method: with other seeds the order might be another. Of two methods one
# *leads* if the 95 % interval of the mean difference, seed by seed, leaves 0 out. Otherwise it is *open* which is better.
# The interval is Student's: the mean of the $n$ differences, plus and minus `stats.t.ppf(0.975, n - 1)` times their
# standard deviation (with $n - 1$ below the line) over $\sqrt n$. The column *beside the best* above has the same
# intervals, widened because the best of many is compared with all the others.
#
# **Exercise 07.1.** Write it.
#
# *4 minutes, medium. What it is for: reading from a table no more than it can bear.*
#
# hint: Take the differences seed by seed: their mean, and how sure it is.
# hint: The standard error of a mean of n numbers is `d.std(ddof=1) / np.sqrt(n)`.
# hint: half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d)); compare d.mean() with it
# right: an interval over seeds says what other seeds would give; other test pairs would widen it
# further: Draw three figures each for two methods from one and the same normal distribution, a thousand times: how
# often does `verdict` name a leader? Then with ten figures each.

# %%
def verdict(a, b):
    """scores of two methods, one per seed -> "first", "second" or "open"; larger is better"""
    d = a - b
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))  #!
    return "first" if d.mean() > half else "second" if d.mean() < -half else "open"

answer("07.1", verdict)

# %% [markdown]
# Now **AUC** itself: of all couples of one pair that is the same and one that is not, the share in which the first has the
# higher similarity. Where both have the same similarity, the couple counts half.
#
# **Exercise 07.2.** Write it.
#
# *5 minutes, medium. What it is for: measuring without a threshold.*
#
# hint: Take every couple of one pair that is the same and one that is not. Which has the higher score?
# hint: `same > other` compares every couple at once. A tie is right by half: where are the ties?
# hint: `(same > other).mean() + 0.5 * (same == other).mean()`
# right: no threshold in it: it asks whether the order is right
# further: Put the ranks of the scores in the place of the scores, then their cubes: what happens to AUC? Find a
# change of all scores that does move it.

# %%
def auc(scores, labels):
    """scores (n,), labels 0/1 (n,) -> the share of couples in the right order"""
    same, other = scores[labels == 1][:, None], scores[labels == 0][None, :]
    return (same > other).mean() + 0.5 * (same == other).mean()  #!

answer("07.2", auc)

# %% [markdown]
# **Exercise 07.3.** FILM has the largest mean. For which methods is it open whether `sentpwnet` is better, by AUC? Give a list
# of their names.
#
# *3 minutes, easy. What it is for: using the rule on a table that one would like to believe.*
#
# hint: Use your verdict of 07.1 on every line and that of sentpwnet.
# hint: `verdict(values['sentpwnet'], values[name]) == 'open'`
# hint: There are two, its neighbours in the table.
# right: whoever says that one of these is better has not looked at the interval
# further: Do the same by `accuracy`. Are they other methods, and what has a threshold to do with it?

# %%
values = {name: np.array(table.values(name, "auc")) for name in table.figures}
ours = values["sentpwnet"]
undecided = [name for name in values if name != "sentpwnet" and verdict(ours, values[name]) == "open"]  #!
answer("07.3", undecided)

# %% [markdown]
# ## 3. Your own file
#
# Put the name of a file into `FILE` at the top: CSV, TSV, JSONL or Parquet with the columns `text,label`. It stays on this
# machine. Without one, `topics` stands in.
#
# Before anything is learned, it must be split, and the split must not leak. If one scene was described by five people, all
# five descriptions belong into one part; else the test asks for what was learned by heart. And the split must not depend on
# the order of the rows, or adding one would move the others; nor on the day, or tomorrow's test has today's training in it.
#
# **Exercise 07.4.** Write such a split: about a fifth of the groups in test.
#
# *7 minutes, hard. What it is for: making a test that asks for what could not be learned by heart.*
#
# hint: The split must depend on the group's name and on nothing else.
# hint: A hash turns a name into a number: `zlib.crc32(name.encode())` is the same on every machine.
# hint: `["test" if zlib.crc32(group.encode()) % 5 == 0 else "train" for group in groups]`
# right: a leak between the parts is the most common way to a figure that is too good
# further: Add a third part, dev. Then rename one group and add rows to another: which rows change their part? And
# with only ten groups, how far from a fifth may the test come to lie?

# %%
def split(groups):
    """a group's name for each row -> "train" or "test" for each row"""
    return ["test" if zlib.crc32(group.encode()) % 5 == 0 else "train" for group in groups]  #!

answer("07.4", split)

# %% [markdown]
# `load` does this for your file where it has no column `split`. Now four methods on it. Two of them have never seen a label.
# With one label a sentence the figure is kNN accuracy: the share of test sentences whose nearest
# training sentences vote for their label.
#
# **Predict 07.b.** By how much will the better of `film` and `sentpwnet` be ahead of the better of `tfidf` and
# `mean-vectors`, on the test split? A number, such as 0.1.

# %%
guess = 0.2  #!
predict("07.b", guess)

# %%
mine = load(FILE)
tried = {
    "tfidf": METHODS["tfidf"](),
    "mean-vectors": METHODS["mean-vectors"](dimension=50),
    "film": METHODS["film"](),
    "sentpwnet": METHODS["sentpwnet"](size=60, dimension=50, epochs=6, encoder="mean"),
}
found = {}
for name, method in tried.items():
    began = time.perf_counter()
    method.fit(mine, seed=0)
    found[name] = score(method, mine)
    took = time.perf_counter() - began
    print(f"{name:14} {found[name].measure} {found[name].headline:.3f}   {took:4.1f} s")
plain = max(found[name].headline for name in ("tfidf", "mean-vectors"))
learned = max(found[name].headline for name in ("film", "sentpwnet"))
recall("07.b", round(learned - plain, 3))

# %% [markdown]
# That was one seed. Before you tell anybody, run three: `for seed in (0, 1, 2)`, or `labkit train sentpwnet --corpus FILE
# --seed 1` and then `labkit compare`. The picture of the last one, of sentences that it has not learned from:

# %%
shown = points(mine.part("test"), classes=12)
vectors = tried["sentpwnet"].encode(shown.texts, normalize_embeddings=True)
show(
    clusters(tsne(vectors), shown),
    f"Each mark is one of {len(shown.texts)} test sentences, each colour and shape a label; the "
    "axes, from t-SNE, have no unit. Sentences of one label mostly stand in one island, with some "
    "strayed. Who is near whom can be read here, how far apart two islands are cannot.",
)

# %% [markdown]
# ## 4. What the papers say, and what came out here
#
# `labkit reproduce` recomputes the tables of the five papers as far as data and time allow. Each claim that a paper makes of
# its figures is judged twice: by the figures that its own tables print (*paper*), and by ours (*ours*).
#
# - *confirmed*: the lead that is claimed is there. For our figures: a 95 % interval of it, over seeds and test sentences,
#   lies above what is claimed.
# - *not confirmed*: it is refuted, and for *paper* that means: by the very table that the claim stands under.
# - *open*: with more seeds or a larger test it could be either; or a part of it could not be measured.
# - *not measured*: the data or the weights are not to be had; for *paper*, that it prints no figure.

# %%
def by_verdict(claims, words):
    """print them in groups of one verdict"""
    groups = {}
    for name, claim in claims:
        groups.setdefault(words(claim), []).append(f"   {name}: {claim.text}")
    for verdict, texts in sorted(groups.items()):
        print(f"{verdict} ({len(texts)})", *texts, sep="\n")

every = [(table.name, claim) for table in stored().tables for claim in table.claims]
theirs = [(name, claim) for name, claim in every if not claim.asked_here]
by_verdict(theirs, lambda claim: f"paper: {claim.paper}, ours: {claim.ours}")

# %% [markdown]
# Some questions no paper asks, and one would like to know: does a trained network lead the plain mean that it starts from?
# Does the claim hold for a network that we trained, where the printed settings did not learn here? These are **our
# questions**. No paper's figures can bear them out, so only ours judge them:

# %%
own = [(name, claim) for name, claim in every if claim.asked_here]
by_verdict(own, lambda claim: f"ours: {claim.ours}")

# %% [markdown]
# The whole of it, with data, seeds, sizes and the numbers that decide, is in `docs/RESULTS.md`. There these lines say *our
# question* where others have the verdict by the paper's own tables.
#
# ## 5. Why, and may one believe it?
#
# Every method of the lab can say why it finds two sentences alike: `labkit explain`, the button "Why alike?" in the app, or
# `method.explain(a, b)`. An answer always comes. Is it right? Sentences that a generator has written can tell, since it knows
# which word makes the difference. Two small models that were trained on questions, a pair in which one word was exchanged:

# %%
models = {"film": "film-questions", "sentpwnet": "sentpwnet-questions"}
models = {name: load_run(DEMONSTRATIONS[run].folder) for name, run in models.items()}
pair = minimal_pairs("questions", "detail", 1)[0]
print(pair.text_a, "\n" + pair.text_b, "\nchanged:", *pair.changed_a, *pair.changed_b)
for name, model in models.items():
    of_a, of_b = lost(model, pair.text_a, pair.text_b)
    ranked = sorted([*of_a, *of_b], key=lambda part: -part[1])
    costs = ", ".join(f"{word} {part:+.2f}" for word, part in ranked[:4])
    print(f"{name:10} lost by  {costs}")

# %% [markdown]
# What the two sentences lack of being one, $1 - \cos$, is a sum over words: here are the four that have most of it.
#
# **Predict 07.c.** The words of a sentence change places: *can a dog like a cat / can a cat like a dog*. In how many of 25
# such pairs has one of these words the largest part of what is lost, for FILM: `"all"`, `"as by chance"` or `"none"`?

# %%
guess = "as by chance"  #!
predict("07.c", guess)

# %%
def hits(model, kind, count=25):
    """how often the word with the largest part of the loss is one that differs"""
    found = 0
    for pair in minimal_pairs("questions", kind, count):
        a, b = lost(model, pair.text_a, pair.text_b)
        parts = [(part, word in pair.changed_a) for word, part in a]
        parts += [(part, word in pair.changed_b) for word, part in b]
        largest = max(part for part, _ in parts)
        level = [right for part, right in parts if part > largest - 1e-6]
        found += sum(level) / len(level)  # equal parts share the hit
    return found / count

share = {kind: {name: hits(model, kind) for name, model in models.items()} for kind in KINDS}
print(f"{'':10}" + "".join(f"{name:>12}" for name in models))
for kind, row in share.items():
    print(f"{kind:10}" + "".join(f"{value:12.2f}" for value in row.values()))
of_film = share["order"]["film"]
recall("07.c", "all" if of_film > 0.9 else "none" if of_film < 0.05 else "as by chance")

# %% [markdown]
# FILM adds up words, so two orders are one sentence to it: nothing is lost, and no word has more of nothing than another. With
# an exchanged word its answer is mostly right, a synonym nearly as often as another detail. The network's parts see something
# of the order, and miss most of the *not*; give `lost` the other way to ask, `way="left-out"`, and look again.
#
# **An answer tells what the method did, not whether the method was right**: to FILM a synonym leaves two questions nearer than
# another meaning in .44 of the comparisons, where guessing has one half. The page `docs/why.md` asks fourteen methods.
#
# ## 6. What to use when
#
# - **Labels, and a minute.** Try `film` first: here it leads, it is learned in seconds, and every similarity can be taken
#   apart into words. It knows only words that it has seen labelled (notebook 6).
# - **Labels, and more time.** `sentpwnet`, larger than here: size, epochs and encoder all matter (notebook 2), and it reads
#   order and parts of words, which FILM cannot. For places in many scripts, read characters: `--set unit=characters`.
# - **No labels.** `tfidf` and `sif` are ahead of the plain mean, at no cost. Begin with one of them, always: whatever you
#   train has to beat it.
# - **Articles with sections.** `thematic` makes its own labels (notebook 3).
# - **Somebody else's vectors.** `sbert-lp` moves them by their neighbours. Here it is behind its own base. Measure before you believe.
# - **You want sentences back.** Only `pthought` writes. As a similarity it is behind the methods that were trained to be one.
#
# All this is one corpus, and small methods: on yours it may be otherwise, and you know now how to find out.
#
# ## Further reading
#
# How to compare:
#
# - Nils Reimers, Iryna Gurevych. [Reporting score distributions makes a difference](https://aclanthology.org/D17-1035), 2017.
#   How far the seed alone moves a figure, and why one run tells nobody which network is better.
# - Jesse Dodge and others. [Show your work](https://arxiv.org/abs/1909.03004), 2019. Who is ahead depends on how much one has
#   tried; what to report so that others can tell.
# - Kevin Musgrave, Serge Belongie, Ser-Nam Lim. [A metric learning reality check](https://arxiv.org/abs/2003.08505), 2020. The
#   losses of this course's kind, on pictures: compared fairly, most of years of progress goes.
# - Tom Fawcett. [An introduction to ROC analysis](https://doi.org/10.1016/j.patrec.2005.10.010), 2006. AUC, with pictures.
# - Sayash Kapoor, Arvind Narayanan. [Leakage and the reproducibility crisis in machine-learning-based
#   science](https://doi.org/10.1016/j.patter.2023.100804), 2023. Eight ways for a split to leak, with cases.
#
# The five papers of this course:
#
# - [SentPWNet](https://arxiv.org/abs/2005.11347) (Zhang, Li and Wang 2020), notebooks 1 and 2
# - [Thematic triplets](https://aclanthology.org/P18-2009) (Ein Dor and others 2018), notebook 3
# - [SBERT-LP](https://aclanthology.org/2021.findings-emnlp.262) (Min and others 2021), notebook 4
# - [P-thought](https://doi.org/10.1016/j.ins.2020.05.129) (Jang and Kang 2020), notebook 5
# - [FILM](https://arxiv.org/abs/2010.05523) (Tang and Aw 2020), notebook 6

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** Over three seeds it is open which of two methods is better. Has it been shown that they are equally good?
#
# <details><summary>An answer</summary>
#
# No. These seeds do not tell them apart, and a difference may well be there; more seeds and a
# larger test would narrow it down. To show that they are equal one must say beforehand which difference would matter,
# and have an interval that leaves it out.
#
# </details>
#
# **2.** A file has several questions by each customer. By what do you split it, and what happens if you do not?
#
# <details><summary>An answer</summary>
#
# By customer, so that nobody's questions stand in both parts. Otherwise the test asks, in part, whether the method
# knows these people's words, and the figure is too good for new customers. If your later questions will come from the
# same customers, split by time instead: the split should part what the later use will part.
#
# </details>
#
# **3.** Two methods have the same AUC, and one has a higher accuracy. How can that be?
#
# <details><summary>An answer</summary>
#
# AUC is about the order of all couples, accuracy about one threshold. The one may be better among the most alike
# pairs, the other where the threshold lies; or the threshold that dev chose suits test in the one case and not in the
# other. Which figure counts depends on whether you will rank pairs or decide on them.
#
# </details>

# %%
progress("07")
