# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 12 · Why alike?
#
# **A model says that two posts are alike and names the words that made them so: is that true of the model?** Every
# explanation method answers, always, and with numbers. You compare four of them on one network, put them before four
# judges, and find out that a judge can be wrong, too.
#
# *75 minutes, 44 of them for the exercises. You need cosines, gradients, and notebook 2 or 3 for attention.*

# %%
import numpy as np
import pandas as pd
import torch

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.explore import show
from labkit.figures import named_curves, seed_dots, word_pairs
from labkit.course.ablation import kept
from labkit.course.plans import EXPLAINED
from labkit.course.why_alike import slopes, tampered, triples, with_word, word_vectors
from labkit.text import words

topics = load("topics")
test = topics.part("test")
print(topics.sizes, "posts of", len(set(test.labels)), "topics")

# %% [markdown]
# ## 1. A sum
#
# The plain mean of word vectors is the easiest model to explain. Let $u_1, u_2, \dots$ be the vectors of the words of $a$, and
# $v_1, v_2, \dots$ those of $b$. The dot product of two sums is a sum over all pairs, and so is the cosine of the means:
#
# $$\cos(a, b) = \sum_{i, j} C_{ij}, \qquad C_{ij} = \frac{u_i \cdot v_j}{\left|\sum_i u_i\right| \left|\sum_j v_j\right|}$$
#
# **Exercise 12.1.** Write $C$.
#
# *7 minutes, medium. What it is for: having one explanation that cannot be wrong, to hold the others against.*
#
# hint: The mean of A is `A.sum(0) / len(A)`: put both means into a · b / |a| |b|. What becomes of the `len`?
# hint: The dot product of two sums is a sum over all pairs of rows: `A @ B.T` has them. The lengths stay below the
# line.
# hint: `A @ B.T / np.linalg.norm(A.sum(0)) / np.linalg.norm(B.sum(0))`
# right: nothing is left over: this is no view of the similarity, it is the similarity
# further: Add up each row, and you have what each word of a does in all. Which of your own has most?

# %%
def parts(A, B):
    """word vectors of a (n, d), of b (m, d) -> what each pair of words adds to the cosine (n, m)"""
    return A @ B.T / np.linalg.norm(A.sum(0)) / np.linalg.norm(B.sum(0))  #!

answer("12.1", parts)

# %%
mean = METHODS["mean-vectors"](dimension=50)
mean.fit(topics)
a = "How long does sour dough rise in a cold kitchen?"
b = "My bread dough does not rise."
A, B = mean.encode(words(a)), mean.encode(words(b))  # a word alone is its own mean
C = np.asarray(parts(A, B))
print("sum of all parts: {:.6f}".format(C.sum()))
print("the similarity:   {:.6f}".format(mean.similarity([a], [b])[0, 0]))

# %%
show(
    word_pairs(mean.explain(a, b)),
    "A row is a word of the first sentence, a column one of the second, the darker a cell, the "
    "larger what the two words add to the similarity, blue above 0 and orange below. The "
    "largest are rise with rise, dough with bread, dough with dough, and does with does.",
)

# %% [markdown]
# `mean.explain(a, b)` has the same numbers; so have the button *Why alike?* of the app and `labkit explain`. TF-IDF, LSA and FILM
# are sums of words, too, and are explained in the same way, without error (notebook 6, section 1).
#
# An exact explanation says what the model did. It does not say that the model was right.
#
# ## 2. No sum
#
# Now a network: a small BiLSTM with attention, which learns from posts to find those of one topic. It learns from `posts`. These
# are the topics that you know, but we have tampered with them. What we did stands in section 6; do not look yet.

# %%
posts = tampered(topics, seed=0)
network = METHODS["sentpwnet"](**EXPLAINED)
network.fit(posts, seed=0)
print("trained on", len(posts.part("train")), "posts;", network.ways)

