"""Every exercise: its solution passes, its untouched cell is open, and each mistake is recognized.

Solutions and untouched cells come from the sources of the notebooks, mistakes from the tables of the checks. Below are
right answers in other forms, and wrong answers that are in no table.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import astuple
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import sparse, stats
from scipy.linalg import eigh
from sklearn.neighbors import NearestNeighbors

from labkit.corpora import load
from labkit.course import exercise as checking
from labkit.course import exercises  # noqa: F401 (fills CHECKS)
from labkit.course.exercise import CHECKS, StillOpen, judge, solution
from labkit.course.notebooks import ANSWERED, has_exercise, questions, read_source, sources, with_gaps
from labkit.evaluation import geometry, inter_intra, p_coherence
from labkit.pairs import locality, masks_from_labels, pair_weights, soft_triplet
from labkit.vectors import ppmi

SOURCES = {source.stem[:2]: source for source in sources()}
KEYS = list(questions())
SEEDS = (0, 1)


# --- cells of the notebooks --------------------------------------------------------------------------------------


def cells_of(number: str) -> list[str]:
    """The code cells of a source, with solutions still marked."""
    return [cell.source for cell in read_source(SOURCES[number]).cells if cell.cell_type == "code"]


def test_every_exercise_is_in_its_notebook_once() -> None:
    found = [key for number in SOURCES for code in cells_of(number) for key, _ in ANSWERED.findall(code)]
    assert found == KEYS
    assert set(CHECKS) == set(KEYS)


@pytest.mark.parametrize("number", SOURCES)
def test_an_open_prediction_stops_nothing(number: str) -> None:
    names = dict(checking._names_before(f"{number}.1"))
    for code in cells_of(number):
        if has_exercise(code) and not ANSWERED.search(code):
            exec(with_gaps(code), names)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exercise(key: str) -> None:
    (cell,) = (code for code in cells_of(key[:2]) if f'answer("{key}"' in code)
    with pytest.raises(StillOpen):
        exec(with_gaps(cell), checking._names_before(key) | {"answer": judge})
    for seed in SEEDS:
        for given in (solution(key), *ALSO_RIGHT.get(key, [])):
            verdict = judge(key, given, seed)
            assert verdict.right, verdict
    for given in ALSO_WRONG.get(key, []):
        assert not judge(key, given, seed=0).right
    asked: dict[int, list[Any]] = {0: [], 1: []}
    if callable(solution(key)):  # memorised cases do not pass: each seed asks for others
        for seed, cases in asked.items():
            judge(key, lambda *case, cases=cases: cases.append(case) or solution(key)(*case), seed)
        assert asked[0]
        assert not set(map(repr, asked[1])) <= set(map(repr, asked[0]))


@pytest.mark.whole
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_mistake_has_its_own_message(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistake in the table of a check is refused with the message of its row."""
    found, find = [], checking.find_mistake

    def every(answer, right, cases, mistakes, **how):
        assert len(mistakes) <= 5
        found.extend((says, find(each, right, cases, mistakes, **how)) for *them, says in mistakes for each in them)
        return "seen"

    monkeypatch.setattr(checking, "find_mistake", every)
    judge(key, solution(key), seed=0)
    assert [row for row in found if row[0] != row[1]] == []


# --- right answers in other forms --------------------------------------------------------------------------------


def step_by_autograd(V, P, N, weights_of, rate):
    """A gradient step on a loss that is linear in S, with these weights as its slopes."""
    W = (weights_of(V @ V.T, P, N) * (N.double() - P.double())).detach()
    free = V.clone().requires_grad_()
    unit = F.normalize(free, dim=1)
    (W * (unit @ unit.T)).sum().div(len(V)).backward()
    return F.normalize(V - rate * free.grad, dim=1)


def batch_in_another_order(some, sentences, classes):
    rows = sorted({row for pair in some for row in pair})
    own = [torch.tensor(sentences[row]) for row in rows]
    same = torch.from_numpy(classes[rows])[:, None].eq(torch.from_numpy(classes[rows])[None])
    numbers = torch.nn.utils.rnn.pad_sequence(own, batch_first=True)
    return [numbers, torch.tensor([len(each) for each in own]), same.clone().fill_diagonal_(False), ~same]


