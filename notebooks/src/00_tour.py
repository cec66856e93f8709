# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 0 · A tour
#
# **How do numbers come to know that two sentences belong together?** A *sentence embedding* is a list of numbers for a
# sentence, made so that related sentences get similar lists. In this tour you turn sentences into points, measure how
# good such a space is without looking at any picture, and see what the five methods of this lab do to it.
#
# *40 minutes, 25 of them for four exercises. You need to know what a vector and a dot product are.*
#
# Run a cell with Shift+Enter; while it shows `[*]`, it is working. Where a cell says `...  # your turn`, you write the code.
# `answer(...)` checks it at once. If you are stuck, make a new cell (Esc, then B): `hint("00.1")` gives a hint, three times,
# and `solve("00.1")` shows and runs a solution. Before a result is shown you are asked to predict it; nobody grades
# predictions.

# %%
import numpy as np

from labkit import METHODS
from labkit.course import answer, hint, predict, progress, recall, solve
from labkit.corpora import load
from labkit.corpora.relations import points
from labkit.shipped import DEMONSTRATIONS
from labkit.evaluation import hit_at, inter_intra
from labkit.explore import show
from labkit.figures import clusters, explained_words
from labkit.methods import load_run
from labkit.projection import tsne

# %% [markdown]
# ## 1. From a sentence to a vector
#
# The corpus `topics` has short posts on everyday subjects. The simplest vector of a sentence is the mean of the vectors of
# its words. (Where word vectors come from is told in notebook 8.)

# %%
topics = load("topics")
plain = METHODS["mean-vectors"]()
plain.fit(topics)

a, b, c = plain.encode(
    [
        "The soup was salty and the bread was burnt.",
        "Somebody salted my sauce twice.",
        "Which strings should I put on an old guitar?",
    ]
)
print("a sentence is now", len(a), "numbers:", a[:6].round(2), "...")

# %% [markdown]
# Two vectors are compared by the **cosine** of the angle between them:
#
# $$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert \, \lVert v \rVert}$$
#
# **Exercise 00.1.** Write it.
#
# *5 minutes, easy. What it is for: comparing any two sentences, for every similarity in this lab is this number.*
#
# hint: The dot product says how much two vectors go the same way, times both lengths.
# hint: Divide the dot product by the two lengths.
# hint: `u @ v / (np.linalg.norm(u) * np.linalg.norm(v))`
# right: 1 means the same direction, 0 nothing in common; length plays no part
# further: Double one of two vectors, then turn it round. Which of the two does your `cosine` notice, and which does
# the distance `np.linalg.norm(u - v)` notice?

# %%
def cosine(u, v):
    """two vectors (d,) -> a number from -1 to 1"""
    return u @ v / (np.linalg.norm(u) * np.linalg.norm(v))  #!

answer("00.1", cosine)

# %%
for name, other in (("soup and sauce", b), ("soup and guitar", c)):
    print(f"{name:16} {np.squeeze(cosine(a, other)).item():.2f}")

# %% [markdown]
# ## 2. From vectors to a picture
#
# A vector of a hundred numbers cannot be drawn. A **projection** makes two of them: t-SNE draws points so that those which are
# neighbours among the vectors stay neighbours in the plane. The vectors were made without the topics. `points` takes the
# sentences of twelve topics from the test split.

# %%
test = topics.part("test")
shown = points(test, classes=12)
vectors = plain.encode(shown.texts, normalize_embeddings=True)
show(
    clusters(tsne(vectors), shown),
    "Each mark is a sentence, each colour and shape a topic; the axes themselves mean nothing, "
    "only who is near whom. Some topics (choir, astronomy, baking) gather, many are strewn over "
    "the whole plane.",
)

# %% [markdown]
# Some topics lie together, others run into each other. A picture shows that, but it also bends things: what is far apart in it
# need not be so among the vectors. So we measure in the space itself.
#
# ## 3. Figures that do not lie
#
# **Hit@1** asks of every sentence: is the nearest of all others from the same topic?
#
# **Predict 00.a.** Twelve topics are shown. By chance about one in twelve would be right. What share do you expect here? A
# number from 0 to 1.

# %%
guess = 0.6  #!
predict("00.a", guess)

# %% [markdown]
# **Exercise 00.2.** Write it. $S$ holds the cosines of all sentences with all others, a row for each. Leave $S$ itself as it is.
#
# *8 minutes, medium. What it is for: measuring the space itself, which no picture can bend.*
#
# hint: A sentence is nearest to itself: what must happen to the diagonal of S first?
# hint: Take a copy of S with -∞ on its diagonal. Its `argmax(1)` is the nearest other sentence of each row.
# hint: `others = np.where(np.eye(len(S), dtype=bool), -np.inf, S)`, then the mean of `labels[others.argmax(1)] ==
# labels`.
# right: one number for how well a space knows the classes, measured in the space and not in a picture
# further: Write Hit@3: is one of the three nearest of the same topic? `hit_at(vectors, labels)[3]` says whether you
# are right. Then read a few sentences that miss, each beside its nearest neighbour: which words led them astray?