# %%
first = (
    "A date for your diary. Frankly, fresh rolls can be ordered for Sunday until Friday at noon. "
    "There will be time for questions about baking rolls before breakfast."
)
second = (
    "The museum would like to borrow weather diaries and photographs of old winters. We will also "
    "talk about comparing old weather diaries. Indeed, we look forward to seeing you."
)
print(first, "\n\n" + second)
print("\nsimilarity {:.3f}".format(network.similarity([first], [second])[0, 0]))

# %% [markdown]
# One is about baking, the other about the weather. To this network they are nearly one.
#
# **Predict 12.a.** Which word of the first post makes the two so alike? Write it, in lower case.

# %%
guess = "diary"  #!
predict("12.a", guess)

# %% [markdown]
# A sum of words? Let us see:

# %%
states = network.encode(words(first)).astype(float)
cosine = network.similarity(states.sum(0, keepdims=True), network.encode([first]))[0, 0]
print("cosine of the sum of its words, one by one, with the post itself: {:.3f}".format(cosine))

# %% [markdown]
# A word does something else in the state of an LSTM than alone, and there is no sum to write down. People ask four other things.
#
# ### Leave it out
#
# **Exercise 12.2.** Take one word out, and see what the similarity loses. `alike` takes a list of words and gives their similarity
# to the second post, which stays whole.
#
# *5 minutes, easy. What it is for: the one explanation that works for everything, also for what is behind a wire.*
#
# hint: For each place take the words before it and those after it: `words[:at] + words[at + 1:]`.
# hint: What is lost is the similarity of all words less that of these.
# hint: `np.array([alike(words) - alike(words[:at] + words[at + 1:]) for at in range(len(words))])`
# right: it asks nothing of the model but a similarity, so that it can be asked of any model
# further: Leave out every two neighbours. For which two is more lost together than one by one?

# %%
def alike_to(b):
    """a function of a list of words: how alike they are to b"""
    V = network.encode([b])
    return lambda some: float(network.similarity(network.encode([" ".join(some)]), V)[0, 0])

def left_out(alike, words):
    """what the similarity loses without each of the words, in their order (n,)"""
    whole = alike(words)  #!
    rests = [words[:at] + words[at + 1 :] for at in range(len(words))]  #!
    return np.array([whole - alike(rest) for rest in rests])  #!

answer("12.2", left_out)

# %% [markdown]
# ### Gradient times input
#
# A network has slopes. $x_i$ is the vector of the word $i$, and $\partial s / \partial x_i$ says how the similarity moves when that
# vector moves a little. If it went on like that all the way from zeros to $x_i$, the word would have made
#
# $$\frac{\partial s}{\partial x_i} \cdot x_i$$

# %%
def slope_to(b):
    """a function of word vectors (n, d): the slope of the similarity to b along each number"""
    return lambda x: slopes(network, x.reshape(-1, *x.shape[-2:]), b).reshape(x.shape)

def gradient(slope, x):
    return (slope(x) * x).sum(1)

# %% [markdown]
# ### Integrated gradients
#
# But it does not go on like that. Walk from zeros (no words) to the post itself, $t x$ with $t$ from 0 to 1, and look at what three
# of the words add on the way:

# %%
x, slope = word_vectors(network, words(first)), slope_to(second)
way = np.linspace(0, 1, 41)
along = np.array([(slope(t * x) * x).sum(1) for t in way])  # (41, words)
shown = {word: along[:, words(first).index(word)] for word in ("diary", "frankly", "rolls")}
show(
    named_curves(shown, across="share t of the way", upwards="slope times input", whole=1.0),
    "To the right the share of the way from zeros to the post, upwards what a word adds there. The "
    "line of frankly rises and falls again to nearly 0 before the end; those of diary and rolls "
    "lie near 0 all the way.",
)

