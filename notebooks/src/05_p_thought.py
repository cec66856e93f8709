# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 5 · P-thought: say it in other words
#
# **If a network can paraphrase a sentence from its vector alone, has it understood the sentence?** P-thought takes the idea
# literally: one encoder reads a sentence into one vector, and from that vector one decoder writes the sentence again and
# another one a paraphrase. You train it, read what it writes, and find out how its score can be fooled.
#
# *70 minutes, 31 of them for the exercises. You need notebook 1, and to know what a recurrent network is. One training takes
# 20 to 30 seconds.*
#
# The paper is *Paraphrase thought: Sentence embedding module imitating human language recognition*
# ([Jang and Kang 2020](https://doi.org/10.1016/j.ins.2020.05.129)).

# %%
import math

import numpy as np
from scipy.spatial.distance import pdist

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.course.ablation import again, kept
from labkit.course.plans import PLANS
from labkit.shipped import DEMONSTRATIONS
from labkit.explore import Slider, explore, show
from labkit.figures import coherence_hills, decoder_curves, paraphrase_groups
from labkit.methods import load_run
from labkit.papers.published.pthought import LAMBDAS, OBJECTIVE
from labkit.pthought import Search
from labkit.pthought.view import companions
from labkit.pthought.view import handful, plane

captions = load("captions")
test = captions.part("test")
network = load_run(DEMONSTRATIONS["pthought-captions"].folder)

# %% [markdown]
# ## 1. One vector, two writers
#
# The data are groups of sentences that describe one scene. This is a group:

# %%
for text in next(iter(test.members().values())):
    print(text)

# %% [markdown]
# A GRU, a recurrent network, reads the words of a sentence $x$, once from each end; its two last states, side by side,
# are the sentence's vector $v$ (section 5.1, the first of three forms). Two other GRUs write from $v$, a word at a time
# (section 4.1). The *copy* decoder (the paper's auto-decoder, section 4.1; *auto* in the lab) should write $x$ itself,
# the *paraphrase* decoder another sentence of the group.
#
# What each pays is the mean of $-\log p$ over the words it should have written: $\ell_\text{auto}$ and
# $\ell_\text{para}$. (The paper says negative log likelihood, section 4.2; whether that is a sum or a mean it leaves
# open.) The two are added,
#
# $$L = (1 - \lambda)\, \ell_\text{auto} + (1 + \lambda)\, \ell_\text{para}, \qquad 0 < \lambda < 1 \qquad \text{(eq. 10)}$$
#
# A λ below 0, down to -1, is allowed too; section 4.2 prefers one above 0, since copying is the easier task.
#
# **Exercise 05.1.** Write it.
#
# *2 minutes, easy. What it is for: seeing that λ is a weight and nothing else.*
#
# hint: What the paraphrase counts more, the copy counts less.
# hint: The copy has the factor 1 - λ. The two factors add up to 2.
# hint: `(1 - emphasis) * copy + (1 + emphasis) * paraphrase`
# right: a weighted sum, and no more: nothing in it ever finds λ
# further: Divide L by 2, and it is a mean of the two losses. With which weights, at λ = -1, 0 and 1? Then train the
# network of section 2 with `emphasis=0.9`, λ by another name, and compare what is written.

# %%
def objective(copy, paraphrase, emphasis):
    """the two losses and λ -> L"""
    return (1 - emphasis) * copy + (1 + emphasis) * paraphrase  #!

answer("05.1", objective)

# %% [markdown]
# ## 2. Both decoders, trained here and now
#
# The network learns from 695 groups of captions. It is small: a vector has 48 numbers, where the paper's have 2,400
# (section 5.1). In an epoch every sentence is read once, with one paraphrase to write, and with the next one in the next
# epoch. First the network as it begins, its weights drawn by lot; then eight epochs.

# %%
small = {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "batch": 32, "learning_rate": 0.02}
before = METHODS["pthought"](**small, epochs=0)
before.fit(captions, seed=0)


def tell(done, total, what):
    """a line every hundred steps"""
    if done % 100 == 0:
        print(what)

