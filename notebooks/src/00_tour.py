# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 0 · A tour
#
# **How can numbers show that two sentences belong together?** A *sentence embedding* is a list of numbers for a
# sentence, made so that related sentences get similar lists. In this tour you turn sentences into points, measure how
# good such a space is without looking at a picture, and see what the five methods of this course do to it.
#
# *40 minutes, 27 of them for four exercises. You need to know what a vector and a dot product are.*
#
# Run a cell with Shift+Enter; while it shows `[*]`, it is working. Where a cell says `...  # your turn`, you write the
# code, and `answer(...)` checks it at once. If you are stuck, add a new cell (Esc, then B): `hint("00.1")` gives the
# next of three hints, and `solve("00.1")` shows and runs a solution. You are asked to predict each result; predictions
# are not graded.
#
# Start by playing. Each mark is a sentence, each colour a topic. Press **Play** and watch the sentences learn which of
# them belong together. Which marks move first, and which move last?

# %%
from labkit import playground
from labkit.course import answer, hint, predict, progress, recall, solve

playground()

# %% [markdown]
# ## 1. From a sentence to a vector
#
# `topics` contains short posts about everyday topics. The simplest vector of a sentence is the mean of the vectors of
# its words. (In lesson 8 you build word vectors.)

# %%
import numpy as np

from labkit import METHODS, load

topics = load("topics")
plain = METHODS["mean-vectors"]()
plain.fit(topics)

three = [
    "The soup was salty and the bread was burnt.",
    "Somebody salted my sauce twice.",
    "Which strings should I put on an old guitar?",
]
vectors = plain.encode(three)
print("three sentences are now", vectors.shape, "numbers; the first begins with", vectors[0, :5].round(2))

# %% [markdown]
# Two vectors are compared by the **cosine** of the angle between them:
#
# $$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert \, \lVert v \rVert}$$
#
# **Exercise 00.1.** Compute the cosine of one vector with each row of a table.
#
# *5 minutes, easy. Why it matters: every similarity in this course is this number.*
#
# hint: The dot product grows with both lengths, and with how well the directions agree.
# hint: Divide the dot product by the two lengths; `np.linalg.norm(v)` is the length of v.
# hint: For each row w of V: `v @ w / (np.linalg.norm(v) * np.linalg.norm(w))`.
# right: 1 means that two vectors point the same way, 0 that they have nothing in common; length does not matter
# further: Double one of the vectors, then reverse it. Which of the two steps changes the cosine? Which changes the
# distance `np.linalg.norm(u - v)`?

# %%
def cosines(v, V):
    """a vector (d,) and a table of vectors (n, d) -> the cosine of v with each row (n,)"""
    found = np.zeros(len(V))  #!
    for row, w in enumerate(V):  #!
        lengths = np.linalg.norm(v) * np.linalg.norm(w)  #!
        found[row] = v @ w / lengths  #!
    return found  #!

answer("00.1", cosines)

# %%
for text, cosine in zip(three, cosines(vectors[0], vectors)):
    print(f"{cosine:.2f}  {text}")

# %% [markdown]
# ## 2. From vectors to a picture
#
# A vector of a hundred numbers cannot be drawn. A **projection** reduces it to two numbers. t-SNE places points so that
# neighbours among the vectors stay neighbours in the plane. Here are the test posts on twelve topics. The topics were
# not used to make the vectors.

# %%
from labkit.corpora.relations import points
from labkit.explore import show
from labkit.figures import clusters
from labkit.projection import tsne

shown = points(topics.part("test"), classes=12)
V = plain.encode(shown.texts, normalize_embeddings=True)
labels = np.array(shown.labels)
show(
    clusters(tsne(V), shown),
    "Each mark is a sentence, each colour and shape a topic. The axes mean nothing; only nearness matters. Some topics (choir, "
    "astronomy, baking) form clusters, but many are scattered over the whole plane.",
)

# %% [markdown]
# Some topics form clusters, others are mixed. The picture shows that, but it also distorts: marks that are far apart
# need not have distant vectors. So we measure in the space itself.
#
# ## 3. Scores that do not lie
#
# **Hit@1** asks of every sentence: is its nearest neighbour about the same topic?
#
# **Predict 00.a.** By chance, about one in twelve would be right. What share do you expect here? Write a number from 0 to 1.

# %%
guess = 0.6  #!
predict("00.a", guess)