# %% [markdown]
# At the end of the way, where gradient times input looks, next to nothing is left: the similarity is near 1, and cannot rise. What
# happened on the way is the **area** below the line. That is what integrated gradients take (Sundararajan, Taly and Yan, 2017):
#
# $$\text{part}_i = x_i \cdot \int_0^1 \frac{\partial s}{\partial x_i}(t x)\, dt$$
#
# **Exercise 12.3.** Write it, with a sum in the place of the integral. Any rule will do: left ends, middles, trapezoids.
#
# *10 minutes, hard. What it is for: an explanation of any network that adds up, so that one can check it.*
#
# hint: At the share t of the way the sentence is `t * x`; take `slope(t * x)` at many t from 0 to 1, and their mean.
# hint: For so many steps, `(np.arange(steps) + 0.5) / steps` are their middles. Each word has a sum over its d
# numbers.
# hint: `way = (np.arange(steps) + 0.5) / steps`, then `(np.mean([slope(t * x) for t in way], axis=0) * x).sum(1)`
# right: a sum of slopes times widths is an integral: that is why these parts add up
# further: Start from the mean of all word vectors in the place of zeros. Which words change their part most, and to
# what does the sum add up now?

# %%
def integrated(slope, x, steps):
    """slope: (n, d) -> (n, d); word vectors x (n, d) -> the part of each word (n,)"""
    way = (np.arange(steps) + 0.5) / steps  #!
    return (np.mean([slope(t * x) for t in way], axis=0) * x).sum(1)  #!

answer("12.3", integrated)

# %% [markdown]
# And here is something to check, as in section 1. The parts add up to the difference between the two ends of the way: the
# similarity of the post, and that of no words.

# %%
def at(t):
    """the similarity of a sentence of the word vectors t x"""
    y = torch.from_numpy(t * x).float()[None]
    with torch.no_grad():
        vector = network.network.body(y, torch.tensor([len(x)])).numpy()
    return float(network.similarity(vector, network.encode([second]))[0, 0])

difference = at(1) - at(0)
print(f"similarity at the end {at(1):.3f}, of no words {at(0):.3f}, difference {difference:.4f}")
for steps in (1, 2, 4, 8, 32, 128):
    gap = np.asarray(integrated(slope, x, steps)).sum() - difference
    print(f"{steps:4} steps: sum of the parts less the difference {gap:+.4f}")
print("gradient times input adds up to", round(float(gradient(slope, x).sum()), 4))

# %% [markdown]
# ### Attention
#
# The network has an answer of its own, so it seems: to how much of each word it attends.

# %%
def attention(a, b):
    return np.array(network.explain(" ".join(a), b, way="attention").weights_a)

def ways(a, b):
    """the parts of the words of a by each way"""
    alike, slope, x = alike_to(b), slope_to(b), word_vectors(network, a)
    found = {
        "left out": left_out(alike, a),
        "gradient": gradient(slope, x),
        "integrated": integrated(slope, x, 32),
        "attention": attention(a, b),
    }
    return {way: np.asarray(own, float) for way, own in found.items()}

found = pd.DataFrame(ways(words(first), second), index=words(first))
found.sort_values("integrated", ascending=False).head(6).round(3)

# %%
recall("12.a", found["left out"].idxmax())

# %% [markdown]
# A reader sees *diary* and *diaries*. The network did not look at them. An explanation that a reader would give is **plausible**;
# one that says what the model did is **faithful**. The two are not one thing, and no reader can tell them apart by reading.
#
# But who says that the table is right, and not you? Up to now nobody has. All ways put one word first; they could be wrong
# together.
#
# One thing can be seen at once, without any judge:
#
# **Predict 12.b.** The first post beside ten others, of ten different topics. In how many of them does attention put the same word
# first?

# %%
guess = 6  #!
predict("12.b", guess)

# %%
others = [test.texts[test.labels.index(topic)] for topic in sorted(set(test.labels))[:10]]
tops = {way: [] for way in found}
for other in others:
    for way, own in ways(words(first), other).items():
        tops[way].append(words(first)[own.argmax()])
