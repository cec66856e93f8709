# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 12 · Why alike?
#
# **A network says that two posts are similar, and an explanation names the words that made them so. Is that true of the
# network?** An explanation method always gives an answer, right or wrong. You compare four such methods with several
# tests, which we call *judges*, and find out that a judge can be wrong, too.
#
# *60 minutes, 36 of them for five exercises. You need cosines and gradients; lesson 2 or 3 helps with attention.*
#
# Here are two posts about the same topic. The slider shows three explanations of the same similarity. Each assigns
# every word a part of it. You see the words with the largest parts, (a) for the first post and (b) for the second;
# *rest* belongs to no word. In the first explanation *computer* and *fan* matter most, in the other two *laptops* and
# *disks*. Which one is right?

# %%
import numpy as np
import pandas as pd
import torch

from labkit import METHODS, load
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.course.plans import EXPLAINED
from labkit.course.why_alike import tampered, triples
from labkit.explore import Slider, explore, show
from labkit.figures import explained_words, named_curves
from labkit.text import words

torch.set_num_threads(1)  # with matrices as small as these, more threads only wait for each other
topics = load("topics")
test = topics.part("test")
posts = tampered(topics, seed=0)  # section 5 says what this does; do not look yet
network = METHODS["sentpwnet"](**EXPLAINED)  # a small BiLSTM with attention
network.fit(posts, seed=0)

post, same, _ = next(triples(test, np.random.default_rng(1)))
print(post, "\n\n" + same)
explained = [network.explain(post, same, way=way) for way in ("left-out", "integrated", "attention")]
explore(
    lambda which: explained_words(explained[which], top=8),
    "Words with the largest parts, as bars or steps. Left out: computer, phone, fan and disks. Integrated and attention: "
    "laptops and disks, with parts that are ten times as large.",
    which=Slider("0: left out, 1: integrated, 2: attention", 0, 2, 1, 0),
)

# %% [markdown]
# ## 1. When the answer is exact
#
# For some models an exact explanation exists. One such model is the plain mean of word vectors: the dot product of two
# sums, and therefore the cosine, is a sum over all pairs of words.

# %%
mean = METHODS["mean-vectors"](dimension=50)
mean.fit(topics)
exact = mean.explain("How long does sour dough rise in a cold kitchen?", "My bread dough does not rise.")
print(f"similarity {exact.similarity:.6f}, sum of all parts {np.sum(exact.parts):.6f}")
print(exact.word_pairs[:4])

# %% [markdown]
# An exact explanation says what the model did. It does not say that the model was right.
#
# The vector of a post in a network is not such a sum. In an LSTM the effect of a word depends on the words around it:

# %%
first = (
    "A date for your diary. Frankly, fresh rolls can be ordered for Sunday until Friday at noon. "
    "There will be time for questions about baking rolls before breakfast."
)
second = (
    "The museum would like to borrow weather diaries and photographs of old winters. We will also "
    "talk about comparing old weather diaries. Indeed, we look forward to seeing you."
)
alone = network.encode(words(first)).sum(0, keepdims=True)
print(f"sum of its words and the post itself: cosine {network.similarity(alone, network.encode([first]))[0, 0]:.3f}")
print(f"first and second post: cosine {network.similarity([first], [second])[0, 0]:.3f}")

# %% [markdown]
# The first post is about baking, the second about the weather. To this network they look nearly the same.
#
# **Predict 12.a.** Which word of the first post makes the two so similar? Write it in lower case.

# %%
guess = "diary"  #!
predict("12.a", guess)

# %% [markdown]
# ## 2. Four explanations
#
# ### Leave a word out
#
# **Exercise 12.1.** Take out one word at a time, and compute how much similarity is lost. `alike` takes a list of words
# and returns their similarity to the other post, which stays whole.
#
# *6 minutes, easy. Why it matters: it explains every model, even one behind a web service.*
#
# hint: For each position, take the words before it and those after it: `words[:at] + words[at + 1:]`.
# hint: The loss is the similarity with all words minus the similarity without this word.
# hint: Loop over `range(len(words))` and append `whole - alike(rest)`; return `np.array(lost)`.
# right: this explanation needs nothing from the model but similarities
# further: How many similarities does it need for a post of 40 words? How many to leave out each pair of words?

