# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 2 · SentPWNet, trained and taken apart
#
# **Do clever pair weights make a better encoder, or only a better-looking table?** First you write and train a network of
# your own, from the batch to the epochs. Then you ask where the lead of a published method comes from: its weights, its
# miner, a hyperparameter that somebody tuned, or a threshold chosen in the wrong place.
#
# *130 minutes, 66 of them for the exercises, in two halves: sections 1 and 2 are the network of your own. You need
# notebook 1 (what a weight is, what a miner keeps), and to know what an LSTM and a softmax are.*
#
# The paper is [*SentPWNet: A Unified Sentence Pair Weighting Network for Task-specific Sentence
# Embedding*](https://arxiv.org/abs/2005.11347); equation and section numbers are its own. Tables of many trainings are
# stored with the notebooks, with the command that measured each; you will train some of their cells again and compare.

# %%
import statistics
import time
from os.path import commonprefix

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from s2cell import cell_id_is_valid, cell_id_to_level
from scipy import stats
from sklearn.metrics import roc_auc_score
from torch import nn

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.corpora.relations import components
from labkit.corpora.places import s2_code
from labkit.course.ablation import kept
from labkit.training.encoders import inside
from labkit.evaluation import best_threshold, hit_at, inter_intra, pair_classification
from labkit.explore import show
from labkit.figures import (
    clusters,
    seed_dots,
    three_encoders,
    threshold_curves,
    training_curves,
    weights_over_epochs,
)
from labkit.runs import History
from labkit.pairs import informative, locality
from labkit.experiment import Experiment
from labkit.papers.fair import PROTOCOL
from labkit.papers.recipes.speed import CrossSettings, PairReader
from labkit.progress import in_notebook
from labkit.projection import pca
from labkit.training.reader import reader_and_vectors
from labkit.trials.tune import tune
from labkit.evaluation.scores import score, selection
from labkit.sentpwnet.view import cosines, epoch_weights, sentence_batch

# %%
questions, small = load("questions"), {"size": 60, "dimension": 50, "epochs": 6, "patience": 0}
print(questions.sizes, "pairs")
some = questions.part("dev").take(range(3))
for label, one, other in zip(some.labels, some.text_a, some.text_b):
    print(label, "|", one, "|", other)

# %% [markdown]
# ## 1. Three encoders
#
# A sentence comes in as a row of word vectors $x_1 \dots x_n$, each of $d$ numbers. An **encoder** makes one vector
# of them; at its end the vector is divided by its length, so that dot products are cosines. The paper tries three
# (section 4.1; their sizes it does not print, those below are this lab's):
#
# - **CNN.** A filter is a small matrix $F$ laid over $w$ words in a row; at place $t$ it answers $c_t = \langle F,
#   [x_t \dots x_{t+w-1}] \rangle + b$. Of each filter only the *largest* answer of the sentence is kept: $\max_t
#   c_t$. The widths are $w = 3, 4, 5$.
# - **LSTM.** It reads the words in order and keeps a state; the vector is the state after the last word.
# - **BiLSTM with attention.** Two LSTMs, one from each end, give a state $h_t$ for each word. A small network gives
#   each word a number $g_t$ (its *logit*), and the vector is $\sum_t a_t h_t$ with $a = \mathrm{softmax}(g)$.

# %%
show(
    three_encoders(),
    "The three encoders on a sentence of four words, read from bottom to top: grey squares are "
    "the words' vectors x, circles what the encoder makes of each place, the blue diamond is the "
    "sentence's vector. Blue lines are what gets into it: of the CNN the window with the largest "
    "answer, of the LSTM the state after the last word, of the BiLSTM the states of all words, "
    "each as thick as its share.",
)

# %% [markdown]
# Sentences of a batch have different lengths $n$. They are filled up with padding to the longest, and padding must
# not be seen by anybody.
#
# **Exercise 02.1.** `answers[s, f, t]` is the answer of filter $f$ to sentence $s$ at place $t$. Take the largest
# over the words of the sentence. Mind that answers may all be negative.
#
# *4 minutes, easy. What it is for: keeping a sentence the same, whoever stands beside it in a batch.*
#
# hint: Make the answers beside the sentence so small that they never win. Then: the maximum over the last axis.
# hint: `answers.masked_fill(outside[:, None, :], ...)`: which number is below every answer, however negative?
# hint: `answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)`
# right: a sentence's vector depends on the sentence alone, not on how long its neighbour in the batch is
# further: Put 0 in the place of $-\infty$, and find an input for which that goes wrong. Then take the mean over the
# words in the place of the largest: what does a filter no longer tell?

# %%
def largest_answers(answers, lengths):
    """answers (sentences, filters, longest), lengths (sentences,) -> (sentences, filters)"""
    outside = ~inside(lengths, answers.shape[2])  # (sentences, longest), true on padding
    return answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)  #!

answer("02.1", largest_answers)

# %% [markdown]
# **Exercise 02.2.** Now attention: turn the logits to shares that sum to 1 over the words of each sentence. The sum
# of the states is there already.
#
# *3 minutes, easy. What it is for: letting a network choose which words it listens to.*
#
# hint: A softmax turns logits to shares that sum to 1. Over which axis? And what must a padded place get?
# hint: Over axis 1. A place of -∞ has the share e^(-∞) = 0: `logits.masked_fill(outside, -torch.inf)`.
# hint: `shares = logits.masked_fill(outside, -torch.inf).softmax(1)`; the line below it sums the states.
# right: all words take part, each with a share of its own
# further: Multiply the logits by 0, then by 1000. Between which two simple ways of making one vector out of many does
# attention lie?

# %%
def attend(states, logits, lengths):
    """states (sentences, longest, size), logits (sentences, longest), lengths (sentences,)
    -> (sentences, size)"""
    outside = ~inside(lengths, logits.shape[1])
    shares = logits.masked_fill(outside, -torch.inf).softmax(1)  #!
    return (shares[:, :, None] * states).sum(1)

answer("02.2", attend)

# %% [markdown]
# ## 2. A network of your own
#
# Now train one, with your two functions in it. A training is four things, and you write each:
#
# | part | in | out |
# | --- | --- | --- |
# | batch | some pairs of sentences | a table of word numbers, filled up, and two masks: who is whose positive, negative |
# | encoder | word numbers | a vector of length 1 for each sentence |
# | step | a batch | its loss; the network has moved a little downhill |
# | epochs | all pairs | all of them learned from once, in a new order, again and again |
#
# What they start from: every sentence as a list of word numbers (the first numbers are given to padding, 0, and to
# the unknown word, 1), vectors for these words that were made by counting, and of each sentence its **class**. Two
# sentences have one class if pairs labelled 1 join them, directly or through others.