for way, names in tops.items():
    most = max(set(names), key=names.count)
    print(f"{way:11} {most!r} is first beside {names.count(most)} of 10: {sorted(set(names))}")
recall("12.b", tops["attention"].count(max(set(tops["attention"]), key=tops["attention"].count)))

# %% [markdown]
# The attention of this network is worked out from one post alone. It can say what the vector is made of. Why this vector is near
# *that* one, it cannot say: it has not seen the other post.
#
# ## 3. A judge: take the words out
#
# If the words with the largest parts do make the similarity, it must fall when they go. Take them out one after the other, the
# largest part first; and draw what is left.
#
# **Exercise 12.4.** Write that curve.
#
# *8 minutes, medium. What it is for: making a claim about words that can fail: if these matter, the similarity must
# fall without them.*
#
# hint: `np.argsort(-parts)` has the places with the largest parts first. The first `count` of them are out.
# hint: What is left stays in the order of the sentence: `[word for at, word in enumerate(words) if at not in out]`.
# hint: for each `count in range(len(words))`: `out = set(order[:count])`, and `alike` of the words that are left
# right: the steeper it falls, the more of the similarity hung on the words that were named first
# further: Put words into an empty sentence instead, the largest part first. Which of your curves is that, read from
# right to left?

# %%
def falling(alike, words, parts):
    """the similarity with no word taken out, one, two, ... all but one (n,)"""
    order = np.argsort(-parts)  #!
    curve = []
    for count in range(len(words)):
        out = set(order[:count])  #!
        left = [word for at, word in enumerate(words) if at not in out]  #!
        curve.append(alike(left))
    return np.array(curve)

answer("12.4", falling)

# %%
draw = triples(test, np.random.default_rng(4))
post, same, _ = next(draw)  # two posts of one topic, as they are
print(post, "\n\n" + same)
w, alike = words(post), alike_to(same)
own = ways(w, same)["integrated"]
at_random = np.mean([falling(alike, w, np.random.default_rng(n).random(len(w)))
                     for n in range(10)], axis=0)
curves = {
    "largest first": falling(alike, w, own),
    "in random orders": at_random,
    "smallest first": falling(alike, w, -own),
}
show(
    named_curves(curves, across="words taken out", upwards="similarity"),
    "To the right the number of words taken out, upwards the similarity that is left. By "
    "integrated gradients, largest part first, the line falls at once; in random orders it falls "
    "late; with the smallest part first it stays at the top nearly to the end.",
)

# %% [markdown]
# - The **area** between the random line and the one below it is a figure of merit: how much more these words matter than any
#   others.
# - The upper line is a second judge for nothing. Read it from right to left: words are *put in*, the largest part first, into an
#   empty post. So the area between the upper and the lower line is deletion and insertion together.
#
# One pair says little. Every explanation gets the same pairs, and every word of them goes but one.
#
# **Exercise 12.5.** `one` and `other` are the areas of two explanations, pair by pair. Write the 95 % interval of the mean
# difference.
#
# *6 minutes, medium. What it is for: saying of two explanations which is ahead, on the same pairs, and when nobody
# knows.*
#
# hint: The two belong together, row by row: look at their difference, and forget that there were two.
# hint: A mean of n numbers has the error std / √n, and 95 % lie within 1.96 of it.
# hint: `gaps = one - other`, `half = 1.96 * gaps.std(ddof=1) / np.sqrt(len(gaps))`, then mean ∓ half
# right: what makes one pair hard for both falls out of the difference, and the interval is narrower
# further: Work the interval out unpaired, from two variances, for the areas below. How many pairs would it take to be
# as sure?

# %%
def interval(one, other):
    """areas (n,) and (n,) of the same n pairs -> low, high, for the mean of one less other"""
    gaps = one - other  #!
    half = 1.96 * gaps.std(ddof=1) / np.sqrt(len(gaps))  #!
    return gaps.mean() - half, gaps.mean() + half  #!

answer("12.5", interval)