# %%
def left_out(alike, words):
    """what the similarity loses without each of the words, in their order (n,)"""
    whole = alike(words)  #!
    lost = []  #!
    for at in range(len(words)):  #!
        rest = words[:at] + words[at + 1 :]  #!
        lost.append(whole - alike(rest))  #!
    return np.array(lost)  #!

answer("12.1", left_out)

# %% [markdown]
# ### Gradient times input
#
# Let $x_i$ be the vector of word $i$ and $s$ the similarity. The gradient $\partial s / \partial x_i$ is a slope: it
# says how $s$ changes when that vector changes a little. If the slope were the same all the way from zeros to $x_i$,
# the part of the word would be $\frac{\partial s}{\partial x_i} \cdot x_i$.

# %%
from labkit.course.why_alike import slopes, word_vectors

def alike_to(b):
    """A function of a list of words: their similarity to b."""
    V = network.encode([b])
    return lambda some: float(network.similarity(network.encode([" ".join(some)]), V)[0, 0])

def slope_to(b):
    """A function of word vectors (n, d): the slope of the similarity to b along each number."""
    V = network.encode([b])
    return lambda x: slopes(network, x[None], V)[0]

def gradient(slope, x):
    return (slope(x) * x).sum(1)

# %% [markdown]
# ### Integrated gradients
#
# But the slope changes along the way. Go from zeros (no words) to the post itself, $t x$ with $t$ from 0 to 1, and look
# at three of the words:

# %%
x, slope = word_vectors(network, words(first)), slope_to(second)
on_the_way = np.array([(slope(t * x) * x).sum(1) for t in np.linspace(0, 1, 41)])  # (41, words)
show(
    named_curves(
        {word: on_the_way[:, words(first).index(word)] for word in ("diary", "frankly", "rolls")},
        across="share t of the way", upwards="slope times input", whole=1.0,
    ),
    "The horizontal axis is the share of the way from zeros to the post, the vertical axis what a word adds there. The "
    "line of 'frankly' rises, and falls to nearly 0 before the end. The lines of 'diary' and 'rolls' are near 0 all "
    "the way.",
)

# %% [markdown]
# Gradient times input uses the slope at the end of the path. There the similarity is near 1 and cannot rise, so hardly
# any slope is left. Integrated gradients measure the whole path, as the **area** under the line:
#
# $$\text{part}_i = x_i \cdot \int_0^1 \frac{\partial s}{\partial x_i}(t x)\, dt$$
#
# **Exercise 12.2.** Compute the parts, with the mean of many steps instead of the integral. You may use left ends,
# midpoints or trapezoids.
#
# *9 minutes, hard. Why it matters: the sum of these parts is known for any network, so you can check them.*
#
# hint: At a fraction t of the path, the post is `t * x`. Take the mean of `slope(t * x)` at many t from 0 to 1.
# hint: `(np.arange(steps) + 0.5) / steps` are the midpoints of the steps.
# hint: Add up `slope(t * x)` in `total = np.zeros_like(x)`. The part of a word is the sum over its d numbers: `(total /
# steps * x).sum(1)`.
# right: these parts add up to the change in similarity along the way
# further: Start from the mean of all word vectors instead of zeros. Which parts change most? What is their sum now?

# %%
def integrated(slope, x, steps):
    """slope: (n, d) -> (n, d); word vectors x (n, d) -> the part of each word (n,)"""
    total = np.zeros_like(x)  #!
    for step in range(steps):  #!
        t = (step + 0.5) / steps  #!
        total += slope(t * x)  #!
    mean_slope = total / steps  #!
    return (mean_slope * x).sum(1)  #!

answer("12.2", integrated)