# %%
train_pairs = questions.part("train")
reader, words = reader_and_vectors(questions, dimension=50)
texts, classes = components(train_pairs)
sentences = [reader.numbers(text) for text in texts]
number = {text: row for row, text in enumerate(texts)}
pairs = [(number[a], number[b]) for a, b in zip(train_pairs.text_a, train_pairs.text_b)]
print(len(pairs), "pairs of", len(texts), "sentences in", len(set(classes)), "classes;",
      "words and numbers of each:", words.matrix.shape)
print(texts[0], "->", sentences[0])

# %% [markdown]
# **Exercise 02.9.** Make a batch. A sentence that stands in two of the pairs gets one row. All rows are filled up with
# 0 to the longest of the batch. Sentences of one class are each other's positives, all others are negatives, and
# nobody is a positive of itself.
#
# *10 minutes, hard. What it is for: making many pairs out of a few labelled ones, which is all that a batch is.*
#
# hint: First the distinct sentences of the pairs: `dict.fromkeys(...)` keeps the first of each. Then a table of
# zeros, into which each row's words are written. Then compare the classes of all with the classes of all.
# hint: `numbers = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)`, and for each row `numbers[place,
# :lengths[place]] = torch.tensor(sentences[row])`. `labels[:, None] != labels` is N.
# hint: `rows = list(dict.fromkeys(row for pair in some for row in pair))`; P is `~N` without its diagonal, `~N &
# ~torch.eye(len(rows), dtype=torch.bool)`.
# right: a few pairs make a whole square of positives and negatives: everybody in a batch is compared with everybody
# further: In a batch of 64 pairs, count the negatives that somebody labelled 0, and those that are negatives only
# because nobody has paired them. Read a few of the second kind: are they what they are taken for?

# %%
def batch_of(some, sentences, classes):
    """some: pairs (row, row) of `sentences`, lists of word numbers; `classes` has a number for each
    -> numbers (m, longest), lengths (m,), P (m, m), N (m, m) of the m sentences in these pairs"""
    rows = list(dict.fromkeys(row for pair in some for row in pair))  #!
    lengths = torch.tensor([len(sentences[row]) for row in rows])  #!
    numbers = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)  #!
    for place, row in enumerate(rows):  #!
        numbers[place, : lengths[place]] = torch.tensor(sentences[row])  #!
    labels = torch.tensor([int(classes[row]) for row in rows])  #!
    N = labels[:, None] != labels  #!
    P = ~N & ~torch.eye(len(rows), dtype=torch.bool)  #!
    return numbers, lengths, P, N

answer("02.9", batch_of)

# %% [markdown]
# The network's parameters are these: a vector for each word; 60 filters over three words each (`padding=1` lays a
# window round every word, the first and the last, too); a logit for each word; and a linear map of both to 60 numbers.

# %%
def network(seed, dimension=50, size=60):
    torch.manual_seed(seed)
    return nn.ModuleDict(
        {
            "words": nn.Embedding.from_pretrained(torch.tensor(words.matrix), freeze=False),
            "filters": nn.Conv1d(dimension, size, 3, padding=1),  # (m, 50, n) -> (m, 60, n)
            "logit": nn.Linear(dimension, 1),
            "out": nn.Linear(size + dimension, size),
        }
    )

# %% [markdown]
# **Exercise 02.10.** Now the encoder. `net["words"](numbers)` looks up each word's vector, (m, longest, 50); make
# those of padding 0 (`inside` says which words are none), or a window at the end of a sentence would see them.
# `net["filters"]` wants the vectors as (m, 50, longest), and `net["logit"]` gives (m, longest, 1). The largest answers
# of the filters and the attended sum of the word vectors, in this order, side by side, go through `net["out"]`, and
# the result is divided by its length.
#
# *9 minutes, hard. What it is for: putting parts together until words go in and a vector comes out.*
#
# hint: Six lines: `net["words"](numbers)`; its padding set to 0; `largest_answers` of the filters' answers; `attend`
# to the word vectors; both side by side through the linear map; the length.
# hint: The filters want (m, dimension, longest): `net["filters"](x.transpose(1, 2))`. The logits come as (m, longest,
# 1): `net["logit"](x)[:, :, 0]`. `inside(lengths, longest)` is True on words.
# hint: `x = net["words"](numbers) * inside(lengths, numbers.shape[1])[:, :, None]`; at the end
# `F.normalize(net["out"](torch.cat([strongest, attended], 1)), dim=1)`.
# right: your two functions are now parts of a network: what they keep of a sentence is all that it will know
# further: Leave out the line that makes padding 0, and encode a short sentence alone and beside a long one: by how
# much do its two vectors differ? Then say why `largest_answers` and `attend` did not prevent it.

# %%
def encoded(net, numbers, lengths):
    """numbers (m, longest), lengths (m,) -> (m, 60), each row of length 1"""
    x = net["words"](numbers)  # (m, longest, 50)  #!
    x = x * inside(lengths, numbers.shape[1])[:, :, None]  #!
    strongest = largest_answers(net["filters"](x.transpose(1, 2)), lengths)  # (m, 60)  #!
    attended = attend(x, net["logit"](x)[:, :, 0], lengths)  # (m, 50)  #!
    both = net["out"](torch.cat([strongest, attended], 1))  #!
    return F.normalize(both, dim=1)  #!

answer("02.10", encoded)

# %% [markdown]
# **Exercise 02.11.** A step: forget the gradients of the step before; encode the batch; take the locality loss (eq. 8)
# of all its cosines, `locality(S, P, N, alpha=..., beta=..., base=...)` with $\alpha = 2$, $\beta = 20$ and
# $\lambda = 0.9$; ask for the gradients; let the optimiser move the
# parameters. Give the loss back as a plain number.
#
# *6 minutes, medium. What it is for: making the one move of which all training consists.*
#
# hint: The order: `optimiser.zero_grad()`, the vectors, the loss, `loss.backward()`, `optimiser.step()`.
# hint: `v = encoded(net, numbers, lengths)` has length 1 a row, so all cosines of the batch are `v @ v.T`.
# hint: `loss = locality(v @ v.T, P, N, alpha=2.0, beta=20.0, base=0.9)`; give back `loss.item()`.
# right: that is all of learning: a number that says how bad it is, and a small move that makes it smaller
# further: Do not forget the old gradients, and train one seed: what does the optimiser see from the second step on,
# and does the AUC on dev notice? Or take another loss: `from labkit.pairs import contrastive, soft_triplet` brings
# two that want the same S, P and N.

# %%
def step(net, optimiser, batch):
    """A step of the optimiser on the batch that `batch_of` made -> the loss before it"""
    numbers, lengths, P, N = batch
    optimiser.zero_grad()  #!
    v = encoded(net, numbers, lengths)  #!
    loss = locality(v @ v.T, P, N, alpha=2.0, beta=20.0, base=0.9)  #!
    loss.backward()  #!
    optimiser.step()  #!
    return loss.item()  #!