# %% [markdown]
# **Predict 12.c.** Which of the four has the largest area below random orders: `"left out"`, `"gradient"`, `"integrated"` or
# `"attention"`?

# %%
guess = "left out"  #!
predict("12.c", guess)

# %%
areas = {way: [] for way in found}
for (post, same, _), seed in zip(draw, range(10)):
    w, alike = words(post), alike_to(same)
    chance = np.mean(falling(alike, w, np.random.default_rng(seed).random(len(w))))
    for way, own in ways(w, same).items():
        areas[way].append(chance - np.mean(falling(alike, w, own)))
areas = {way: np.array(each) for way, each in areas.items()}
for way, each in areas.items():
    print("{:11} area below a random order {:+.3f}".format(way, each.mean()))
for way in ("left out", "gradient", "attention"):
    low, high = interval(areas["integrated"], areas[way])
    print(f"integrated less {way}: from {low:+.3f} to {high:+.3f}")

# %% [markdown]
# Ten pairs of one network are few. (And for so few pairs 1.96 is too narrow; Student's t would say 2.26.)
#
# Here are five networks, each with a hundred pairs of its own, and three lines that look at no
# network: the rarest words first, words that stand in both posts first, and any order. (Measured by `python -m
# labkit.course.plans why-alike`, in four minutes.)

# %%
table = kept("why-alike")

def means_of(*measures):
    """The means over five networks, a line for each explanation."""
    rows = {name: [table.spread(name, each).mean for each in measures] for name in table.figures}
    return pd.DataFrame(rows, index=measures).T.round(3)

def leads_over(other, measure):
    """How far each explanation is ahead of one of them, with its 95 % interval."""
    lines = {}
    for name in table.figures:
        lead = table.lead(name, other, measure)
        low, high = lead.interval()
        lines[name] = "" if name == other else f"{lead.lead:+.3f} ({low:+.3f} to {high:+.3f})"
    return pd.Series(lines, name=f"{measure}, above {other}")

means_of("below_chance", "between").join(leads_over("rarest words first", "below_chance"))

# %%
names = {"left out": "a word left out", "gradient": "gradient times input",
         "integrated": "integrated gradients", "attention": "attention"}
show(
    seed_dots(table, "below_chance"),
    "A line is an explanation, the area below random orders grows to the right. Circles are "
    "networks, diamonds their means, open where they are shown to be behind the best. Integrated "
    "gradients and attention lie rightmost, then a word left out and the gradient, then the rarest "
    "words and those in both; any order lies at 0.",
)
recall("12.c", max(names, key=lambda way: table.spread(names[way], "below_chance").mean))

# %% [markdown]
# - **Integrated gradients** are ahead of leaving a word out, and that is ahead of the plain gradient. A post says its topic many
#   times over: if one word
#   on bread goes, others are left, and next to nothing is lost. Leaving out sees each word by itself.
# - **Better than random is not enough.** "The rarest words first" has never seen the network, and its area is above 0, too. Whoever
#   shows a method beside random orders alone has shown little.
# - **Whether attention is behind integrated gradients is open**, although section 2 showed that it looks at one post only. For pairs of one topic,
#   what makes a post's vector is mostly what makes it alike. This judge does not ask for the difference; the ones of sections 5 and
#   6 will.
#
# ## 4. The judge is judged
#
# This judge has two errors. The first: a post with half of its words gone is no post. No training has seen *"fresh rolls ordered
# for until at there be"*. Perhaps the similarity falls because the network is lost, and not because the words mattered. A control:
# put something in the place of each word, so that all posts stay as long as they were.
#
# - `unknown`: a word that nobody has ever met;
# - `replaced`: a word at random from those that the network knows.
#
# **Predict 12.d.** When words are taken out, attention is ahead of leaving a word out. When each has a random word put in its place,
# is attention `"ahead"`, `"behind"`, or is it `"open"`?

# %%
guess = "ahead"  #!
predict("12.d", guess)