after = METHODS["pthought"](**small, epochs=8)
after.fit(captions, seed=0, progress=tell)
history = after.history

# %% [markdown]
# What both decoders paid, the mean over each epoch:

# %%
copied, other = history.column("l_auto"), history.column("l_para")
show(
    decoder_curves(history, words=before.reading.writable),
    "To the right the epochs, upwards the loss, the mean of -log p of a word. "
    f"Blue circles: the copy, from {copied[0]:.2f} to {copied[-1]:.2f}. "
    f"Orange diamonds, dashed: the paraphrase, from {other[0]:.2f} to {other[-1]:.2f}. Both fall, "
    "steeply at first, and the paraphrase goes on costing more than the copy. "
    "Dotted: what a guess among all words costs.",
)

# %% [markdown]
# And what they write, before and after (the first twelve words), from two sentences of the test split:

# %%
for text in (test.texts[0], test.texts[12]):
    print(text)
    for decoder in ("auto", "paraphrase"):
        for when, method in (("before", before), ("after", after)):
            (written,) = method.paraphrase([text])[0].written[decoder]
            print(f"   {decoder:10} {when:6}  {' '.join(written.text.split()[:12])}")

# %%
for when, method in (("before", before), ("after", after)):
    paid = method.losses(captions, split="test")
    print(f"{when:6}  copy {paid['auto']:.2f}, paraphrase {paid['paraphrase']:.2f}: on test")

# %% [markdown]
# Before, any word follows any other. After, both decoders have the grammar of a caption and often its theme: they have
# learned which words follow one another, and to ask the vector which theme it is. The details are mostly invented. The
# losses have fallen on test, too, on scenes that the network has not seen.
#
# More than that nobody may say. It is one training with one seed, and nothing was compared: not one λ with another, not
# two decoders with one. Section 8 below does that, with three seeds each.
#
# ## 3. What λ does to the objective
#
# From here on we use a network that came with the lab, with the same settings and six epochs.
#
# Section 4.2 brings λ in as a Lagrange multiplier. A multiplier would be moved, up or down, while one learns. Nothing
# moves this one: it is a weight, and it was sought by trying eight values for the one with the smallest $L$ on
# validation data (section 4.2 and appendix B, table B.9).
#
# **Predict 05.a.** Take one network, trained already, and let only λ change in the formula. Writing a paraphrase is
# harder than copying. Which λ then has the smallest $L$: `"the smallest"`, `"one in the middle"` or `"the largest"`?

# %%
guess = "one in the middle"  #!
predict("05.a", guess)

# %%
paid = network.losses(captions, split="test")
print(f"copy {paid['auto']:.3f}, paraphrase {paid['paraphrase']:.3f}: -log p of a word, test\n")
for value in LAMBDAS:
    loss = np.asarray(objective(paid["auto"], paid["paraphrase"], value)).item()
    print(f"λ = {value:5}: L = {loss:.3f}")
recall("05.a", "the smallest")

# %% [markdown]
# Nothing was trained here. The same network gets a better and a worse $L$, because $L$ is another yardstick for each λ.
# It says nothing about which λ is good.
#
# ## 4. A table that tells on itself
#
# Table B.9 prints eight values of λ and the loss that each came to on validation data.
#
# **Exercise 05.2.** Fit a line to points $(x, y)$: its value at 0, and its slope.
#
# *3 minutes, easy. What it is for: finding in a table the number that does not go with the rest.*
#
# hint: `np.polyfit(x, y, 1)` fits a line; in which order does it give its two numbers?
# hint: The slope comes first. It is asked for second.
# hint: `slope, start = np.polyfit(x, y, 1); return start, slope`
# right: a line says how eight experiments hang together, and which one does not
# further: Leave out each of the eight points in turn and fit the other seven. Can you tell which is the odd one
# without having looked at the picture first?

# %%
def line(x, y):
    """x (n,), y (n,) -> value at 0, slope: of the line with the smallest sum of squares"""
    slope, start = np.polyfit(x, y, 1)  #!
    return start, slope  #!