answer("02.11", step)

# %% [markdown]
# **Exercise 02.12.** The epochs. In each, all pairs come once, `size` at a time (the last time it may be fewer), in an
# order that is drawn anew; the seed decides all of them. `learn` makes a step on the pairs that it is given, and gives
# its loss back.
#
# *7 minutes, medium. What it is for: going through all pairs evenly, in an order that can be had again.*
#
# hint: A generator that is seeded once, before the first epoch, draws another order in each.
# hint: `torch.randperm(len(pairs), generator=random)` is an order; cut it into pieces of `size`, the last as long as
# it comes.
# hint: `order = torch.randperm(len(pairs), generator=random).tolist()`, and `learn([pairs[row] for row in chunk])`
# for each `chunk` of `order[at : at + size]`.
# right: nothing is left out, nothing is learned twice, and whoever has the seed has the same training
# further: Draw the order once, before the first epoch, and use it in all. Do three seeds notice? Then halve `size`:
# how many steps is that now, and what else would you have to hold fast for a fair comparison?

# %%
def train(pairs, size, epochs, seed, learn, note):
    """learn(some of the pairs) -> their loss; note(epoch, mean loss) hears of each epoch: 1, 2, …
    -> the mean loss of each epoch"""
    random = torch.Generator().manual_seed(seed)  #!
    losses = []
    for epoch in range(1, epochs + 1):
        order = torch.randperm(len(pairs), generator=random).tolist()  #!
        chunks = [order[at : at + size] for at in range(0, len(order), size)]  #!
        found = [learn([pairs[row] for row in chunk]) for chunk in chunks]  #!
        losses.append(sum(found) / len(found))
        note(epoch, losses[-1])
    return losses

answer("02.12", train)

# %% [markdown]
# That is all a training is. Run it, with three seeds and as many epochs as the package's networks below (half a
# minute, on two slow cores). The AUC says how well cosines tell duplicates from other pairs: it is the chance that a
# duplicate pair, drawn at random, has a larger cosine than a pair that is none. 0.5 is guessing.

# %%
def auc(net, split):
    """How well the cosines of a network tell the duplicates of a split."""
    part = questions.part(split)
    with torch.no_grad():  # nothing is learned here
        a, b = (
            encoded(net, *reader.batch([reader.numbers(text) for text in column]))
            for column in (part.text_a, part.text_b)
        )
    return float(roc_auc_score(part.labels, (a * b).sum(1)))

def trained_by_me(seed, epochs=6):
    """The history of a training, and the AUC on test before and after."""
    net = network(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.003)
    before, rows = auc(net, "test"), []
    with in_notebook(f"seed {seed}") as shown:
        def note(epoch, loss):
            rows.append({"epoch": epoch, "loss": float(loss), "dev_auc": auc(net, "dev")})
            shown(epoch, epochs, f"epoch {epoch} of {epochs}, loss {loss:.3f}")

        def learn(some):
            return step(net, optimiser, batch_of(some, sentences, classes))

        train(pairs, 64, epochs, seed, learn, note)
    return History(tuple(rows)), before, auc(net, "test")

mine = {seed: trained_by_me(seed) for seed in (0, 1, 2)}

# %%
show(
    training_curves({f"seed {seed}": history for seed, (history, _, _) in mine.items()}),
    "Left the mean loss of each epoch's batches, right the AUC on dev after it, over the epochs; a "
    "line and a mark for each of three seeds. The loss falls, steeply and then slowly; the AUC "
    "rises, and the seeds part in it more than in the loss.",
)

# %%
def line(name, values):
    mean, spread = statistics.mean(values), statistics.stdev(values)
    return {"network, three seeds": name, "AUC on test": f"{mean:.3f} ± {spread:.3f}"}

package = kept("sentpwnet-encoders")
theirs = ("mean of word vectors, untrained", "CNN", "BiLSTM with attention")
pd.DataFrame(
    [
        line("yours, untrained", [before for _, before, _ in mine.values()]),
        line("yours, trained", [after for _, _, after in mine.values()]),
        *(line(f"the package's: {name}", package.values(name, "auc")) for name in theirs),
    ]
).set_index("network, three seeds")

# %% [markdown]
# The untrained network is no better than the plain mean of the word vectors; three thousand pairs and six rounds
# later, it has nearly twenty hundredths more. And your network of thirty lines is ahead of the package's CNN and of its
# BiLSTM, by far more than the seeds differ. It looks at a sentence in two ways at once, for one strong window and for all
# words, each with a share of its own; it learns from all pairs and without dropout. Which of these does it? You have
# a loop now: change one thing, and train three seeds again. (Try it without the filters: put zeros in the place of
# `strongest`.)

# %% [markdown]
# ## 3. The three of the paper
#
# Back to the CNN, the LSTM and the BiLSTM with attention, as the package has them: `METHODS["sentpwnet"](...)` is an
# encoder, a miner and a loss, and `fit` is a loop like yours, with dropout.
#
# **Predict 02.a.** All three are trained on the same 3,447 pairs, in the same batches, with the locality loss and the
# keep rule. Which one has the largest AUC: `"CNN"`, `"LSTM"` or `"BiLSTM with attention"`?

# %%
guess = "BiLSTM with attention"  #!
predict("02.a", guess)

# %%
trained = {}
for encoder in ("cnn", "lstm", "bilstm"):
    trained[encoder] = METHODS["sentpwnet"](encoder=encoder, **small)
    with in_notebook(encoder) as shown:
        trained[encoder].fit(questions, seed=0, progress=shown)
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
# trained as the others. The *spread* is the standard deviation over the seeds.

# %%
encoders = package
show(
    seed_dots(encoders, "auc"),
    "The AUC on test to the right, a row for each encoder. Circles are seeds, a blue diamond "
    "their mean, its arms the spread. A filled diamond may be the best; an open one is shown to be "
    "behind. Only the mean of word vectors that were not trained lies far to the left.",
)

# %%
three = ("CNN", "LSTM", "BiLSTM with attention")
recall("02.a", " or ".join(encoders.front("auc", three)))