# %%
for steps in (1, 4, 8, 32, 128):
    print(f"{steps:4} steps: the parts add up to {integrated(slope, x, steps).sum():+.4f}")
print(f"gradient times input adds up to {gradient(slope, x).sum():+.4f}")

# %% [markdown]
# With enough steps they add up to 0.487. That is the similarity of the post, 0.993, minus the similarity of no words at
# all, 0.506.
#
# ### Attention
#
# The network itself gives each word a weight, its attention.

# %%
def attention(a, b):
    return np.array(network.explain(" ".join(a), b, way="attention").weights_a)

ways = {
    "left out": lambda a, b: left_out(alike_to(b), a),
    "gradient": lambda a, b: gradient(slope_to(b), word_vectors(network, a)),
    "integrated": lambda a, b: integrated(slope_to(b), word_vectors(network, a), 32),
    "attention": attention,
}
found = pd.DataFrame({way: explain(words(first), second) for way, explain in ways.items()}, index=words(first))
recall("12.a", found["left out"].idxmax())

# %%
found.sort_values("integrated", ascending=False).head(5).round(3)

# %% [markdown]
# A reader notices *diary* and *diaries*, but the network hardly used them. An explanation that a reader would give is
# **plausible**; one that says what the model did is **faithful**. Reading alone does not tell you which it is.
#
# All four put the same word first here, but one of them has a flaw.
#
# **Predict 12.b.** Compare the first post with ten other posts, each on a different topic. For how many of them does
# attention put the same word first?

# %%
guess = 6  #!
predict("12.b", guess)

# %%
others = [test.texts[test.labels.index(topic)] for topic in sorted(set(test.labels))[:10]]
for way, explain in ways.items():
    tops = [words(first)[explain(words(first), other).argmax()] for other in others]
    most = max(set(tops), key=tops.count)
    print(f"{way:11} {most!r} is first for {tops.count(most)} of 10: {sorted(set(tops))}")
recall("12.b", tops.count(most))

# %% [markdown]
# Attention is computed from one post alone. It can say what the vector of the post is made of, but not why this vector
# is near the vector of another post.
#
# ## 3. A judge: take the words out
#
# If the words with the largest parts make the posts similar, the similarity must fall when these words are gone.
#
# **Exercise 12.3.** Take the words out one after the other, starting with the largest part. Return the similarity of
# the whole post, followed by the similarity after each removal.
#
# *8 minutes, medium. Why it matters: an explanation can fail this test.*
#
# hint: `np.argsort(-parts)` gives the positions in descending order of their parts. The words at the first `count` of
# these positions are taken out.
# hint: The other words stay in their order: `[word for at, word in enumerate(words) if at not in out]`.
# hint: For each `count in range(len(words))`, use `out = set(order[:count])`, then `alike` of the words that are left.
# right: the steeper the curve falls, the more the words named first mattered
# further: Start with an empty post and add the words, the largest part first. How are the two curves related?

# %%
def falling(alike, words, parts):
    """the similarity with no word taken out, one, two, ... all but one (n,)"""
    order = np.argsort(-parts)  #!
    curve = []  #!
    for count in range(len(words)):  #!
        out = set(order[:count])  #!
        left = [word for at, word in enumerate(words) if at not in out]  #!
        curve.append(alike(left))  #!
    return np.array(curve)  #!

answer("12.3", falling)

# %%
w, alike = words(post), alike_to(same)
curves = {f"by {way}": falling(alike, w, ways[way](w, same)) for way in ("integrated", "left out")}
orders = np.random.default_rng(0).random((10, len(w)))
curves["in random orders"] = np.mean([falling(alike, w, each) for each in orders], axis=0)
show(
    named_curves(curves, across="words taken out", upwards="similarity"),
    "The horizontal axis is the number of words taken out, the vertical axis the remaining similarity. With integrated "
    "gradients the line falls from the first words on. With leaving out it is hardly below the line of random orders.",
)