answer("05.2", line)

# %%
x, y = np.array(LAMBDAS), np.array(OBJECTIVE)
for name, used in (("all eight", x > 0), ("without λ = 0.01", x != 0.01)):
    start, slope = map(float, np.ravel(line(x[used], y[used])))
    print(f"{name}: {start:.3f} + {slope:.3f} λ")
    for one, value in zip(x, y):
        off = value - (start + slope * one)
        bar = "█" * round(40 * abs(off))
        print(f"   λ = {one:5}   printed {value:.3f}   less the line {off:+.3f}  {bar}")

# %% [markdown]
# Seven of the eight lie on one line, to within 0.04. One lies 0.83 below it: λ = 0.01, the smallest of table B.9 and so the
# one that its search chooses. Its neighbours, 0.005 and 0.02, differ from the line by less than a hundredth each. It is
# almost certainly a misprint. But stay with the line.
#
# **Exercise 05.3.** If λ had no influence on the two losses, $L$ would be a line in λ. Which losses belong to its value at 0 and its slope?
#
# *5 minutes, medium. What it is for: reading off two losses from a table that prints neither.*
#
# hint: Sort (1 - λ) copy + (1 + λ) paraphrase by powers of λ.
# hint: The value at 0 is copy + paraphrase, the slope is paraphrase - copy.
# hint: `(start - slope) / 2, (start + slope) / 2`
# right: an objective that is a line in λ comes from two losses that λ does not move
# further: Make such a table of `network.losses(captions, split="test")` for the eight λ, and get both losses back by
# `line` and `parts`. Then misprint one value: how far do they move?

# %%
def parts(start, slope):
    """the line's value at 0, and its slope -> the copy's loss, the paraphrase's loss"""
    return (start - slope) / 2, (start + slope) / 2  #!

answer("05.3", parts)

# %%
copy, paraphrase = map(float, np.ravel(parts(start, slope)))
print(f"copy {copy:.3f}, paraphrase {paraphrase:.3f}: if they are means over words, that is")
means = math.exp(-copy), math.exp(-paraphrase)
print(f"p = {means[0]:.2f} and {means[1]:.2f} for the right word, in the geometric mean")

# %% [markdown]
# So the table looks like this: from λ = 0.005 to 0.9 both losses stayed nearly what they were, and copying was all but
# perfect throughout. A small λ wins because the formula gives the large loss a smaller factor. To choose λ one needs a
# figure that does not contain it.
#
# ## 5. P-coherence
#
# P-coherence is the paper's figure for the vectors themselves (section 3.2): paraphrases should lie together. For a group
# $g$ with $n_g$ sentences, and $G$ groups,
#
# $$\text{P-coherence} = \frac{1}{G} \sum_g \frac{2}{n_g (n_g - 1)} \sum_{i < j \in g} \cos(v_i, v_j) \qquad \text{(eq. 3 to 5)}$$
#
# **Exercise 05.4.** Write it.
#
# *3 minutes, easy. What it is for: measuring the vectors themselves, with no task.*
#
# hint: Rows of length 1 first: then a product is a cosine. For each group, the mean over its pairs i < j.
# hint: `np.triu_indices(len(S), 1)` gives each pair once, and no sentence with itself.
# hint: `np.mean([(rows[g == c] @ rows[g == c].T)[np.triu_indices((g == c).sum(), 1)].mean() for c in set(g)])`
# right: it looks within groups only: what lies between them it never sees
# further: Write the mean cosine of sentences of *different* groups in the same way. Name a set of vectors for which
# both are 1.

# %%
def coherence(vectors, groups):
    """vectors (n, d), the group of each (n,) -> P-coherence"""
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    means = []
    for name in np.unique(groups):
        own = rows[groups == name]
        pairs = (own @ own.T)[np.triu_indices(len(own), 1)]  #!
        means.append(np.mean(pairs))
    return np.mean(means)

answer("05.4", coherence)