# %% [markdown]
# **Exercise 00.2.** Compute Hit@1 with your `cosines`.
#
# *9 minutes, medium. Why it matters: it measures the space itself, which no picture can distort.*
#
# hint: Loop over the rows. A sentence is nearest to itself: what must you do with its own entry?
# hint: `near = cosines(v, V)`, then `near[row] = -np.inf`; `near.argmax()` is the row of the nearest other sentence.
# hint: Count the rows with `labels[near.argmax()] == labels[row]`, and divide by the number of rows.
# right: this number says how well a space separates the topics, and it is measured in the space, not in a picture
# further: Write Hit@3: is one of the three nearest sentences about the same topic? Then read a few misses, each next to
# its nearest neighbour. Which words led them astray?

# %%
def hit_at_1(V, labels):
    """V (n, d), labels (n,) -> the share of rows whose nearest other row has the same label"""
    hits = 0  #!
    for row, v in enumerate(V):  #!
        near = cosines(v, V)  #!
        near[row] = -np.inf  #!
        if labels[near.argmax()] == labels[row]:  #!
            hits += 1  #!
    return hits / len(V)  #!

answer("00.2", hit_at_1)

# %%
print(f"Hit@1 of the plain means: {hit_at_1(V, labels):.3f}")
recall("00.a", round(hit_at_1(V, labels), 3))

# %% [markdown]
# **Inter/intra** compares whole classes. *Intra* is the mean distance from a sentence to the centre of its class: it
# shows how wide the classes are. *Inter* is the mean distance from a centre to the nearest other centre: it shows how
# far apart the classes are.
#
# **Exercise 00.3.** Compute inter divided by intra.
#
# *8 minutes, medium. Why it matters: Hit@1 sees a single neighbour, but this number sees whole classes.*
#
# hint: The centre of a class is the mean of its rows: `V[labels == name].mean(0)`.
# hint: Intra is the distance from each row to its own centre, averaged over all rows.
# hint: Inter is the smallest distance from each centre to a centre of *another* class, averaged over the centres.
# right: if the ratio is above 1, classes are farther apart than they are wide
# further: Multiply all vectors by 10. What happens to intra, and to the ratio?

# %%
def ratio(V, labels):
    """V (n, d), labels (n,) -> inter / intra"""
    centres = {name: V[labels == name].mean(0) for name in np.unique(labels)}  #!
    own = [np.linalg.norm(v - centres[name]) for v, name in zip(V, labels)]  #!
    gaps = []  #!
    for name, centre in centres.items():  #!
        others = [np.linalg.norm(centre - other) for key, other in centres.items() if key != name]  #!
        gaps.append(min(others))  #!
    return np.mean(gaps) / np.mean(own)  #!

answer("00.3", ratio)

# %%
print(f"inter/intra of the plain means: {ratio(V, labels):.3f}")

# %% [markdown]
# **Exercise 00.4, a new sentence.** You can place a new sentence without any training. Write one whose nearest
# neighbour among the test posts is about *cooking*. This is harder than it looks. Try to explain each miss.
#
# *5 minutes, easy. Why it matters: you find out what a mean of word vectors picks up from a sentence.*
#
# hint: Imagine somebody in a kitchen who needs advice. What would they write?
# hint: The words that count most are those that many posts about cooking share: soup, oven, sauce.
# hint: For example: Why does my sauce burn in the pan every time?
# right: where a sentence lands depends on its words
# further: Replace the words of your sentence one by one until it no longer lands in cooking. Which word had kept it
# there?

# %%
mine = "Why does my sauce burn in the pan every time?"  #!
answer("00.4", mine)

# %% [markdown]
# ## 4. What learning does
#
# A method that *learns* is told which sentences of the training split belong together, and changes the vectors. Here is
# a trained network (`labkit train` trains one in less than a minute).
#
# **Predict 00.b.** What is Hit@1 after learning, on test posts that the network has never seen?

# %%
guess = 0.8  #!
predict("00.b", guess)

# %%
from labkit.methods import load_run
from labkit.shipped import DEMONSTRATIONS

learned = load_run(DEMONSTRATIONS["sentpwnet-topics"].folder)
after = learned.encode(shown.texts, normalize_embeddings=True)
for name, rows in (("plain means", V), ("SentPWNet", after)):
    print(f"{name:12} Hit@1 {hit_at_1(rows, labels):.3f}, inter/intra {ratio(rows, labels):.3f}")
recall("00.b", round(hit_at_1(after, labels), 3))

# %%
show(
    clusters(tsne(after), shown),
    "The same test posts after learning: each topic is now a cloud of its own, and related topics (cooking and baking, guitar "
    "and choir) are side by side. A few marks are in the wrong cloud: these are the network's mistakes.",
)