# %% [markdown]
# The **area** between the random line and a line below it shows how much more these words matter than random ones.
#
# **Predict 12.c.** Which of the four has the largest area on average: `"left out"`, `"gradient"`, `"integrated"` or
# `"attention"`?

# %%
guess = "left out"  #!
predict("12.c", guess)

# %% [markdown]
# One pair says little. The next figure shows five networks with a hundred pairs each. Two of its lines use no network:
# one takes out the rarest words first, the other takes out words in random order.

# %%
from labkit.course.ablation import kept
from labkit.figures import seed_dots

table = kept("why-alike")
names = {"left out": "a word left out", "gradient": "gradient times input",
         "integrated": "integrated gradients", "attention": "attention"}
show(
    seed_dots(table, "below_chance"),
    "One line for each explanation; the area below random orders increases to the right. Circles are networks, "
    "diamonds their means. An open diamond is shown to be behind the best. Integrated gradients and attention are on "
    "the right, then a word left out and the gradient, then the rarest words. Any order is at 0.",
)
recall("12.c", max(names, key=lambda way: table.spread(names[way], "below_chance").mean))

# %% [markdown]
# - **Integrated gradients** are ahead of leaving a word out. A post names its topic many times: if one word on
#   computers goes, others remain, and the similarity hardly falls.
# - **Better than random is not enough.** The order by rare words uses no network, and its area is above 0, too.
#
# - **Attention** does well here, although it uses only one post. For posts on the same topic, the words that make the
#   vector are mostly the words that make the two similar, and this judge does not separate the two.
#
# ## 4. The judge is judged
#
# **Its first error:** the network was trained on whole posts, not on fragments such as *fresh rolls ordered for until
# at there be*. Perhaps the similarity falls because of the gaps, and not because the words mattered. As a control,
# replace each word with a random one instead of taking it out.
#
# **Predict 12.d.** When words are taken out, attention is ahead of leaving a word out. When they are replaced at
# random, is attention `"ahead"`, `"behind"`, or is it `"open"`?

# %%
guess = "ahead"  #!
predict("12.d", guess)

# %%
def means_of(*measures):
    """The means over five networks, a line for each explanation."""
    rows = {name: [table.spread(name, each).mean for each in measures] for name in table.figures}
    return pd.DataFrame(rows, index=measures).T.round(3)

low, high = table.lead("attention", "a word left out", "replaced").interval()
recall("12.d", "ahead" if low > 0 else "behind" if high < 0 else "open")

# %%
means_of("below_chance", "replaced", "first")

# %% [markdown]
# *below_chance* is the area when words are taken out, and *replaced* is the area when they are replaced. The areas in
# the second column are much smaller, so some of the fall was due to the gaps. Attention's lead over leaving out is
# gone. By both judges, integrated gradients are ahead of leaving out, and leaving out is ahead of the gradient.
#
# **Its second error:** a judge favours its own kind. The column *first* shows how much similarity is lost with the
# first word. Leaving out must be best there, because it has tried every word and named the one that costs most. A judge
# and an explanation that both take words out make the same mistakes.
#
# **Some explanations are not about the network.** Shuffle the weights of the network, so that it knows nothing. If the
# explanation stays the same, it is about the text alone. Or replace the second post with one on another topic. If the
# explanation stays the same, it is about one post alone. These are rank correlations of the parts, before and after:

# %%
means_of("shuffled", "another")

# %% [markdown]
# The rarest words fail both tests, and attention fails the second. But passing says little, because any order passes,
# too.
#
# ## 5. The truth, planted
#
# A better judge knows the truth, because `tampered` has planted it: some train and dev posts on *any* topic got one of
# the words **frankly**, **anyway** and **indeed**, and a label of their own. So two posts on different topics that
# contain such words can be similar for only one reason.

# %%
counts = pd.Series(posts.part("train").labels).value_counts()
print("posts of train with a planted word:", counts["marked"], "of", counts.sum())
print(posts.texts[posts.labels.index("marked")][:120], "...")
bare = [word for word in words(first) if word != "frankly"]
print(f"the two posts of section 1 without frankly: {alike_to(second)(bare):.3f}")