# %%
groups = np.array(test.groups)
vectors = network.encode(list(test.texts)).astype(float)
found = companions(vectors, groups)
yours = np.asarray(coherence(vectors, groups)).item()
print(f"yours {yours:.4f}, the package's {found.figures.within:.4f}\n")
for row in found.rows():
    print(f"{row['figure']:10} {row['value']:.3f}   {row['meaning']}")

# %% [markdown]
# The lab never gives P-coherence alone. Below are the cosines of pairs of one group, and of pairs of different groups.
# The two lines are the means; the gap between them is the **lift**. **Retrieval** asks for each sentence whether the
# nearest of all others is of its group. There are 1,020 sentences, five to a group: chance would be right in 4 of 1,019
# cases.

# %%
show(
    coherence_hills(found),
    "To the right the cosine, upwards the share of the pairs. Blue: pairs within a group, around "
    f"{found.figures.within:.2f} (solid line). Orange, hatched: pairs of different groups, around "
    f"{found.figures.between:.2f} (dashed line). The hills overlap: some pairs of strangers are "
    "nearer than some paraphrases.",
)

# %% [markdown]
# Six groups in the plane (PCA): a letter a scene, a mark a sentence. Point at one to read it.

# %%
few = handful(list(test.members().values()), count=6, seed=1)
show(
    paraphrase_groups(few, plane(network.encode(list(few.texts)))),
    "A mark is a sentence; colour, shape and letter are its scene, and thin lines join it to the "
    "middle of its scene. Sentences of one scene mostly lie in one region, but the regions are "
    "wide. The two axes, from a PCA, have no unit.",
)

# %% [markdown]
# ## 6. How to reach .99
#
# P-coherence looks only *within* groups. So there is a simple way up: let everything lie together.
#
# **Exercise 05.5.** Bring the vectors to length 1 and mix each with one common vector $c$:
# $(1 - t)\, v / \lVert v \rVert + t\, c$.
#
# *4 minutes, easy. What it is for: fooling a figure on purpose, to learn what it cannot see.*
#
# hint: Divide each row by its length, so that t means the same for all.
# hint: A share 1 - t of the row, a share t of the common vector.
# hint: `(1 - t) * vectors / np.linalg.norm(vectors, axis=1, keepdims=True) + t * common`
# right: the same vector for every sentence, whatever it says: no one could call this understanding
# further: Go the other way: take the mean of all vectors away from each, and ask `companions` again. Which of its
# figures rise, which fall?

# %%
def mixed(vectors, common, t):
    """vectors (n, d), common (d,) of length 1, t from 0 to 1 -> (n, d)"""
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)  #!
    return (1 - t) * rows + t * common  #!

answer("05.5", mixed)

# %% [markdown]
# For $c$ we take the direction of the mean of all vectors. With $t = 0.85$ P-coherence passes .99.
#
# **Predict 05.b.** Retrieval was .41 before. What is it then? A number from 0 to 1.

# %%
guess = 0.1  #!
predict("05.b", guess)

# %%
common = vectors.mean(0) / np.linalg.norm(vectors.mean(0))
noise = np.random.default_rng(0).normal(size=vectors.shape)
shown = {
    "the network": vectors,
    "mixed, t = 0.85": np.asarray(mixed(vectors, common, 0.85)),
    "random numbers": noise,
    "random, t = 0.95": np.asarray(mixed(noise, common, 0.95)),
}
print(f"{'':18}{'within':>10}{'between':>10}{'lift':>10}{'retrieval':>11}")
for name, rows in shown.items():
    f = companions(rows, groups).figures
    print(f"{name:18}{f.within:10.3f}{f.between:10.3f}{f.lift:10.3f}{f.retrieval:11.3f}")
recall("05.b", companions(shown["mixed, t = 0.85"], groups).figures.retrieval)