# %% [markdown]
# ## 5. Five methods, one line each
#
# The methods differ in what they are told, and in what they may change.
#
# **[SentPWNet](https://arxiv.org/abs/2005.11347)** (lessons 1 and 2) is told which sentences belong together, and gives every *pair*
# a weight: near negatives count, distant ones do not. You have just seen its space.
#
# **[Thematic triplets](https://aclanthology.org/P18-2009)** (lesson 3) needs no labels. Sections of articles are
# enough: two sentences from one section should be nearer to each other than two from different sections. Its network
# shows which words it attends to:

# %%
thematic = load_run(DEMONSTRATIONS["thematic-articles"].folder)
sentence = load("articles").part("test").articles[0].sections[1].paragraphs[0].split(". ")[0]
seen = thematic.attend(sentence)
print(sentence, "\n")
for word, share in sorted(zip(seen.words, seen.shares), key=lambda pair: -pair[1])[:6]:
    print(f"{word:14} {share:.2f} {'█' * round(share * 60)}")

# %% [markdown]
# **[SBERT-LP](https://aclanthology.org/2021.findings-emnlp.262)** (lesson 4) does not use labels either. It takes
# existing vectors and moves each sentence so that it remains a mixture of its neighbours. Here it starts from SIF, a
# mean in which frequent words count little:

# %%
relaid = load_run(DEMONSTRATIONS["sbert-lp-topics"].folder)
sif = METHODS["sif"]()
sif.fit(topics)
for name, method in (("SIF", sif), ("moved by SBERT-LP", relaid)):
    print(f"{name:18} Hit@1 {hit_at_1(method.encode(shown.texts), labels):.3f}")

# %% [markdown]
# The difference is small. This run embedded these posts together with all other posts, as the paper does. In lesson 4
# you measure when the method helps and when it hurts.
#
# **[P-thought](https://arxiv.org/abs/1808.05505)** (lesson 5) turns a sentence into one vector, from which one decoder
# writes the sentence itself and another a paraphrase. This network is small and was trained for only a minute, and it
# shows:

# %%
writer = load_run(DEMONSTRATIONS["pthought-captions"].folder)
caption = load("captions").part("test").texts[0]
said = writer.paraphrase([caption])[0]
print("in         ", caption)
print("itself     ", said.written["auto"][0].text)
print("paraphrase ", said.written["paraphrase"][0].text)

# %% [markdown]
# **[FILM](https://arxiv.org/abs/2010.05523)** (lesson 6) learns a metric on weighted word counts in about a second, and
# every similarity can be broken down word by word. The parts add up exactly:

# %%
from labkit.figures import explained_words

film = load_run(DEMONSTRATIONS["film-questions"].folder)
questions = load("questions").part("test")
same = int(np.flatnonzero(questions.labels == 1)[0])
print(questions.text_a[same], "\n" + questions.text_b[same])
show(
    explained_words(film.explain(questions.text_a[same], questions.text_b[same])),
    "A staircase from 0 up to the similarity of the two questions. Each step shows what one word adds (blue) or subtracts "
    "(orange); (a) marks words of the first question, (b) of the second. The green bar at the end is the similarity.",
)

# %% [markdown]
# ## Where to go next
#
# - *How does a method decide which pairs matter?* Lesson 1.
# - *I have a file of my own.* Lesson 7, or **Space** in the app (`make app`).
#
# ## Further reading
#
# - Reimers and Gurevych, [*Sentence-BERT*](https://aclanthology.org/D19-1410), 2019. Most of today's sentence vectors
#   are made in this way.
# - Wattenberg, Viégas and Johnson, [*How to Use t-SNE Effectively*](https://doi.org/10.23915/distill.00002), 2016. Its
#   interactive pictures show how t-SNE can mislead you.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Say or write down your answer before you open ours.*
#
# **1.** Two sentences are far apart in the t-SNE picture. How similar are they?
#
# <details><summary>An answer</summary>
#
# The picture does not say. t-SNE keeps near neighbours near and ignores the rest, so only short distances mean
# something. To see how similar the two are, compute their cosine in the space itself.
#
# </details>
#
# **2.** A space has a Hit@1 near 1, and inter/intra below 1. Is one of the two numbers wrong?
#
# <details><summary>An answer</summary>
#
# No. Hit@1 looks at a single neighbour of each sentence. Classes may be long and thin, side by side or wound around
# each other, and each sentence may still be nearest to one of its own class. The ratio compares how far apart the
# centres are with how wide the classes are.
#
# </details>
#
# **3.** After learning, the scores are much higher on test sentences that the network has never seen. What do you still
# not know about your own sentences?
#
# <details><summary>An answer</summary>
#
# You know whether they are similar to these. Training and test posts come from one corpus, are about the same topics,
# and share many words. Other topics, and other words for the same topics, were not tested. To test them, use a file of
# your own with a test split.
#
# </details>

# %%
progress("00")