def encoded(net, numbers, lengths):
    x = net["words"](numbers) * (numbers != 0).unsqueeze(2)
    rows = list(zip(x, net["filters"](x.transpose(1, 2)), net["logit"](x).squeeze(2), lengths.tolist(), strict=True))
    largest = torch.stack([answers[:, :n].amax(1) for _, answers, _, n in rows])
    attended = torch.stack([logits[:n].softmax(0) @ own[:n] for own, _, logits, n in rows])
    v = net["out"](torch.hstack([largest, attended]))
    return v / v.norm(dim=1, keepdim=True)


def lost(net, batch, base):
    v = encoded(net, *batch[:2])
    return locality(v @ v.T, *batch[2:], alpha=2.0, beta=20.0, base=base)


def in_order(*acts):
    """A training step that performs these acts in this order."""

    def step(net, optimiser, batch, base):
        for act in acts:
            if act == "loss":
                loss = lost(net, batch, base)
            elif act == "ask":
                loss.backward()
            else:
                {"forget": optimiser.zero_grad, "move": optimiser.step}[act]()
        return float(loss.detach())

    return step


one_step = in_order("forget", "loss", "ask", "move")


def epochs_by_numpy(pairs, size, epochs, seed, learn, note, *, new_order=None, cut=None, mean=np.mean, first=1):
    draw, losses = np.random.default_rng(seed), []
    new_order = new_order or (lambda count: draw.permutation(count))
    cut = cut or (lambda order: [order[at : at + size] for at in range(0, len(order), size)])
    for epoch in range(first, first + epochs):
        losses.append(mean([learn([pairs[row] for row in chunk]) for chunk in cut(new_order(len(pairs)))]))
        note(epoch, losses[-1])
    return losses


def tuned_one_at_a_time(values, train, auc, *, by="dev", says="test"):
    best = None
    for value in values:
        network = train(value)
        if best is None or auc(network, by) > best[0]:
            best = auc(network, by), value, network
    return [best[1], torch.tensor(auc(best[2], says))]


def standings_by_scipy(found):
    names = sorted(found, key=lambda name: found[name].mean())[::-1]
    says = {name: "behind" if verdict_by_scipy(found[names[0]], found[name]) == "first" else "open" for name in names}
    return [[name, np.mean(found[name]), (says | {names[0]: "best"})[name]] for name in names]


def attended_word_by_word(net, numbers):
    h = [net["words"](row[row != 0]) for row in numbers]
    return torch.stack([net["score"](net["hidden"](own).tanh()).softmax(0).T @ own for own in h])[:, 0]


def weights_by_inverse(x, near, reg):
    G = np.array([[(one - x) @ (other - x) for other in near] for one in near])
    inverse = np.linalg.inv(G + reg * np.trace(G) * np.eye(len(G)))
    return inverse.sum(1) / inverse.sum()


def trained_by_itself(loss, C, classes, start, chosen, rate):
    E = torch.nn.Parameter(start.clone())
    optimiser = torch.optim.Adam([E], lr=rate)
    for rows in chosen:
        same = classes[rows][:, None] == classes[rows]
        E.grad = torch.autograd.grad(loss(cosines_of(C[rows] @ E), same & ~torch.eye(len(rows)).bool(), ~same), E)[0]
        optimiser.step()
    return E.detach()


def cosines_of(V):
    return F.cosine_similarity(V[:, None], V[None], dim=2)


def crossing_by_interp(labels, a, b):
    ahead = np.flatnonzero(a >= b)
    if not len(ahead) or not ahead[0]:
        return labels[0] if len(ahead) else math.inf
    near = slice(ahead[0] - 1, ahead[0] + 1)
    return math.exp(np.interp(0, (a - b)[near], np.log(labels[near])))


def falling_one_by_one(alike, words, parts):
    left, found = dict(enumerate(words)), []
    while left:
        found.append(alike([*left.values()]))
        del left[max(left, key=parts.__getitem__)]
    return found


def hit_by_sklearn(V, labels):
    nearest = NearestNeighbors(n_neighbors=2, metric="cosine").fit(V).kneighbors(V)[1][:, 1]  # 0 is the row itself
    return np.mean(labels[nearest] == labels)


def knn_by_sklearn(known, known_labels, asked, asked_labels, k):
    near = NearestNeighbors(n_neighbors=k, metric="cosine").fit(known).kneighbors(asked)[1]
    votes = [Counter(np.array(known_labels)[row].tolist()) for row in near]  # the first counted wins a tie
    return np.mean([each.most_common(1)[0][0] == label for each, label in zip(votes, asked_labels, strict=True)])