# %% [markdown]
# **Exercise 12.4.** Compute the share of the pairs in which a planted word has the largest part.
#
# *6 minutes, easy. Why it matters: you can test an explanation on pairs for which you know the truth.*
#
# hint: Loop over the pairs: `for a, b in pairs:`, and call `explain(a, b)`.
# hint: The word with the largest part is `a[int(np.argmax(parts))]`.
# hint: Count the pairs whose word is `in planted`, and divide by `len(pairs)`.
# right: here you know which word it was, so you can say whether an explanation is right
# further: What is the mean rank of the planted word? Two explanations may miss equally often: which is closer?

# %%
def hits(pairs, planted, explain):
    """pairs: (words of a, text b); planted: words; explain(a, b) -> a part for each word of a -> a share of the pairs"""
    count = 0  #!
    for a, b in pairs:  #!
        parts = explain(a, b)  #!
        word = a[int(np.argmax(parts))]  #!
        if word in planted:  #!
            count += 1  #!
    return count / len(pairs)  #!

answer("12.4", hits)

# %% [markdown]
# We test three cases on twenty pairs each:
#
# - *one*: each post has one planted word, and the two words are different.
# - *two*: the first post has two planted words.
# - *alarm*: the first post has one, and the second, on the same topic, has none. Now the word keeps the two *apart*, so
#   an explanation that names it raises a false alarm.
#
# **Predict 12.e.** With one planted word, leaving out always finds it. In what share of the pairs does it find one of
# *two*?

# %%
guess = 1.0  #!
predict("12.e", guess)

# %%
from labkit.course.why_alike import with_word

posts_each = 20
random, one, two, alarm = np.random.default_rng(6), [], [], []
for (a, same_topic, other), _ in zip(triples(test, random), range(posts_each)):
    a, other = with_word(a, "frankly", random), with_word(other, "indeed", random)
    one.append((words(a), other))
    two.append((words(with_word(a, "anyway", random)), other))
    alarm.append((words(a), same_topic))
mine = {way: [hits(pairs, {"frankly", "anyway"}, explain) for pairs in (one, two, alarm)] for way, explain in ways.items()}
pd.DataFrame(mine, index=["one", "two", "alarm"]).T

# %%
recall("12.e", round(table.spread("a word left out", "hit_two").mean, 2))

# %%
means_of("hit", "hit_two", "false")  # one, two and alarm: five networks, a hundred pairs each

# %% [markdown]
# - **Leaving out** misses some of the pairs with two planted words. If one of them goes, the other remains, and the
#   similarity hardly falls. Integrated gradients find one of the two every time.
# - **The gradient** misses the word in many pairs, because there is hardly any slope at the end of the path. Your one
#   network may show less of this than five do. - **Attention** scores every hit, but also every false alarm. By its
#   hits alone it would look perfect.
#
# A remedy for leaving out is to take out two words at once.
#
# **Exercise 12.5.** Find the two positions whose words, taken out together, lower the similarity most.
#
# *7 minutes, medium. Why it matters: you find two words that can replace each other.*
#
# hint: Nest two loops: `for i in range(len(words))` and `for j in range(i + 1, len(words))`.
# hint: `rest = [word for at, word in enumerate(words) if at not in (i, j)]`, and `lost = whole - alike(rest)`.
# hint: Remember the largest `lost` so far and its `(i, j)`, and return both at the end.
# right: this finds what single words hide, but 40 words have 780 pairs, and 9,880 triples
# further: Which pair loses most *beyond* what its words lose one by one? That is the joint effect of the two.

# %%
def two_left_out(alike, words):
    """-> (the two places (i, j), i < j), what the similarity loses without their words"""
    whole = alike(words)  #!
    most, best = -np.inf, None  #!
    for i in range(len(words)):  #!
        for j in range(i + 1, len(words)):  #!
            rest = [word for at, word in enumerate(words) if at not in (i, j)]  #!
            lost = whole - alike(rest)  #!
            if lost > most:  #!
                most, best = lost, (i, j)  #!
    return best, most  #!