# %% [markdown]
# (If none of the three is shown to lead, `recall` names all that may be the best.) The BiLSTM leads, with 0.849. But
# look at the second line from the top: the plain mean of the word vectors, *trained* and put through one linear map,
# has 0.831. It reads no order at all, and whether the CNN is any better is open. From the untrained mean to it are
# fifteen hundredths; from it to the best network two hundredths. Most of what is learned here is learned in the word
# vectors and one linear map.
#
# **Exercise 02.3.** When may one say that a method *leads*? If the 95 % interval of the mean difference lies above 0.
# Seed by seed, take the difference $d_s = a_s - b_s$. With $n$ seeds, the interval is $\bar d \pm t \cdot \text{sd}(d) /
# \sqrt n$: sd is the standard deviation with $n - 1$ below the line, and $t$ is the 97.5 % point of Student's
# distribution with $n - 1$ degrees of freedom, `stats.t.ppf(0.975, n - 1)`. If the interval contains 0, it is **open**
# who is better, whatever the third digit says. Write the half width of the interval.
#
# *5 minutes, medium. What it is for: not taking luck for a lead.*
#
# hint: The standard error of the mean of n differences is their standard deviation over the root of n.
# hint: `d.std(ddof=1)` divides by n - 1. `stats.t.ppf(0.975, 2)` is 4.3: three seeds say little.
# hint: `stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))`
# right: with three seeds a lead must be 2.5 times the standard deviation of the differences to be seen
# further: Draw three figures each for two methods from one and the same normal distribution, a thousand times: how
# often does `verdict` name a leader? Compare with the rule "further apart than the larger standard deviation".

# %%
def verdict(a, b):
    """Values of two methods, one per seed, larger is better -> 'first', 'second' or 'open'"""
    d = np.asarray(a) - np.asarray(b)
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))  #!
    return "first" if d.mean() > half else "second" if d.mean() < -half else "open"

answer("02.3", verdict)

# %%
for one, other in (
    ("BiLSTM with attention", "CNN"),
    ("CNN", "LSTM"),
    ("CNN", "mean and a linear map"),
):
    found = verdict(encoders.values(one, "auc"), encoders.values(other, "auc"))
    print(f"{one} against {other}: {found}")

# %% [markdown]
# ## 4. What mining brings
#
# The keep rule (eq. 11 and 12) leaves out pairs that are in order already. $\varepsilon$ is its slack; here it is
# 0.3, the paper usually has 0.1 (section 3.3).
#
# **Predict 02.b.** Which share of the negative pairs is still kept in the last epoch of the CNN's training? A number
# between 0 and 1.

# %%
guess = 0.2  #!
predict("02.b", guess)

# %%
cnn = trained["cnn"]
show(
    weights_over_epochs(epoch_weights(cnn.snapshots, cnn.settings)),
    "120 held-out questions through the epochs, 0 is before training; positives blue, negatives "
    "orange. Above: the weights of pairs that are kept, median and the middle four fifths, each "
    "line of the grid ten times the one below it. Below: the share of pairs kept, of the positives "
    "nearly all, of the negatives ever fewer.",
)

# %%
recall("02.b", cnn.history.column("kept_negatives")[-1])

# %% [markdown]
# Of the held-out negatives far more are kept at the end than in training: the number under your prediction is of the
# training batches, which the network has seen six times, and there it is 3 %.
#
# So in training nearly all negatives are left out. The keep rule "can save up to 50% computation" (section 3.3), and
# here it leaves out far more than half. What does that save? Every
# similarity must be computed *before* one can say which to leave out, and the network has read every sentence by
# then. The loss of a batch is a sum over a small matrix; the reading is what takes the time. Measure both, on one
# batch:

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
# Reading takes far longer than either, and the rule itself costs about what it saves. The paper (section 3.3) does
# not say which computation it means; in time there is next to nothing to win here. (The lab's streaming form
# of the loss, for batches too large for a matrix, does skip what it can.)
#
# If not time, does the choice of pairs bring quality? A method is *miner ∘ weighting ∘ encoder*: put every miner
# before every loss. The miners: `all pairs`; `half at random`; `informative` (eq. 11 and 12); `hardest` (of each
# anchor the farthest positive and the nearest negative). The paper announces two ablations in section 4.1, of
# informative pairs and of the weights, and prints neither.
#
# **Predict 02.c.** With the locality loss, `informative` against `all pairs`: is it `"first"`, `"second"` or
# `"open"`?

# %%
guess = "first"  #!
predict("02.c", guess)

# %%
parts = kept("sentpwnet-parts")
show(
    seed_dots(parts, "auc"),
    "The AUC on test to the right, a row for each loss with each miner: circles are seeds, "
    "diamonds means with their spread, open where they are shown to be behind. To the left: the "
    "contrastive loss and the soft triplet with all pairs, with half of them, and with the "
    "informative ones. To the right: locality with any of the four, and the two others with the "
    "hardest pairs.",
)

# %%
informed, every_pair = (
    parts.values(f"locality, {miner}", "auc") for miner in ("informative", "all pairs")
)
recall("02.c", verdict(informed, every_pair))

# %%
pd.DataFrame(parts.rows(("auc", "accuracy", "f1"))).set_index("variant")

# %% [markdown]
# Read it in three steps.
#
# - **Weighting.** With all pairs, locality has 0.830, the soft triplet 0.773, the contrastive loss 0.768: a lead of
#   six hundredths. Section 5 asks what it is made of.
# - **The keep rule.** Under the locality loss it changes a thousandth, and the interval contains 0: what it drops is not
#   missed. The contrastive loss gains seven thousandths by it; whether the soft triplet gains is open.
# - **The hardest pairs.** They lift the contrastive loss by six hundredths and the soft triplet by five hundredths; then
#   neither is shown to be behind locality any more. Under locality they change nothing that three seeds could show.
#
# So weighting and mining are two ways to do one thing: to listen to the pairs that are not yet in order. The
# hardest-pair miner does it all or nothing, the locality loss by degrees. Who has done one of them gains nothing by
# the other, here.
#
# ## 5. Was it the weights or the dial?
#
# Six hundredths: is that what weighting is worth? The locality loss came with $\lambda = 0.9$, $\beta = 20$ and
# $\varepsilon = 0.3$; the contrastive loss with a margin of 0.5, the soft triplet with a temperature of 1, with which
# both once began. Look at one dial alone. A lone pair's pull and push are in balance at $\lambda$, whatever $\alpha$ and
# $\beta$ are (put $S_{ij} = \lambda$ into eq. 9 and 10, with one pair in the sums). So it says from where on a
# negative counts, as the margin does for the contrastive loss.
#
# **Predict 02.d.** Five networks are trained with $\lambda$ = 0, 0.3, 0.5, 0.7 and 0.9, all else alike. Which has the
# largest AUC?

# %%
guess = 0.5  #!
predict("02.d", guess)

# %%
bases = kept("sentpwnet-base")
show(
    seed_dots(bases, "auc"),
    "The AUC on test to the right, a row for each value of λ: circles are seeds, diamonds means "
    "with their spread, open where they are shown to be behind. The means stand like a staircase: each "
    "larger λ is further to the right.",
)

# %%
largest = max(bases.figures, key=lambda variant: bases.spread(variant, "auc").mean)
recall("02.d", float(largest.removeprefix("λ = ")))