def verdict_by_scipy(a, b):
    low, high = stats.ttest_rel(a, b).confidence_interval(0.95)
    return "first" if low > 0 else "second" if high < 0 else "open"


def batches_by_numpy(pairs, size, steps, seed):
    draw, count = np.random.default_rng(seed), len(pairs) // size
    orders = [draw.permutation(len(pairs))[: count * size].reshape(count, size) for _ in range(steps // count + 1)]
    return [torch.tensor(list({*pairs[rows].flatten().tolist()})) for rows in np.concatenate(orders)[:steps]]


def infonce_by_loops(S, P, N, tau):
    rivals = [torch.cat([S[i, p][None], S[i][N[i]]]) / tau for i, p in P.nonzero()]
    return torch.stack([F.cross_entropy(each, torch.tensor(0)) for each in rivals]).mean()


def interval_by_scipy(values):
    mean = values.mean(axis=1)
    return [mean, *stats.t.interval(0.95, values.shape[1] - 1, mean, stats.sem(values, axis=1))]


def forecast_by_lstsq(labels, scores, target):
    g, c = np.linalg.lstsq(np.c_[np.log(labels), np.ones(len(labels))], scores, rcond=None)[0]
    return math.exp((target - c) / g) if g > 0 else math.inf


def triplets_by_product(sections, apart):
    rows = [(at, one, text) for at, section in enumerate(sections) for one, text in section]
    return [
        [a, p, n]
        for (at, one, a), (same, two, p), (beside, _, n) in itertools.product(rows, repeat=3)
        if at == same and 0 < abs(one - two) <= apart and abs(at - beside) == 1
    ]


def ratio_by_sigmoid(a, p, n, scale):
    a, p, n = (F.normalize(each, dim=1) for each in (a, p, n))
    return 2 * torch.sigmoid(scale * (a * (n - p)).sum(1))


def mean_similarity(S, labels):
    return sum(S[np.ix_(own, own)].sum() / own.sum() for own in (labels == each for each in set(labels))) / len(S)


def regrouped_by_the_best_move(S, labels, most=1000):
    for _ in range(most):
        moves = [np.where(np.arange(len(S)) == row, name, labels) for row in range(len(S)) for name in set(labels)]
        best = max(moves, key=lambda each: mean_similarity(S, each))
        if mean_similarity(S, best) < mean_similarity(S, labels) + 1e-9:
            break
        labels = best
    return labels


def turned(W, p):
    """The p smallest eigenvectors, with a penalty on the constant one, rotated: orthonormal at the same cost."""
    M = (np.eye(len(W)) - W).T @ (np.eye(len(W)) - W)
    Y = eigh(M + 9 / len(M), subset_by_index=[0, p - 1])[1] * np.sqrt(len(M))
    return Y @ np.linalg.qr(np.random.default_rng(1).normal(size=(p, p)))[0]


def attraction_by_sparse_matrix(X, triplets):
    i, j, k = triplets.T
    share = 1 / (np.bincount(i, minlength=len(X))[i] + 1)
    places = np.r_[i, i], np.r_[j, k]
    A = X.T @ (sparse.coo_array((np.r_[share, -share], places), (len(X), len(X))).tocsr() @ X)
    return (A + A.T) / 2


def turned_closed_form(A, d):
    values, vectors = eigh(A, subset_by_index=[len(A) - d, len(A) - 1])
    L = np.sqrt(values.clip(0))[:, None] * vectors.T
    return np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))[0] @ L


def generalised_closed_form(X, A, d, ridge):
    values, vectors = eigh(A, X.T @ X + ridge * np.eye(len(A)))
    return np.sqrt(values[-d:].clip(0))[:, None] * vectors[:, -d:].T


def paid_one_by_one(net, decoder, v, numbers, lengths):
    """A loop over sentences and words, with torch's own cross-entropy."""
    costs = []
    for own, row, n in zip(v, numbers, lengths.tolist(), strict=True):
        state = own[None, None]
        for read, write in zip([0, *row[:n].tolist()], [*row[:n].tolist(), 0], strict=True):
            x = torch.cat([net["words"](torch.tensor([[read]])), own[None, None]], 2)
            out, state = net[decoder](x, state)
            logits = net[f"{decoder} word"](out)[0, 0]
            costs.append(torch.nn.functional.cross_entropy(logits, torch.tensor(write)))
    return torch.stack(costs).mean()