# %%
judged = means_of("below_chance", "unknown", "replaced")
judged.join(leads_over("a word left out", "replaced"))

# %%
low, high = table.lead("attention", "a word left out", "replaced").interval()
recall("12.d", "ahead" if low > 0 else "behind" if high < 0 else "open")

# %% [markdown]
# - The areas are smaller with a word in the place of each, with words at random less than half as large: some of what fell had to
#   do with gaps and length. (But random words bring a meaning of their own. This judge has an error, too.)
# - **The order changes.** With an unknown word attention has the largest mean, and even the rarest words have a larger one than
#   leaving out (five networks do not settle either). With words at random integrated gradients are clearly ahead, and attention's
#   lead over leaving out is gone.
# - What holds before all three judges may be believed: integrated gradients before leaving out, leaving out before the gradient.
#   What holds before one is about that judge.
#
# The second error: **a judge likes its own kind.** Look at the first word alone:

# %%
for name in names.values():
    print("{:21} the first word costs {:.4f}".format(name, table.spread(name, "first").mean))

# %% [markdown]
# Leaving out is best there, and must be: it has tried every word, and takes the one that costs most. No explanation can be ahead of
# it by one word, be it right or wrong. A judge that takes words out, and an explanation that takes words out, make the same
# mistakes.
#
# ## 5. A network that has learned nothing
#
# Shuffle all numbers of the network, those of its word vectors too. It knows nothing now. An explanation that still says the same
# is about the *text* (Adebayo and others, 2018, who tried it on pictures). And put a post of another topic in the place of the
# second: an explanation that still says the same is about *one* of the two.

# %%
means_of("shuffled", "another")

# %% [markdown]
# These are rank correlations of the words' parts, before and after: 1 says that nothing has changed.
#
# - All four that ask the network pass the first test. The rarest words do not, of course. It sounds like nothing; but they did well
#   before the judge of section 3, and on another day somebody will show you a picture with the rare words in red.
# - Attention fails the second test, with a correlation of 1. Integrated gradients turn round: what makes a post like its own topic
#   keeps it away from another one.
# - **Passing says little.** "Any order" has a correlation near 0, too. These tests can only refuse.
#
# ## 6. The truth, planted
#
# A judge without error is one who knows. This is what we did to the posts: some of train and dev, of *any* topic, got a word put
# in, **frankly, anyway** or **indeed**, and a class of their own. Nothing else tells that class. So two posts on different topics
# that have such a word each can be alike by one thing only.

# %%
counts = pd.Series(posts.part("train").labels).value_counts()
print("posts of train with a word put in:", counts["marked"], "of", counts.sum())
i = posts.labels.index("marked")
print(posts.texts[i][:200], "...")
marked = words(first)
bare = [word for word in marked if word != "frankly"]
print("the two posts of section 2 without frankly: {:.3f}".format(alike_to(second)(bare)))

# %% [markdown]
# **Exercise 12.6.** `parts` has the parts of the words of some posts, an array each, and `planted` the place of the word that was
# put in. How often is the largest part there?
#
# *4 minutes, easy. What it is for: testing an explanation where the truth is known, before believing it where nobody
# knows.*
#
# hint: `each.argmax()` is the place of the largest part of one sentence.
# hint: Compare it with that sentence's own place in `planted`, and take the mean over the sentences.
# hint: `np.mean([each.argmax() == at for each, at in zip(parts, planted)])`
# right: no taste decides here: somebody knows which word it was
# further: Ask also how far down the word stands on average. Which of two explanations that miss equally often is
# nearer?

# %%
def hit_rate(parts, planted):
    """arrays of different lengths, and a place for each -> a share"""
    return np.mean([each.argmax() == at for each, at in zip(parts, planted)])  #!

answer("12.6", hit_rate)