# %% [markdown]
# It rises all the way, by seven hundredths. Same loss, same miner, one dial: and it moves more than the choice of the
# loss did. $\lambda$, $\beta$ and $\varepsilon$ were chosen on dev for this method alone (nobody counted the trials).
# That is no even race. As the multi-similarity loss with its miner, which it is (notebook 1), it usually has
# $\lambda = 0.5$, $\beta = 50$, $\varepsilon = 0.1$. This is the table if everybody starts where everybody
# started:

# %%
race = kept("sentpwnet-fair")
networks = ("Siamese network", "triplet network", "SentPWNet")

def table(*variants):
    """Some rows of the table, with what was done to get them."""
    rows = []
    for name in variants:
        trials = len(race.tunings[name]["trials"]) if name in race.tunings else 0
        rows.append({
            "variant": name, "encoder": "bag" if "bag" in name else "cnn",
            "seeds": len(race.figures[name]), "trials": trials,
            "chosen on": "dev" if trials else "nothing",
            "AUC": "{0.mean:.3f} ± {0.spread:.3f}".format(race.spread(name, "auc")),
        })
    return rows

pd.DataFrame(table(*(f"{name}, as it started" for name in networks))).set_index("variant")

# %% [markdown]
# With the usual values SentPWNet is behind the triplet network. So first guesses decide who leads; which table would
# tell whose *idea* is better?
#
# **Exercise 02.13.** A table is fair if its rows have the same encoder, the same seeds and the same number of trials,
# at least one, all of them chosen on dev. Say it of a list of such rows. (Values and figures may differ, of course.)
#
# *5 minutes, easy. What it is for: seeing whether a table may be asked whose idea is better.*
#
# hint: Compare each row with the first: in which columns must they be alike, and in which may they differ?
# hint: Alike: encoder, seeds, trials. And in every row: at least one trial, chosen on dev. Values and AUC may differ.
# hint: `all(row[what] == rows[0][what] for row in rows for what in ("encoder", "seeds", "trials"))`, and every row
# has `row["trials"] > 0` and `row["chosen on"] == "dev"`.
# right: what is compared differs, and nothing else: the same trunk, the same budget, and nobody has seen test
# further: Equal trials are no equal chances where one row has more dials to turn, or trains longer. Give the rows a
# column for that, and let `fair` ask for it, too.

# %%
def fair(rows):
    """rows: dictionaries with "encoder", "seeds", "trials", "chosen on", … -> True or False"""
    alike = all(row[what] == rows[0][what]  #!
                for row in rows for what in ("encoder", "seeds", "trials"))  #!
    return alike and all(row["trials"] > 0 and row["chosen on"] == "dev" for row in rows)  #!

answer("02.13", fair)

# %%
begun = [f"{name}, as it started" for name in networks]
done = [f"{name}, tuned" for name in networks]
for said, variants in (
    ("everybody as it started:      ", begun),
    ("SentPWNet tuned, not the rest:", [*begun[:2], done[2]]),
    ("all three tuned:              ", done),
):
    print(said, "fair" if fair(table(*variants)) else "not fair")

# %% [markdown]
# **Exercise 02.14.** So turn the others' dials, too, first the margin, by hand: train with each value, let dev choose,
# and see what test says of the one that it chose. (Here and in the next race the encoder is the mean through a linear
# map, for four epochs, so that it takes seconds.)
#
# *6 minutes, medium. What it is for: choosing a setting in such a way that test has no part in it.*
#
# hint: Three steps: a network for each value; of which dev thinks most; what test says of that one network.
# hint: `max(values, key=...)` gives the value whose key is largest. Which split may the key look at?
# hint: `best = max(values, key=lambda value: auc(networks[value], "dev"))`; back come `best` and the AUC of
# `networks[best]` on "test".
# right: so many trainings are the budget, dev spends it, and test has seen one network only
# further: Let test choose in the place of dev, with the margins of the next cell. Which figure would you have
# reported, and for how many values must one search before that makes a difference?

# %%
def tuned(values, train, auc):
    """train(value) -> a network; auc(network, split) -> its AUC on "train", "dev" or "test"
    -> (the best value, the AUC of its network on test)"""
    networks = {value: train(value) for value in values}  #!
    best = max(values, key=lambda value: auc(networks[value], "dev"))  #!
    return best, auc(networks[best], "test")  #!

answer("02.14", tuned)

# %%
quick = small | {"encoder": "mean", "epochs": 4}

def with_margin(margin):
    method = METHODS["siamese"](margin=margin, **quick)
    with in_notebook(f"margin {margin}") as shown:
        method.fit(questions, seed=0, progress=shown)
    return method

def auc_of(method, split):
    return selection(method, questions.part(split))[1]

for values in ([0.5], [0.3, 0.7, 0.9]):
    margin, after = tuned(values, with_margin, auc_of)
    print(f"margin {margin}, of {len(values)} that were tried: {after:.3f} on test")

# %% [markdown]
# That was one dial. Now all dials of both sides, tuned by as many trials: eight each, on a part of the pairs and for half
# of the epochs. `tune` proposes values, the first time those that everybody started with, and asks dev what they are
# worth.
#
# **Predict 02.g.** Three losses, sixteen trials each, five seeds: who leads by then, `"SentPWNet"`,
# `"Siamese network"`, `"triplet network"`, or several of them, as `"Siamese network or SentPWNet"`?

# %%
guess = "SentPWNet"  #!
predict("02.g", guess)

# %%
here = {}
for name, first in (("siamese", {"margin": 0.5}),
                    ("sentpwnet", {"base": 0.5, "beta": 50.0, "epsilon": 0.1})):
    trial = Experiment(name, questions, quick)
    with in_notebook(f"trials of {name}") as shown:
        found = tune(trial, first=first, **PROTOCOL | {"trials": 8}, progress=shown)
    best = METHODS[name](**found.settings)
    with in_notebook(name) as shown:
        best.fit(questions, seed=0, progress=shown)
    here[name] = auc_of(best, "test")
    values = ", ".join(f"{key} {value}" for key, value in found.best.tried.items())
    print(f"{name:10} {here[name]:.3f} on test, by {len(found.trials)} trials: {values}")
print(f"SentPWNet's lead, seed 0: {here['sentpwnet'] - here['siamese']:+.3f}; in the table,",
      f"{race.lead('SentPWNet, tuned', 'Siamese network, tuned', 'auc').lead:+.3f} by the mean")

# %% [markdown]
# One seed each, by few trials on a part of the pairs. Here is the whole race: CNNs, sixteen trials each on all pairs, the
# triplet network, too, five seeds; and a row from outside, a **bag of word pieces**. It has no network at all, but a vector for
# each piece of a word, and their mean, learned with the contrastive loss in seconds, and tuned like the others.