def written(net, decoder, v, longest, *, pick=torch.argmax):
    found, state = [0], v[None]
    while len(found) <= longest:
        read = net["words"](torch.tensor([found[-1:]]))
        out, state = net[decoder](torch.cat([read, v[None]], 2), state)
        found.append(int(pick(net[f"{decoder} word"](out[0, 0]))))
        if not found[-1]:
            break
    return [word for word in found if word]


def counted_by_pairs(sentences, size, window):
    table = np.zeros((size, size))
    for sentence in sentences:
        for (at, i), (other, j) in itertools.combinations(enumerate(sentence), 2):
            table[[i, j], [j, i]] += (other - at <= window) / (other - at) if i != j else 0
            table[i, i] += 2 * (i == j) * (other - at <= window) / (other - at)
    return table


def sif_by_row(sentences, table, share, a=0.001):
    zero = np.zeros(len(next(iter(table.values()))))
    known = [[word for word in sentence if word in table] for sentence in sentences]
    M = np.array([sum((a / (a + share[w]) * table[w] / len(row) for w in row), zero) for row in known])
    c = eigh(M.T @ M)[1][:, -1]
    return [m - (m @ c) * c for m in M]


def trapezoids(slope, x, steps):
    slopes = np.array([slope(t * x) for t in np.linspace(0, 1, steps + 1)])
    return ((slopes[1:] + slopes[:-1]) / 2 * x).mean(0).sum(1)


def two_by_combinations(alike, words):
    def left(pair):
        return alike([word for at, word in enumerate(words) if at not in pair])

    least = min(itertools.combinations(range(len(words)), 2), key=left)
    return [*least][::-1], alike(words) - left(least)


ALSO_RIGHT: dict[str, list[Any]] = {
    "00.1": [lambda v, V: torch.cosine_similarity(torch.tensor(V), torch.tensor(v)[None])],
    "00.2": [hit_by_sklearn],
    "00.3": [lambda V, labels: inter_intra(V, labels).ratio],
    "00.4": ["MY SAUCE AND MY SOUP BURN IN THE OVEN"],
    "01.1": [lambda V, labels: (cosines_of(V), *masks_from_labels(labels))],
    "01.2": [pair_weights],
    "01.3": [partial(pair_weights, soft_triplet)],
    "01.4": [lambda S, P, N, a, b, t: pair_weights(partial(locality, alpha=a, beta=b, base=t), S, P, N)],
    "01.5": [step_by_autograd],
    "02.1": [batch_in_another_order],
    "02.2": [encoded],
    "02.3": [one_step, in_order("loss", "ask", "move", "forget")],
    "02.4": [epochs_by_numpy],
    "02.5": [tuned_one_at_a_time],
    "03.1": [triplets_by_product],
    "03.2": [ratio_by_sigmoid],
    "03.3": [attended_word_by_word],
    "03.4": [lambda S, labels: np.trace(np.linalg.pinv(np.eye(9)[labels]) @ S @ np.eye(9)[labels]) / len(S)],
    "03.5": [regrouped_by_the_best_move],
    "04.1": [weights_by_inverse],
    "04.3": [turned],
    "04.4": [turned],
    "05.1": [paid_one_by_one],
    "05.3": [written],
    "05.4": [lambda vectors, groups: list(astuple(p_coherence(vectors, groups))[:2])],
    "06.2": [attraction_by_sparse_matrix],
    "06.3": [turned_closed_form],
    "06.4": [generalised_closed_form],
    "07.1": [verdict_by_scipy],
    "07.2": [standings_by_scipy],
    "07.3": [lambda groups: ["test" if random.Random(each).random() < 0.2 else "train" for each in groups]],
    "07.4": [knn_by_sklearn],
    "08.1": [counted_by_pairs],
    "08.2": [lambda counts: ppmi(sparse.csr_array(counts), smoothing=1.0)],
    "08.3": [lambda V, word, n: NearestNeighbors(metric="cosine").fit(V).kneighbors(V[[word]], n + 1)[1][0, 1:]],
    "08.5": [sif_by_row],
    "09.1": [geometry.mean_cosine],
    "09.2": [geometry.effective_rank],
    "09.4": [lambda v, pull: [g - np.outer(a, a) @ g for a, g in zip(v, pull, strict=True)]],
    "10.1": [lambda W, N: np.mean([w[n].max() / w[n].sum() for w, n in zip(W, N, strict=True) if w[n].any()])],
    "10.2": [batches_by_numpy],
    "10.3": [trained_by_itself],
    "10.4": [infonce_by_loops],
    "11.2": [interval_by_scipy],
    "11.3": [crossing_by_interp],
    "11.4": [forecast_by_lstsq],
    "12.2": [trapezoids],
    "12.3": [falling_one_by_one],
    "12.5": [two_by_combinations],
}  # fmt: skip