# %% [markdown]
# Read it twice. Mixing took P-coherence from .65 to .99 and *nothing was learned*: the lift fell from .42 to .01. And
# random numbers, which have not seen a sentence, get .997, more than anything in the paper's table 3.
#
# But retrieval stayed at .41. Adding one vector to all moves them together and leaves their differences as they are: who
# is whose neighbour hardly changes. So lift is no perfect figure either; it, too, moves when only a common vector does.
# Retrieval tells the second line of the table from the fourth. The lab shows all of them because each alone can be fooled.
#
# Move $t$, and watch the two hills run into one.

# %%
def at_share(t):
    return coherence_hills(companions(np.asarray(mixed(vectors, common, t)), groups))

explore(
    at_share,
    "The two hills as before, cosine to the right, after mixing: blue within groups, orange and "
    "hatched between them. As t grows both move to the right and become narrow, until they are one "
    "spike at 1: the mean of the blue hill, P-coherence, rises, and the gap, the lift, closes.",
    t=Slider("t, share of the common vector", 0.0, 0.95, 0.05, 0.6),
)

# %% [markdown]
# Nobody would do this on purpose. Does it happen by itself? The lab trained the three encoders of section 5.1: *one-bi* has
# one layer and reads both ways, *two-forward* has two layers and reads forwards, *two-bi* has two layers and reads both
# ways. First with small steps and little time (3 seeds, mean ± spread, test; the last column compares the lifts):

# %%
def table(name):
    measures = PLANS[name].measures
    heads = "".join(f"{measure.removeprefix('coherence_'):>15}" for measure in measures)
    print(f"{'':24}{heads}   by lift")
    for row in kept(name).rows(measures):
        cells = "".join(f"{row[measure]:>15}" for measure in measures)
        print(f"{row['variant']:24}{cells}   {row['beside the best']}")

table("pthought-early")

# %% [markdown]
# By P-coherence (*within*) the order is: two-bi, two-forward, one-bi, and last the plain mean of word vectors. By lift it
# is the same order, upside down. These networks have hardly begun, and the more layers one has, the nearer all its vectors
# are to one direction. P-coherence rewards that.
#
# Now with larger steps, so that they do learn in four epochs.
#
# **Predict 05.c.** Which form has the highest lift: `"one-bi"`, `"two-forward"` or `"two-bi"`?

# %%
guess = "two-bi"  #!
predict("05.c", guess)

# %%
table("pthought-forms")
forms = kept("pthought-forms")
lifts = {name: forms.spread(name, "coherence_lift").mean for name in forms.figures}
recall("05.c", max(("one-bi", "two-forward", "two-bi"), key=lifts.get))

# %% [markdown]
# By lift, one-bi leads; the plain mean of word vectors comes next, and the two forms with two
# layers are behind it. By P-coherence the order is turned round: the two forms with two layers lead (between them it is open),
# and one-bi is last. By retrieval two-forward, the mean and one-bi lie close together, too close for three seeds;
# two-bi is far behind. Three figures, three stories. Only this is safe: two-bi, which P-coherence puts first, is last by
# the other two.
#
# These are four epochs on 695 scenes. With more time and more data the forms with two layers may open up; the spread of
# *between* says that they are still on their way.
#
# The paper's table 3 has .7432, .7899 and .9725 for the three forms, and section 5.2 reads it as good news for the more
# complex ones. Sections 5.4 and 5.5 are more careful: in table 6 and the learned half of table 7 the order is turned round,
# and the authors suspect overfitting to the captions (section 5.5). Another reading is that of the lines above: all vectors
# near one direction. Which is right cannot be told from table 3, for the cosine between groups is not printed.
#
# ## 7. A distance that is the same for all
#
# The authors saw that a cosine may not do, since it looks at angles only (appendix A), and added table A.8: the mean
# *normalised Euclidean distance* within groups. It has 76.09, 75.51 and 55.03 for the three forms, whose vectors have
# 2,400 numbers (section 5.1). What it is normalised by is not said.
#
# Suppose it is each group's own spread: in every dimension, the sentences of a group are divided by *their own* standard
# deviation (with $n$ below the line, as `np.std` has it).
#
# **Exercise 05.6.** What is then the root of the mean squared distance of two of the $n$ sentences of a group, with $d$
# dimensions?
#
# *9 minutes, hard. What it is for: finding out what a figure measures where its definition is missing.*
#
# hint: One dimension first: what is the mean of (x - y)² over all pairs of two different sentences?
# hint: Over all n² ordered pairs it is 2 · variance = 2. The n pairs of a sentence with itself give 0.
# hint: `math.sqrt(2 * n * d / (n - 1))`
# right: no vector stands in the answer: it is the same for every encoder
# further: Check it without algebra: draw five random vectors, divide each dimension by its own `np.std`, and measure.
# What is the formula with `ddof=1`, and what has become of n?