# %%
show(
    seed_dots(race, "auc"),
    "The AUC on test to the right, a row for each method as it started and as it is tuned: circles "
    "are seeds, diamonds means with their spread. Tuned, all three networks are further to the "
    "right than any that started, and close together; the bag of word pieces is ahead of them all.",
)
pd.DataFrame(table(*done, "bag of word pieces, tuned")).set_index("variant")

# %%
level = race.front("auc", done)
recall("02.g", " or ".join(name.removesuffix(", tuned") for name in level))

# %% [markdown]
# What became of the lead? Each line is SentPWNet's AUC less the other's, with its 95 % interval: how far from it other
# seeds might have come (Student's, of five).

# %%
for other in ("Siamese network", "triplet network", "bag of word pieces"):
    for ours, theirs in (("as it started",) * 2, ("tuned", "as it started"), ("tuned",) * 2):
        if f"{other}, {theirs}" in race.figures:
            lead = race.lead(f"SentPWNet, {ours}", f"{other}, {theirs}", "auc")
            low, high = lead.interval()
            said = "0 is inside" if low <= 0 <= high else "ahead" if low > 0 else "behind"
            print(f"{ours:13} against {other}, {theirs:13} {lead.lead:+.3f}",
                  f"[{low:+.3f}, {high:+.3f}] {said}")

chosen = pd.DataFrame({name: each["chosen"] for name, each in race.tunings.items()}).T
chosen.map(lambda value: "" if pd.isna(value) else value).astype(object)

# %% [markdown]
# Tune one side, and SentPWNet is eleven hundredths ahead of the Siamese network. Tune both, and the interval has 0 in it,
# against either network: on these questions no lead is left that other seeds might not undo. See what was chosen: all of
# them take larger steps (the learning rate was 0.003), a dial that belongs to no loss. And the bag is two hundredths ahead
# of the best network. (What is still not even: SentPWNet has more dials for as many trials. And seeds are not all: another
# draw of test pairs would widen each interval.)
#
# A warning about this page: the staircase and the tables are of *test*. They say what a dial does. Whoever *chose* a
# value by them would do with dials what section 6 does with thresholds.
#
# ## 6. The threshold, honest and leaking
#
# AUC needs no threshold. Whoever wants to *say* "duplicate" does: a pair is called the same if its cosine is above
# $t$. How $t$ is found, section 4.2.1 says twice, and differently. Algorithm 1, as printed, computes the accuracy of
# each threshold **on the test set** $P$ and keeps the best: the pairs that are scored help to choose what they are
# scored by, a *leak*. But the text around it speaks of a "threshold set", and names it: the development set for QQP,
# the whole training set for MRPC. Then nothing of test leaks. Which of the two made table 2 cannot be seen from
# outside. What the difference is worth can be measured.
#
# **Exercise 02.5.** Do it honestly. `best_threshold(scores, labels)` finds the $t$ of highest accuracy. On which pairs?
#
# *2 minutes, easy. What it is for: getting an accuracy that one may believe.*
#
# hint: Two steps. Which of the four arrays may the first step see?
# hint: `threshold = best_threshold(dev_scores, dev_labels)`; a pair is called the same if its score is above it.
# hint: `((test_scores > threshold) == (test_labels == 1)).mean()`
# right: no label of test has been seen before it is scored
# further: Once `scored` is there, take the threshold from the training pairs: `scored(cnn, "train")`. Is it higher or
# lower than that of dev, and what has the network to do with it?

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
    a, b = method.encode(part.text_a), method.encode(part.text_b)
    return method.similarity_pairwise(a, b), np.array(part.values)

dev, test = scored(cnn, "dev"), scored(cnn, "test")

# %% [markdown]
# **Predict 02.e.** By how many *points* (hundredths of accuracy) does the leaking figure lie above the honest one, on
# the test pairs of `questions`?

# %%
guess = 5.0  #!
predict("02.e", guess)

# %%
show(
    threshold_curves(*dev, *test),
    "Accuracy over the threshold t, on dev (dashed, orange) and on test (blue). The circle is the "
    "honest figure: the accuracy on test at the threshold that is best on dev. The cross is the "
    "top of test itself, what a threshold chosen there reports. The two lie close together.",
)

# %%
leaking, right = float(honest(*test, *test)), float(honest(*dev, *test))
print(f"chosen on dev {right:.3f}, chosen on test {leaking:.3f}")
recall("02.e", 100 * (leaking - right))

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
        gains.append(float(honest(*part, *part)) - float(honest(*dev, *part)))
    print(f"{count:4} test pairs: the leak is worth {100 * np.mean(gains):.1f} points")

# %% [markdown]
# **Exercise 02.6, a small experiment.** Take the network away. A score is drawn at random, the labels of 50 pairs are
# 0 and 1, half of each: nothing can be known, and the honest accuracy is 0.5. Search the threshold on these same 50
# pairs. Which accuracy does one report, on average over some hundreds of draws? (Within 0.01.)
#
# *5 minutes, medium. What it is for: seeing a leak bare, with no network and no data around it.*
#
# hint: Draw 50 random scores; the labels are 0 and 1 in turn. Search the best threshold on these very pairs.
# hint: `best_threshold(scores, labels)`, the share of right decisions; the same some hundred times; the mean.
# hint: `np.mean([best_accuracy(random.random(50)) for _ in range(400)])` comes to 0.58.
# right: eight points out of nothing: that is what 'chosen on the test set' can be worth
# further: Do it for 25, 100 and 400 pairs. What happens to the surplus when there are four times as many pairs?

# %%
random, labels = np.random.default_rng(0), np.arange(50) % 2
draws = random.random((500, 50))
reported = np.mean([float(honest(scores, labels, scores, labels)) for scores in draws])  #!
answer("02.6", reported)

# %% [markdown]
# So a leaking figure is not a little optimistic by nature: it is as optimistic as the test set is small. QQP's 10,000
# test pairs (section 4.2.1) and MRPC's 1,725 are many. So even if table 2 was made by Algorithm 1 as it is printed,
# that was cheap. A threshold from the training pairs, as section 4.2.1 has it for MRPC, is another matter: it leaks
# nothing, but the network has learned from these pairs, and their cosines may lie elsewhere than those of new ones.
#
# ## 7. A code whose beginnings are no cells
#
# Section 4.3 is about *places*: a shop is noted down by several people, in several ways, and all records of one shop
# shall be found. A record becomes one sentence of characters: address, name, and "a Geohash of length 19" of its
# position. The beginning of a geohash is the geohash of a larger cell: two places that share it are near each other,
# and a network that reads characters could learn that. But a geohash has letters, and the codes that the paper prints
# (tables 5 and 7) have none. They are the ids of cells of another grid, **S2**, written as decimal numbers.