# %%
draw, random = triples(test, np.random.default_rng(6)), np.random.default_rng(6)
seen, places = {way: [] for way in found}, []
for (post, _, other), _ in zip(draw, range(20)):
    a = words(with_word(post, "frankly", random))
    places.append(a.index("frankly"))
    for way, own in ways(a, with_word(other, "indeed", random)).items():
        seen[way].append(own)
for way in seen:
    print("{:11} hits of 20: {:.0f}".format(way, 20 * float(hit_rate(seen[way], places))))

# %% [markdown]
# All of them: is the true rate 1? Nothing varies, so that no spread can be worked out. Ask the other way round.
#
# **Exercise 12.7.** Which true rate would give twenty hits in twenty with a chance of 5 % only? (All below it are less likely
# still.)
#
# *4 minutes, easy. What it is for: having an interval where all is right, and no spread is there to work one out.*
#
# hint: With the rate p one hit has the chance p. And twenty in a row?
# hint: p²⁰ = 0.05. Solve it for p.
# hint: `0.05 ** (1 / 20)`
# right: so twenty of twenty speak for a rate above .86, and not for 1: a table of ones has an error, too
# further: Do it for 100 in 100. There is a rule of thumb, 1 - 3/n: how good is it, and where does the 3 come from?

# %%
rate = 0.05 ** (1 / 20)  #!
answer("12.7", rate)

# %% [markdown]
# **Predict 12.e.** One planted word is found by leaving out, always. Now put *two* of them into the first post, and the third into
# the second. In which share of such pairs does leaving out give the largest part to either of the two?

# %%
guess = 1.0  #!
predict("12.e", guess)

# %%
means_of("hit", "hit_two", "false").join(leads_over("a word left out", "hit_two"))

# %%
both = with_word(first, "anyway", np.random.default_rng(3))
alike = alike_to(second)
for gone in (set(), {"frankly"}, {"anyway"}, {"frankly", "anyway"}):
    left = [word for word in words(both) if word not in gone]
    print(f"without {' and '.join(sorted(gone)) or 'nothing':18} {alike(left):.3f}")
recall("12.e", round(table.spread("a word left out", "hit_two").mean, 2))

# %% [markdown]
# - **Two words that say the same cover for each other.** Each alone can go, and nothing is lost. Leaving out then finds something
#   else; integrated gradients find both.
# - **The plain gradient** hit every time in our one network. In five it misses even a single word in many pairs: at the end of the way
#   nothing moves. An interval over the pairs of one network knows nothing of other networks.
# - **`false`** is another question. The first post has such a word, the second has none, and is of the first one's topic. The word
#   now keeps the two *apart*. Attention names it in all of these pairs, as what makes them alike.
# - So attention has all hits, and all false alarms. Hits alone would have called it perfect.
#
# A planted word is a strong one, and stands out. That a way finds it does not say that it will find ten weak words that work
# together. For this there is only section 3.
#
# ## 7. You against the network
#
# Two posts of one topic, untouched. Name five words of the first that you think the network goes by.
#
# **Predict 12.f.** Which five cost the similarity more: `"mine"` or `"integrated"`?

# %%
guess = "mine"  #!
predict("12.f", guess)

# %%
post, same, _ = next(triples(test, np.random.default_rng(6)))
print(post, "\n\n" + same)
w, alike = words(post), alike_to(same)

# %%
mine = ["heating", "building", "locks", "mortgages", "landlord"]  # write five of its words
mine = [word for word in mine if word in w] or w[:5]

def without(some):
    """the similarity without these words of the first post, each taken out once"""
    left = list(w)
    for word in some:
        left.remove(word)
    return alike(left)

five = {way: [w[at] for at in np.argsort(-own)[: len(mine)]] for way, own in ways(w, same).items()}
chance = [without(np.random.default_rng(n).choice(w, len(mine), replace=False)) for n in range(50)]
print(f"whole {alike(w):.3f}, without {len(mine)} words at random {np.mean(chance):.3f}")
for way, some in {"mine": mine, **five}.items():
    print(f"without {way:11} {without(some):.3f}  {', '.join(some)}")