# %%
def hit_at_1(S, labels):
    """S (n, n), labels (n,) -> the share of rows whose nearest other row has the same label"""
    others = np.where(np.eye(len(S), dtype=bool), -np.inf, S)  #!
    return (labels[others.argmax(1)] == labels).mean()  #!

answer("00.2", hit_at_1)

# %%
labels = np.array(shown.labels)
mine = np.squeeze(hit_at_1(vectors @ vectors.T, labels)).item()
print(f"yours {mine:.3f}, the package {hit_at(vectors, labels)[1]:.3f}")
recall("00.a", mine)

# %% [markdown]
# **Inter/intra ratio.** *Intra* is the mean distance of a sentence to the centre of its class: how wide classes are. *Inter* is
# the mean, over the classes, of the distance from a centre to the nearest other centre: how far apart they are. Their ratio says
# whether classes stand clear of each other.
#
# **Exercise 00.3.** Write it.
#
# *7 minutes, medium. What it is for: seeing whole classes, how wide they are and how far apart, where Hit@1 sees a
# single neighbour.*
#
# hint: First the centre of each class: the mean of its rows.
# hint: Intra: the mean distance of the sentences to their own centre. Inter: the mean, over the centres, of the
# distance to the nearest other one.
# hint: Fill the diagonal of the centres' distances with +∞ before taking the minimum.
# right: above 1 the classes are farther apart than they are wide
# further: Multiply all vectors by 10: what becomes of *intra*, and what of the ratio? Then take the ratio of the
# picture, `tsne(vectors).points`, and say why one may not be held against the other.

# %%
def ratio(rows, labels):
    """rows (n, d), labels (n,) -> inter / intra"""
    names = np.unique(labels)
    centres = np.array([rows[labels == name].mean(0) for name in names])
    own = centres[np.searchsorted(names, labels)]
    intra = np.linalg.norm(rows - own, axis=1).mean()
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2)  #!
    np.fill_diagonal(gaps, np.inf)  #!
    inter = gaps.min(1).mean()  #!
    return inter / intra

answer("00.3", ratio)

# %%
mine = np.squeeze(ratio(vectors, labels)).item()
print(f"yours {mine:.3f}, the package {inter_intra(vectors, labels).ratio:.3f}")

# %% [markdown]
# **Exercise 00.4, a new sentence.** No training is needed to give a new sentence its place. Write one of your own whose nearest
# neighbour among the test sentences is on *cooking*. It is harder than it looks: try to explain each miss.
#
# *5 minutes, easy. What it is for: finding out what a mean of words hears in a sentence.*
#
# hint: What would somebody write who stands in a kitchen and needs advice?
# hint: Words that many sentences on cooking share pull most: soup, oven, sauce.
# hint: Something like: Why does my sauce burn in the pan every time?
# right: a new sentence needs no training: its words bring it to its place
# further: Exchange one word of your sentence after another until it leaves cooking: which one held it there? Then
# write one that a reader would put under cooking, and the mean of its words does not.

# %%
mine = "Why does my sauce burn in the pan every time?"  #!
answer("00.4", mine)

# %% [markdown]
# ## 4. What learning does
#
# A method that *learns* is told which sentences of the training split belong together, and changes the vectors. Here is one that was
# trained before you came (`labkit train` makes it in less than a minute; the app and notebook 2 show how).
#
# **Predict 00.b.** Hit@1 of the plain means stands above. What will it be after learning, on test sentences that the training has
# never seen?

# %%
guess = 0.8  #!
predict("00.b", guess)

# %%
learned = load_run(DEMONSTRATIONS["sentpwnet-topics"].folder)
after = learned.encode(shown.texts, normalize_embeddings=True)
print("                 mean of words   SentPWNet")
for name, figure in (
    ("Hit@1", lambda rows: hit_at(rows, labels)[1]),
    ("inter/intra", lambda rows: inter_intra(rows, labels).ratio),
):
    print(f"{name:16} {figure(vectors):13.3f} {figure(after):11.3f}")
recall("00.b", float(hit_at(after, labels)[1]))

# %%
show(
    clusters(tsne(after), shown),
    "The same test sentences after learning, colours and shapes as before: each topic is now a "
    "cloud of its own, and related topics (cooking and baking, guitar and choir) lie side by "
    "side. A few marks stand in a foreign cloud: these are its mistakes.",
)

# %% [markdown]
# ## 5. Five methods, one line each
#
# They differ in what they are told, and in what they may change. Each cell below shows the one thing that is special to a method.
#
# **[SentPWNet](https://arxiv.org/abs/2005.11347)** (notebooks 1 and 2) is told which sentences belong together, and gives every *pair* of a batch a weight: near negatives
# count, far ones do not. You have just seen its space.
#
# **[Thematic triplets](https://aclanthology.org/P18-2009)** (notebook 3) needs no labels at all. Sections of articles are enough: two sentences of one section lie closer
# than two of different sections. Its network says which words it attends to:

# %%
thematic = load_run(DEMONSTRATIONS["thematic-articles"].folder)
sentence = load("articles").part("test").articles[0].sections[1].paragraphs[0].split(". ")[0]
seen = thematic.attend(sentence)
print(sentence, "\n")
for word, share in sorted(zip(seen.words, seen.shares, strict=True), key=lambda pair: -pair[1])[:6]:
    print(f"{word:14} {share:.2f} {'█' * round(share * 60)}")

# %% [markdown]
# **[SBERT-LP](https://aclanthology.org/2021.findings-emnlp.262)** (notebook 4) learns nothing from labels either. It takes
# vectors that somebody else made, and re-embeds them so that each sentence is still rebuilt from its neighbours. This run took SIF,
# a mean in which frequent words count little, and embedded all sentences of the corpus together, those shown here among them,
# as the paper does, too (section 3.2.2, step 2: its graph of neighbours is built over all sentences).

# %%
relaid = load_run(DEMONSTRATIONS["sbert-lp-topics"].folder)
sif = METHODS["sif"]()
sif.fit(topics)
base, moved = (hit_at(method.encode(shown.texts), labels)[1] for method in (sif, relaid))
print(f"Hit@1 of its base {base:.3f}, re-embedded {moved:.3f}")

# %% [markdown]
# By this score it is open which is better; where the three nearest sentences of training vote for a class, it is ahead of SIF (Train and compare
# in the app has both). When it helps, when it does not, and what becomes of sentences that come later, notebook 4 measures.

# %% [markdown]
# **[P-thought](https://arxiv.org/abs/1808.05505)** (notebook 5) reads a sentence into one vector, from which two decoders write: one the sentence itself, the other a
# paraphrase. What it writes tells what the vector holds. This one is small and learned for a minute; the second line shows it:

# %%
writer = load_run(DEMONSTRATIONS["pthought-captions"].folder)
caption = load("captions").part("test").texts[0]
said = writer.paraphrase([caption])[0]
print("in         ", caption)
print("itself     ", said.written["auto"][0].text)
print("paraphrase ", said.written["paraphrase"][0].text)

# %% [markdown]
# **[FILM](https://arxiv.org/abs/2010.05523)** (notebook 6) learns a metric on weighted word counts, here in about a second, and every
# similarity it gives can be taken apart again, word by word. The parts add up exactly.

# %%
film = load_run(DEMONSTRATIONS["film-questions"].folder)
questions = load("questions").part("test")
same = int(np.flatnonzero(questions.labels == 1)[0])
print(questions.text_a[same], "\n" + questions.text_b[same])
show(
    explained_words(film.explain(questions.text_a[same], questions.text_b[same])),
    "A staircase from 0 up to the similarity of the two questions: each step is what one word "
    "adds (blue) or takes away (orange), a word of the first question marked (a), of the second "
    "(b); the last bar, green, is the similarity itself.",
)

# %% [markdown]
# ## Further reading
#
# The five papers are linked above. Besides:
#
# - Reimers and Gurevych, [*Sentence-BERT*](https://aclanthology.org/D19-1410), 2019. How the sentence vectors are made that most
#   people use today: a large network, and pairs of sentences to compare.
# - Arora, Li, Liang, Ma and Risteski, [*A Latent Variable Model Approach to PMI-based Word
#   Embeddings*](https://aclanthology.org/Q16-1028), 2016. Why counting words near words gives vectors in which directions mean
#   something; SIF grew out of it.
# - Wattenberg, Viégas and Johnson, [*How to Use t-SNE Effectively*](https://doi.org/10.23915/distill.00002), 2016. Pictures to
#   play with; afterwards one believes less of what t-SNE seems to show.
#
# ## Where to go on
#
# - *How does a method decide which pairs matter?* Notebook 1.
# - *I have a file of my own.* Notebook 7, or `make app`, Space.
# - *I want to see it move.* `make app`: the play button of *While it trained*, in Space, walks through the epochs of a training.

# %% [markdown]
# ## Three questions to end with
#
# *No cell checks these. Answer aloud or in writing before you unfold ours.*
#
# **1.** Two sentences lie far apart in the t-SNE picture. How alike are they?
#
# <details><summary>An answer</summary>
#
# The picture does not say. t-SNE keeps near neighbours near and lets all else lie as it falls, so that only short
# distances can be read. How alike the two are is said by their cosine, in the space itself.
#
# </details>
#
# **2.** A space has a Hit@1 near 1, and a ratio of inter to intra below 1. Is one of the figures wrong?
#
# <details><summary>An answer</summary>
#
# No. Hit@1 asks of each sentence for a single neighbour, and classes may be long and thin, lie side by side or wind
# around each other, and still have that neighbour everywhere. The ratio compares the distances of centres with how
# wide the classes are, and sees just this. They are answers to two questions.
#
# </details>
#
# **3.** After learning, test sentences that the training has never seen fare much better. What do you still not know
# about sentences of your own?
#
# <details><summary>An answer</summary>
#
# Whether they are like these. Training and test sentences come from one corpus, are about the same topics, and share
# many of their words. Another topic, or other words for the same, was not tested; a file of your own, with a test
# split of its own, tests it.
#
# </details>

# %%
progress("00")