# %%
places = load("places")
record = places.part("test")
for row in range(2):
    print(record.labels[row], "|", record.texts[row])
for code in (3760125996951404544, 3919372159020957696, 3748128673543225344):
    print(code, "an S2 cell:", cell_id_is_valid(code), "of level", cell_id_to_level(code))

# %% [markdown]
# All three are cells of level 18; a random number of 19 digits would be one once in some thirty million. S2 lays six
# squares around the Earth and halves each side again and again; at level 18 a cell is some 35 m wide. An id has 64
# bits: 3 for the square, 2 for each level, then a single 1, the **marker**, then zeros to the end. For level $\ell$
# the marker is bit $2\,(30 - \ell)$. So a larger cell is a shorter beginning *of the bits*.
#
# **Exercise 02.7.** Given a cell and a coarser level, find the cell of that level around it: clear what lies below
# the new marker, and set the marker. (For a power of two, `cell & -marker` clears all bits below it.)
#
# *5 minutes, medium. What it is for: knowing what a code can tell a network before one trains on it.*
#
# hint: The level's marker is the lowest bit that is set, bit 2 (30 - level). Below it all bits are 0.
# hint: Two steps: clear what is below the marker with `&`, then set the marker's own bit with `|`.
# hint: `(cell & -marker) | marker`
# right: a larger cell takes away bits, two a level; decimal digits do not line up with them
# further: Write an id as its first 3 bits, then a digit from 0 to 3 for each level: now a larger cell *is* a shorter
# code. How many leading digits do couples 3 m apart share, and does an edge still part some of them early?

# %%
def parent(cell, level):
    """The id of an S2 cell -> the id of the cell of this level around it"""
    marker = 1 << (2 * (30 - level))
    return (cell & -marker) | marker  #!

answer("02.7", parent)

# %% [markdown]
# **Predict 02.f.** Two records lie 3 m apart, as when two people stand at one door. Of 1,000 such couples, how many
# of the 19 leading digits does the couple share that shares *fewest*?

# %%
guess = 15  #!
predict("02.f", guess)

# %%
here = int(s2_code(48.0, 9.0))
for level in (18, 16, 14):
    print(f"level {level}  {int(parent(here, level))}   {int(parent(here, level)):064b}")

def shared_digits(metres, couples=1000):
    """Leading digits that the codes of two points so far apart have in common, in Europe."""
    random, found = np.random.default_rng(0), []
    spots = random.uniform((40, 0, 0), (55, 20, 2 * np.pi), (couples, 3))
    for latitude, longitude, angle in spots.tolist():
        north = metres * np.cos(angle) / 111_195
        east = metres * np.sin(angle) / 111_195 / np.cos(np.radians(latitude))
        codes = s2_code(latitude, longitude), s2_code(latitude + north, longitude + east)
        found.append(len(commonprefix(codes)))
    return found

for metres in (3, 300):
    digits = shared_digits(metres)
    if metres == 3:
        fewest = min(digits)
    print(f"{metres:3} m apart, digits shared: {min(digits):2} to {max(digits):2},",
          f"median {np.median(digits):.0f}")
recall("02.f", fewest)

# %% [markdown]
# In bits, each level is the one before with two bits less. The decimals on the left show no such thing: digits in the
# middle change, and none is ever cut. Most couples that are 3 m apart lie in one cell and share all 19 digits; but an
# edge of a large cell may run between the two, and then they share few. So the first digits of such a code say roughly
# where a place is, and nothing about which cells it lies in: what a network can learn from them is less than "a
# Geohash" (section 4.3) promises.
#
# ## 8. Places
#
# Train on places: the package's CNN, now over characters. **Hit@k** is the share of records for which one of the $k$
# nearest other records is of the same place.

# %%
placed = METHODS["sentpwnet"](**small | {"dimension": 30})
with in_notebook("places") as shown:
    placed.fit(places, seed=0, progress=shown)
codeless = [text.rsplit(" <PAD> ", 1)[0] for text in record.texts]
for said, texts_of in (("as they are", record.texts), ("without their codes", codeless)):
    hits = hit_at(placed.encode(list(texts_of)), record.labels)
    print(f"records {said:20}", {f"Hit@{k}": round(value, 3) for k, value in hits.items()})
pd.DataFrame(kept("sentpwnet-places").rows(("hit@1", "hit@3", "hit@10"))).set_index("variant")

# %% [markdown]
# Trained once, so the two lines are a hint and no more: taking the code away costs few of the first places, and more of
# the first ten. The table has the three losses, all pairs, three seeds each. Between locality and the contrastive loss it
# is open: locality has the larger means, by 0.015 at Hit@1 and 0.039 at Hit@3, and each interval contains 0. The soft
# triplet is behind locality. (As in section 4, margin and temperature are as they started: a lead of one side's dials.)
#
# Figure 2 of the paper shows records of five places as points, and gives one number for how well they are parted:
# *inter / intra*, how far the centre of a place is from the nearest other centre, over how far records are from their
# own. Section 4.4 calls the picture a PCA, the caption a t-SNE, and neither says whether the number, 2.99, is of the
# vectors or of the picture. That matters. Here are the records of the first five places of the test split:

# %%
first = list(dict.fromkeys(record.labels))[:5]
five = record.take([row for row, label in enumerate(record.labels) if label in first])
rows = placed.encode(list(five.texts))
picture = pca(rows)
for said, points in (("the vectors", rows), ("the picture", picture.points)):
    print(f"inter / intra of {said}: {inter_intra(points, five.labels).ratio:.2f}")
show(
    clusters(picture, five, height=420),
    "The records of five places as points in the plane of the two directions along which they "
    "spread most (PCA); the colour says which place. Some places keep together, and the records of "
    "others lie far apart, between those of their neighbours.",
)

# %% [markdown]
# 0.97 and 1.23: the same 22 records, the same vectors, and the picture flatters, for it has kept 2 of 60 directions,
# those along which the records spread most. Whoever prints such a number must say of what. (Ours is not to be held
# against 2.99. The corpus makes its places by fives that are easily mistaken: a shop, its neighbour in the same
# building, its branch, its namesake in the next town, and one of nearly the same name; and the network of section 4.4
# was trained for 100 epochs.)
#
# ## 9. One vector each, or both together?
#
# All of this is a **bi-encoder**: each sentence gets a vector by itself, and a pair is a dot product. A
# **cross-encoder** reads both sentences as one row and gives a score; its words can look at each other. Section 4.1
# announces a comparison of their speed, and no table has it.
#
# With `n` stored sentences and `q` questions, each compared with all of them, a bi-encoder reads `q + n` texts, and a
# cross-encoder `q * n` pairs: a sum against a product.
#
# Now train a small cross-encoder, a BiLSTM with attention like ours, twice.