recall("12.f", min(("mine", "integrated"), key=lambda way: without({"mine": mine, **five}[way])))

# %% [markdown]
# Change `mine`, and run the cell again, as often as you like. With many tries you will come near: you are searching then, with the
# judge at hand, as the other ways did. It was your *first* list that was plausible.
#
# ## What to take along
#
# | question | what we found here |
# | --- | --- |
# | when is an explanation exact? | when the model adds up words; then check the sum |
# | leaving a word out? | it works for everything, and is blind where words say the same |
# | gradient times input? | the slope at the end, where a network may have nothing left to climb |
# | integrated gradients? | ahead before most judges here; they add up, which is a check, not a proof |
# | attention as a reason? | it does not see the other sentence |
# | how is an explanation tested? | against the model (taking out, putting in), against no model (rare words, shuffled weights), against a planted truth: before several judges, on the same pairs, with an interval |
# | what must one not conclude? | that a way which led on this network leads on another, or that a reader's agreement is a test |
#
# ## Go on
#
# 1. Start integrated gradients from the mean of all word vectors in place of zeros. Which words change? Nobody can say which start
#    is right.
# 2. Plant a word in *half* of the posts of every topic, so that it tells nothing. Which ways name it? These would be false alarms
#    as well.
# 3. `network.explain(first, second)` takes both posts apart at once (integrated Jacobians). Put it before the judges.
# 4. `docs/why.md` asks fourteen methods by pairs of sentences in which one word was exchanged. Compare what it says of leaving out.
#
# ## Further reading
#
# - Mukund Sundararajan, Ankur Taly, Qiqi Yan. [Axiomatic attribution for deep networks](https://arxiv.org/abs/1703.01365), 2017.
#   Integrated gradients, and why they add up.
# - Lucas Möller, Dmitry Nikolaev, Sebastian Padó. [An attribution method for siamese
#   encoders](https://arxiv.org/abs/2310.05703), 2023. The same for a pair, word by word; what `labkit explain` does.
# - Sarthak Jain, Byron Wallace. [Attention is not explanation](https://arxiv.org/abs/1902.10186), 2019; and Sarah Wiegreffe, Yuval
#   Pinter. [Attention is not not explanation](https://arxiv.org/abs/1908.04626), 2019. Read both, in this order.
# - Julius Adebayo and others. [Sanity checks for saliency maps](https://arxiv.org/abs/1810.03292), 2018. Weights at random, and
#   explanations that do not care.
# - Jasmijn Bastings and others. [Will you find these shortcuts?](https://arxiv.org/abs/2111.07367), 2022. Planted words in texts,
#   and which ways find them.
# - Alon Jacovi, Yoav Goldberg. [Towards faithfully interpretable NLP systems](https://arxiv.org/abs/2004.03685), 2020. Plausible
#   and faithful, kept apart.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** A colleague shows that the words in red, taken out, cost more similarity than words at random. What do you ask next?
#
# <details><summary>An answer</summary>
#
# What a list costs that never saw the model: the rarest words, or those in both texts. Whether the order of methods stays when
# words are replaced and not taken out. And on how many pairs, the same ones for all, with which interval.
#
# </details>
#
# **2.** Leaving out says that no word of a post matters at all. Is the similarity of no word's making?
#
# <details><summary>An answer</summary>
#
# No. Words that say the same cover for each other: each can go, as long as another one stays. Leave out two at a time, or take them
# out one after the other; or ask in a way that looks at the whole road from no words to all of them.
#
# </details>
#
# **3.** An explanation names just the words that an expert would have named. Has the model been shown to work as the expert does?
#
# <details><summary>An answer</summary>
#
# No. It is plausible, and that is a fact about the reader. It may be wrong about the model, and it is most dangerous there, since
# nobody will ask again. Whether it is faithful is decided by what the model does when the words are gone, or by a truth that
# somebody has planted.
#
# </details>

# %%
progress("12")