# %%
def own_distance(n, d):
    """sentences of a group, dimensions -> √ of the mean of ‖v_i - v_j‖² over the pairs i < j"""
    return math.sqrt(2 * n * d / (n - 1))  #!

answer("05.6", own_distance)

# %%
def in_own_measure(vectors):
    each = (vectors[groups == name] for name in np.unique(groups))
    return np.mean([pdist(own / own.std(0)).mean() for own in each])

n, d = 5, vectors.shape[1]
formula = [np.asarray(own_distance(n, size)).item() for size in (d, 2400)]
print(f"formula for {n} sentences, {d} dimensions: {formula[0]:.2f}\n")
for name, rows in shown.items():
    own, overall = in_own_measure(rows), companions(rows, groups).figures.distance
    print(f"{name:18} by each group's own spread {own:6.2f}   by the spread of all {overall:6.2f}")
print(f"\nformula for 5 sentences, 2400 dimensions: {formula[1]:.2f}")

# %% [markdown]
# The formula holds no vector, and the first column shows it: the network, the mixture and random numbers all have the same
# distance (just below the formula: a mean of distances is a little less than the root of a mean of squares). The second
# column tells the network from noise. (Not from the mixture: who divides by the spread forgets a common vector, and that is
# a virtue here.)
#
# The 76.09 and 75.51 of table A.8 are near 77.46. They could hardly come from the spread of all: there, two sentences that
# have *nothing* to do with each other are about $\sqrt{2 \cdot 2400} = 69.3$ apart, and paraphrases should be nearer. The
# third, 55.03, fits neither. Where a number of the vector is the same in a whole group it adds nothing, and
# $55.03^2 = 2.5 \cdot 1211$: half of the 2,400 would have to stand still. That is a guess.
#
# ## 8. How much should the paraphrase count?
#
# With only one decoder, $L$ is its loss alone. That is eq. 10 at its ends: λ = -1 leaves the copy, λ = 1 the paraphrase,
# each twice.
#
# **Predict 05.d.** Which has the highest lift: `"copy alone"`, `"both"` (some λ between 0 and 1) or `"paraphrase alone"`?

# %%
guess = "both"  #!
predict("05.d", guess)

# %%
table("pthought-lambda")
emphases = kept("pthought-lambda")
best = max(emphases.figures, key=lambda name: emphases.spread(name, "coherence_lift").mean)
recall("05.d", best.partition(",")[0])

# %% [markdown]
# Do not believe the table. Measure one of its cells again:

# %%
now = again(PLANS["pthought-lambda"], "copy alone", seed=0)
then = emphases.figures["copy alone"][0]
for measure in PLANS["pthought-lambda"].measures:
    same = "the same" if abs(now[measure] - then[measure]) < 0.02 else "different"
    print(f"{measure:22} now {now[measure]:.4f}   kept {then[measure]:.4f}   {same}")

# %% [markdown]
# The more the paraphrase counts, the better: lift and retrieval grow with λ, step by step up to 0.9, and the copy alone is
# last. Whether λ = 0.9 is better than the paraphrase alone or than 0.5 is open; it is ahead of 0.1 and 0.01. Between neighbouring
# λ three seeds show little: only the direction is plain. The search of appendix B chooses λ = 0.01, the
# smallest of table B.9. From $L$ nobody could have seen this.
#
# *Within* grows with it, and so does *between*, but less. One reading: who must write another sentence from a vector can do
# with what the scene is about. Who must write the same one needs its words, and these tell paraphrases apart as well. And
# these are vectors for finding paraphrases, measured on paraphrases: for another use the copy may be what is wanted.
#
# ## 9. Were the test pictures new?
#
# P-coherence is measured on captions of COCO's validation pictures of 2017; section 5.2 says that they have no overlap with
# training. Table 1 says what training is made of:

# %%
validation_2014, training_2017, all_of_them = 40_504, 118_284, 123_287
print(f"in both parts: {validation_2014 + training_2017 - all_of_them:,}")
print(f"in 2014's validation, but not in 2017's training: {all_of_them - training_2017:,}")

# %% [markdown]
# In 2017 the same pictures were divided anew: training got all but 5,000, and those 5,000 are 2017's validation. They came
# from 2014's validation, which is in table 1. And 5,003 pictures are, by that table, in training and not in 2017's
# training. So, if table 1 is what was trained on, table 3 scores captions of pictures that the network was trained on. A
# sum of three numbers is enough to see it. The lab splits by scene: no scene of the test is in training.
#
# ## 10. Writing
#
# A decoder gives $\log p$ of every word that could come next, and a new state. *Greedy*: take the likeliest word, read it,
# go on, until the end comes (word 0) or the sentence has `max_length` words.
#
# **Exercise 05.7.** Write it. Word 0 also stands for the beginning.
#
# *5 minutes, medium. What it is for: seeing a decoder from inside, a loop around one question.*
#
# hint: Each step gives log p of all words and the next state. Take the word with the largest, and read it next.
# hint: Word 0 is the end: stop there, and do not write it.
# hint: `log_p, state = step(state, word); word = int(log_p.argmax())`; if it is 0, break; else append it.
# right: each word is the best one at its place; that does not make the best sentence
# further: Draw the next word with its probability in the place of taking the likeliest
# (`np.random.default_rng(0).choice`; divide the row by its sum). How often does *snow melts* come out of a thousand
# sentences of the language below?

# %%
def write(step, state, max_length=50):
    """step(state, word) -> (log p of each word, next state); first state -> words, end left out"""
    words, word = [], 0
    for _ in range(max_length):
        log_p, state = step(state, word)  #!
        word = int(log_p.argmax())  #!
        if word == 0:
            break
        words.append(word)
    return words

answer("05.7", write)

# %% [markdown]
# A language of five words. It may begin with *rain* or *snow*:

# %%
names = ["(end)", "rain", "snow", "falls", "stops", "melts"]
follows = np.full((6, 6), 1e-9)  # row: the word read; column: how likely it is followed by which
follows[0, [1, 2]] = 0.6, 0.4
follows[1, [3, 4, 0]] = 0.4, 0.35, 0.25
follows[2, [5, 0]] = 0.9, 0.1
follows[3:, 0] = 1.0

said = [int(word) for word in write(lambda state, word: (np.log(follows[word]), state), None)]
for words in (said, [2, 5]):
    p = np.prod([follows[a, b] for a, b in zip([0, *words], [*words, 0])])
    print(f"{' '.join(names[word] for word in words):12} p = {p:.2f}")

# %% [markdown]
# *Rain* is the likelier word and *snow melts* the likelier sentence. Whoever decides word by word cannot know. A **beam**
# keeps several beginnings and decides later. For the network:

# %%
asked, beam = list(test.texts[:30:6]), Search(width=5, power=0.0)
plainly, widely = network.paraphrase(asked), network.paraphrase(asked, search=beam)
for one, other in zip(plainly, widely):
    print(one.sentence)
    for decoder in ("auto", "paraphrase"):
        for how, made in (("greedy", one), ("beam", other)):
            first = made.written[decoder][0]
            print(f"   {decoder:10} {how:7} log p {first.log_probability:7.2f}   {first.text}")