# %%
reader_accuracy = []
for seed in (0, 1):
    crossed = PairReader(CrossSettings(size=60, dimension=50, epochs=3, patience=0))
    with in_notebook(f"seed {seed}") as shown:
        crossed.fit(questions, seed=seed, progress=shown)
    parts_read = [questions.part(split) for split in ("dev", "test")]
    cross = [crossed.scores(part.text_a, part.text_b) for part in parts_read]
    reader_accuracy.append(pair_classification(cross[0], dev[1], cross[1], test[1]).accuracy)
print("cross-encoder, accuracy on test:  ", [round(value, 3) for value in reader_accuracy])
known = encoders.values("BiLSTM with attention", "accuracy")
print("BiLSTM as bi-encoder, the table's:", [round(value, 3) for value in known])

# %%
bi, gallery = trained["bilstm"], questions.part("test").sentences()[:800]
stored, query = bi.encode(gallery), questions.part("dev").text_a[0]
for count in (100, 200, 400, 800):
    quick = quickest(lambda: bi.similarity(bi.encode([query]), stored[:count]), 3)
    slow = quickest(lambda: crossed.scores([query] * count, gallery[:count]), 3)
    print(f"one query, {count:4} sentences: bi-encoder {quick:6.1f} ms,", end=" ")
    print(f"cross-encoder {slow:6.1f} ms")
print(f"a million sentences, at the same pace: {slow / count * 1000:.0f} s a query, cross-encoder")

# %% [markdown]
# The cross-encoder's time grows with the number of sentences, the other's hardly: its sentences are vectors already,
# and a dot product is cheap. That is the part of the comparison that holds for networks of any size.
#
# The accuracy is another matter. This cross-encoder is small, starts from nothing and sees the pairs three times: it
# is little better than guessing, since it must first find out that words of the one sentence are to be looked for in
# the other, what a bi-encoder with a cosine has built in. The large pretrained ones of the introduction (section 1:
# BERT, twenty hours a query for a million sentences) are not that weak. So nothing here says that cross-encoders are
# worse, only that they are slow, and that reading both sentences together is no gift by itself.
#
# ## The same loss on a model that knows English
#
# Every network of this notebook began with nothing but the questions. Whoever has a task of their own today begins with
# a model that has read more than a thousand million pairs of sentences, and trains it a little further. The loss can be
# the same: `labkit.adapters.losses` gives ours in the form that sentence-transformers' own trainer calls (the README has
# the lines), and `--set encoder=transformer` trains the last layers of such a model inside the lab. Notebook 11 takes
# that up: what it brings over starting from nothing, with how many labels, and what is forgotten on the way. Its table
# has MiniLM as it comes, and with its last layer trained on a quarter of these pairs:

# %%
pretrained = kept("start-forgetting")
for name in ("MiniLM and a map, no labels", "MiniLM, its last layer, 1/4"):
    print(f"{name:28} AUC on test {pretrained.spread(name, 'auc').mean:.3f}")

# %% [markdown]
# It begins where the networks above end. Beware of the comparison, though: the model has read questions that people
# asked, Quora's among them, so that its figures on those flatter. The questions here are made by a program, and nobody
# has read them.
#
# ## What you have seen
#
# | question | answer, on these data |
# | --- | --- |
# | what is a training? | a batch, an encoder, a step, epochs: thirty lines, ahead of the package's networks here |
# | which encoder? | of the paper's three the BiLSTM with attention leads; the CNN is not shown to be better than a trained mean of words |
# | weighting? | six hundredths of AUC where one side was tuned; once all three are, nothing is sure |
# | mining? | the keep rule: nothing shown under locality. With the hardest pairs the other two losses are no longer behind it |
# | which dial? | $\lambda$ alone seven hundredths, as much as a loss; the learning rate, which is nobody's idea |
# | the threshold on the test set? | 0.8 points with 956 pairs, 4.5 with fifty, and eight out of pure noise |
# | a geohash? | no: the decimal number of an S2 cell of level 18, whose leading digits are no larger cells |
# | a fair race? | the same encoder, seeds and number of trials, chosen on dev. A bag of word pieces wins it |
# | cross-encoder? | its time grows with the number of sentences; at this size it is no better either |
#
# All of it was measured on sentences that a program has made, at a size that a laptop trains in seconds. What people
# wrote, at larger sizes, is measured by `labkit reproduce` (its figures are in `docs/RESULTS.md`): read that before you
# believe it of others.
#
# ## Further reading
#
# - Zhang, Li and Wang, [*SentPWNet*](https://arxiv.org/abs/2005.11347) (2020). Sections 3.1 and 3.3 are the part
#   to read twice.
# - Wang, Han, Huang, Dong and Scott, [*Multi-Similarity Loss with General Pair
#   Weighting*](https://arxiv.org/abs/1904.06627) (CVPR 2019): where the locality loss and its keep rule come from, with
#   the two ablations that section 4.1 announces, on pictures.
# - Musgrave, Belongie and Lim, [*A Metric Learning Reality Check*](https://arxiv.org/abs/2003.08505) (ECCV 2020): what
#   is left of the leads of metric learning once everybody's dials are turned alike and thresholds do not leak.
# - Kim, [*Convolutional Neural Networks for Sentence Classification*](https://aclanthology.org/D14-1181) (EMNLP 2014):
#   filters over words and the largest answer of each, in a few pages.
# - Reimers and Gurevych, [*Sentence-BERT*](https://arxiv.org/abs/1908.10084) (EMNLP 2019): the same two towers with a
#   pretrained encoder, and what a cross-encoder costs beside them.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** Each row of the table of λ was measured honestly. Why may its best row not be reported as what the method can
# do?
#
# <details><summary>An answer</summary>
#
# Each figure is honest, but the choice among them was made on test. The largest of several figures of one test split
# is too large on average, for it is chosen for its luck, too, as a threshold searched on test is. What may be
# reported is the figure on test of the value that dev chose.
#
# </details>
#
# **2.** The hardest pairs lift the contrastive loss and change nothing under the locality loss. Why is that no
# surprise?
#
# <details><summary>An answer</summary>
#
# Under the contrastive loss all pairs that count weigh 1, whether nearly in order or hopelessly out of it, and there a
# miner is the only one who chooses. Under the locality loss a negative that is in order has next to no weight
# already. Taking it out removes what was not there.
#
# </details>
#
# **3.** A cross-encoder is slow, a bi-encoder quick. How would you use both for one search, and what must you measure
# then?
#
# <details><summary>An answer</summary>
#
# Let the bi-encoder, whose vectors are stored, find some dozens of candidates, and let the cross-encoder read the
# question with these only. What the first has missed the second cannot bring back. So measure of the first how often
# the right sentence is among its candidates, and of both together where it ends up.
#
# </details>

# %%
progress("02")