# --- wrong answers in no table -----------------------------------------------------------------------------------


def drawn_once(groups):
    draw = random.Random(0)
    part = {name: "test" if draw.random() < 0.2 else "train" for name in dict.fromkeys(groups)}
    return [part[each] for each in groups]


def trained_twice(values, train, auc):
    best, _ = tuned_one_at_a_time(values, train, auc)
    return best, auc(train(best), "test")


def without_gradients(net, numbers, lengths):
    with torch.no_grad():
        return encoded(net, numbers, lengths)


def drawn(seed, warmth=1.0):
    def pick(logits):
        return torch.multinomial((logits / warmth).softmax(0), 1, generator=draw)

    draw = torch.Generator().manual_seed(seed)
    return partial(written, pick=pick)


ALSO_WRONG: dict[str, list[Any]] = {
    "00.4": ["xyzzy plugh frobnicate", "Which guitar strings are best?", "soup", 7],
    "02.1": [lambda *given: batch_in_another_order(*given)[:2]],
    "02.2": [without_gradients],
    "02.3": [
        in_order("loss", "ask", "forget", "move"),
        lambda net, optimiser, batch, base: one_step(net, optimiser, batch, base) and lost(net, batch, base).item(),
    ],
    "02.4": [
        partial(epochs_by_numpy, new_order=range),
        partial(epochs_by_numpy, new_order=lambda count: np.random.default_rng(0).permutation(count)),
        partial(epochs_by_numpy, cut=lambda order: [order[at : at + 4] for at in range(0, len(order), 4)][:-1]),
        partial(epochs_by_numpy, first=0),
        lambda pairs, *rest: epochs_by_numpy(range(len(pairs)), *rest),
        lambda *given: epochs_by_numpy(*given[:-1], lambda epoch, loss: None),
        lambda *given: epochs_by_numpy(*given)[-1],
    ],
    "02.5": [trained_twice, partial(tuned_one_at_a_time, by="valid")],
    "03.1": [lambda sections, apart: ["no triplet"]],
    "03.2": [lambda *given: torch.tensor(solution("03.2")(*given).tolist())],
    "03.5": [
        lambda S, labels: labels,
        lambda S, labels: regrouped_by_the_best_move(S, labels, most=2),
        lambda S, labels: np.arange(len(S)),
    ],
    "04.3": [
        lambda W, p: 3 * turned(W, p) / math.sqrt(len(W)),
        lambda W, p: turned(W, p + 1)[:, :p],
        lambda W, p: turned(W, p).T,
    ],
    "04.4": [lambda W, p: solution("04.3")(W, p)],
    "05.1": [lambda *given: paid_one_by_one(*given).detach()],
    "05.3": [lambda *given: " ".join(map(str, written(*given)))],
    "07.3": [
        lambda groups: ["test" if place % 5 == 0 else "train" for place in range(len(groups))],
        lambda groups: ["train"] * len(groups),
        drawn_once,
        lambda groups: ["test" if each[-1] in "05" else "train" for each in groups],
    ],
}  # fmt: skip


# --- assumptions of the checks -----------------------------------------------------------------------------------


def test_sentences_drawn_at_random_are_never_greedy() -> None:
    for seed in range(3):
        assert not judge("05.3", drawn(seed)).right


def test_a_sentence_of_the_corpus_is_not_ones_own() -> None:
    topics = load("topics")
    for split in ("train", "test"):
        part = topics.part(split)
        theirs = next(text for text, label in zip(part.texts, part.labels, strict=True) if label == "cooking")
        assert not judge("00.4", theirs).right
        assert not judge("00.4", theirs.upper().rstrip(".?") + " !").right