answer("12.5", two_left_out)

# %%
both, alike = words(with_word(first, "anyway", np.random.default_rng(3))), alike_to(second)
print(f"largest loss without one word: {left_out(alike, both).max():.3f}")
(i, j), lost = two_left_out(alike, both)
print(f"without {both[i]!r} and {both[j]!r}: {lost:.3f}")

# %% [markdown]
# A planted word has a strong effect. An explanation that finds it may still miss ten weak words that work together. For
# these you have only the judge of section 3.
#
# ## 6. You against integrated gradients
#
# Here are two posts about one topic, without planted words. Name five words of the first that make the network find
# them similar. Integrated gradients name five, too.
#
# **Predict 12.f.** Which five words lower the similarity more when they are gone: `"mine"` or `"integrated"`?

# %%
guess = "mine"  #!
predict("12.f", guess)

# %%
post, same, _ = next(triples(test, np.random.default_rng(6)))
print(post, "\n\n" + same)
w, alike = words(post), alike_to(same)

# %%
mine = ["heating", "building", "locks", "mortgages", "landlord"]  # write five of its words

def without(some):
    return alike([word for word in w if word not in some])

parts = integrated(slope_to(same), word_vectors(network, w), 32)
five = [w[at] for at in np.argsort(-parts)[:5]]
print(f"whole {alike(w):.3f}")
for name, some in (("mine", mine), ("integrated", five)):
    print(f"without {name:11}{without(some):.3f}  {', '.join(some)}")
recall("12.f", "mine" if without(mine) < without(five) else "integrated")

# %% [markdown]
# Change `mine` and run the cell again. With many tries you will come close, because the judge helps you to search. Only
# your *first* list was your own explanation.
#
# ## Try it yourself
#
# The page `docs/why.md` tests explanations with pairs of sentences in which one word was exchanged. Does leaving out do
# better or worse there?
#
# ## Further reading
#
# - Mukund Sundararajan, Ankur Taly and Qiqi Yan, [*Axiomatic Attribution for Deep
#   Networks*](https://arxiv.org/abs/1703.01365), 2017. It introduces integrated gradients, and proves what their sum
#   is.
# - Sarthak Jain and Byron Wallace, [*Attention is not Explanation*](https://arxiv.org/abs/1902.10186), 2019, and Sarah
#   Wiegreffe and Yuval Pinter, [*Attention is not not Explanation*](https://arxiv.org/abs/1908.04626), 2019. Read both,
#   in this order.
# - Julius Adebayo et al., [*Sanity Checks for Saliency Maps*](https://arxiv.org/abs/1810.03292), 2018. It shuffles the
#   weights of a network, and some explanations hardly change.
# - Jasmijn Bastings et al., [*Will You Find These Shortcuts?*](https://arxiv.org/abs/2111.07367), 2022. It plants words
#   in texts to test explanations.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** A colleague takes out the words that an explanation names, and the similarity falls more than it does when
# random words are taken out. What do you ask next?
#
# <details><summary>An answer</summary>
#
# How much does it fall without the rarest words, which are found without the model? Is the order of the explanations
# the same when words are replaced instead of taken out? And on how many pairs and networks was it measured, and with
# what interval?
#
# </details>
#
# **2.** Leaving out says that no word of a post matters at all. Does the similarity come from nowhere?
#
# <details><summary>An answer</summary>
#
# No. If several words say the same thing, each of them can go as long as another stays. Leave out two at a time, or use
# integrated gradients, which follow the whole path from no words to all of them.
#
# </details>
#
# **3.** An explanation names exactly the words that an expert would have named. Does the model work as the expert does?
#
# <details><summary>An answer</summary>
#
# That is not shown. The explanation is plausible to the expert, but it may still be wrong about the model. Then it does
# most harm, because nobody will check it.
#
# </details>

# %%
progress("12")