# %%
many = list(test.texts[:200])
plainly, widely = network.paraphrase(many), network.paraphrase(many, search=beam)
for decoder in ("auto", "paraphrase"):
    greedily, by_beam = ([each.written[decoder][0] for each in made] for made in (plainly, widely))
    gains = [b.log_probability - a.log_probability for a, b in zip(greedily, by_beam)]
    lengths = [np.mean([len(each.text.split()) for each in made]) for made in (greedily, by_beam)]
    print(
        f"{decoder:10} beam finds a likelier sentence for {np.mean(np.array(gains) > 1e-4):.0%}; "
        f"words: greedy {lengths[0]:.1f}, beam {lengths[1]:.1f}"
    )

# %% [markdown]
# The beam finds likelier sentences for about four in five, and they are *shorter*: each further word costs. (It can also
# miss: a beginning that greedy search follows may drop out of the beam.) That is why one divides by the length, to a power:
# `Search(power=0.7)` is usual.
#
# And the sentences? The form is often right, the theme sometimes, the facts seldom: men become women, blue becomes orange.
# This network is tiny: its vectors have 48 numbers, and the decoders know only the words of 695 scenes. A likely sentence is
# one that training is full of. It is no proof that the vector holds what was said.
#
# ## To try on your own
#
# 1. Train the network of section 2 with `decoders="auto"`, then with `decoders="paraphrase"`. How much of the lift is left?
#    Before you believe it: three seeds of each.
# 2. `Search(width=1)` must write what greedy does. Does it? And `repeat=0`?
# 3. In the app, Papers, *Try it* of P-thought: write a sentence of your own with a word that no caption has.
# 4. `labkit train pthought --corpus captions --set form=two-bi --epochs 4`, then with more epochs. When does *between* come
#    down?
#
# ## Further reading
#
# - Myeongjun Jang, Pilsung Kang. *Paraphrase thought: Sentence embedding module imitating human language recognition.*
#   Information Sciences 541, 2020. [doi](https://doi.org/10.1016/j.ins.2020.05.129),
#   [an earlier version](https://arxiv.org/abs/1808.05505). Read section 4.2 and table B.9 side by side.
# - Ryan Kiros and others. [Skip-thought vectors](https://arxiv.org/abs/1506.06726), 2015. One encoder, two decoders as well:
#   they write the sentence before and the sentence after.
# - Kyunghyun Cho and others. [Learning phrase representations using RNN encoder-decoder for statistical machine
#   translation](https://arxiv.org/abs/1406.1078), 2014. Where the GRU, and reading into one vector to write from it, come
#   from.
# - Kawin Ethayarajh. [How contextual are contextualized word representations?](https://aclanthology.org/D19-1006), 2019.
#   Vectors that all point one way, in much larger networks; and why a cosine must be read beside that of strangers.
# - Felix Stahlberg, Bill Byrne. [On NMT search errors and model errors: Cat got your
#   tongue?](https://aclanthology.org/D19-1331), 2019. The likeliest sentence of all is often the empty one: the beam's
#   shortness, followed to its end.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** Somebody reports an encoder whose paraphrases have a mean cosine close to 1. What do you ask for?
#
# <details><summary>An answer</summary>
#
# For the mean cosine of sentences that have nothing to do with each other, and for retrieval. If all vectors lie near
# one direction, both cosines are close to 1 and nothing has been understood. The lift shows that; retrieval shows
# whether it matters for who is nearest.
#
# </details>
#
# **2.** Why can λ not be chosen by the smallest objective on validation data?
#
# <details><summary>An answer</summary>
#
# The objective contains λ. With both losses held, its slope in λ is $\ell_\text{para} - \ell_\text{auto}$, and that
# is above 0 as long as writing a paraphrase is harder than copying: the smallest λ wins, whatever was learned. A
# figure without λ in it can choose, such as retrieval on dev.
#
# </details>
#
# **3.** The beam finds a likelier sentence than the greedy search. Is it a better one?
#
# <details><summary>An answer</summary>
#
# Not by that. Likely is what training is full of, and short, since each further word multiplies by a number below 1.
# Whether the sentence says what the vector holds is another question; to ask it, one would have to read the sentence
# again and compare the two vectors, or let people judge.
#
# </details>

# %%
progress("05")
