// The losses of labkit.pairs, each by the closed form of its derivative, and the weights of pairs.
//
//   s   similarities of one anchor with the m sentences of the batch (m,)
//   P   places of its positives, a list      N   places of its negatives
//   g   (m,), to which the anchor's dL/ds is added: below 0 pulls the pair together, above 0 pushes it apart
//
// A loss is the mean over the m anchors of the anchor's term, so m · dL/dS has one row an anchor, which the functions
// below write. The weight of a pair is its size. CoSENT compares the pairs of all anchors with one another: to it, the
// whole batch is one row. In double precision no exponent overflows: |S| ≤ 1, τ ≥ 0.01 and β ≤ 100 end at e^300.

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const sum = (places, term) => places.reduce((total, place) => total + term(place), 0);

/** Σ_N [S - margin]₊ - Σ_P S: every positive pulls alike, negatives push beyond the margin. */
function contrastive(s, P, N, { margin }, g) {
  for (const p of P) g[p] -= 1;
  for (const n of N) if (s[n] > margin) g[n] += 1;
}

/** Σ_P Σ_N τ log(1 + e^((S_n - S_p)/τ)): a triplet weighs σ((S_n - S_p)/τ), however far it is from being in order. */
function softTriplet(s, P, N, { temperature }, g) {
  for (const p of P) {
    for (const n of N) {
      const weight = sigmoid((s[n] - s[p]) / temperature);
      g[p] -= weight;
      g[n] += weight;
    }
  }
}

/** Σ_P Σ_N [S_n - S_p + margin]₊: a triplet in order by the margin counts nothing, any other counts 1. */
function marginTriplet(s, P, N, { margin }, g) {
  for (const p of P) {
    for (const n of N) {
      if (s[n] - s[p] + margin > 0) {
        g[p] -= 1;
        g[n] += 1;
      }
    }
  }
}

/** 1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ))), λ = base: shares, so neither side exceeds 1. */
function locality(s, P, N, { alpha, beta, base }, g) {
  const pull = (p) => Math.exp(-alpha * (s[p] - base));
  const push = (n) => Math.exp(beta * (s[n] - base));
  const pulls = 1 + sum(P, pull);
  const pushes = 1 + sum(N, push);
  for (const p of P) g[p] -= pull(p) / pulls;
  for (const n of N) g[n] += push(n) / pushes;
}

/** Σ_P τ log(1 + e^((λ - S)/τ)) + Σ_N τ log(1 + e^((S - λ)/τ)), λ = base: each pair by itself, the same or not. */
function logistic(s, P, N, { base, temperature }, g) {
  for (const p of P) g[p] -= sigmoid((base - s[p]) / temperature);
  for (const n of N) g[n] += sigmoid((s[n] - base) / temperature);
}

/** Mean over P of -log(e^(S_p/τ) / (e^(S_p/τ) + Σ_N e^(S_n/τ))): each positive against the negatives alone. */
function infonce(s, P, N, { temperature }, g) {
  if (!P.length) return;
  const e = (place) => Math.exp(s[place] / temperature);
  const negatives = sum(N, e);
  const scale = 1 / (P.length * temperature);
  let picked = 0; // Σ_p 1/q_p with q_p = e^(S_p/τ) + Σ_N e^(S_n/τ)
  for (const p of P) {
    const q = e(p) + negatives;
    g[p] -= (1 - e(p) / q) * scale;
    picked += 1 / q;
  }
  for (const n of N) g[n] += e(n) * picked * scale;
}

/** -1/|P| Σ_p log(e^(S_p/τ) / Σ_{P∪N} e^(S/τ)): positives are rivals, too; one beyond its share 1/|P| is pushed. */
function supcon(s, P, N, { temperature }, g) {
  if (!P.length) return;
  const e = (place) => Math.exp(s[place] / temperature);
  const total = sum(P, e) + sum(N, e);
  for (const p of P) g[p] += (e(p) / total - 1 / P.length) / temperature;
  for (const n of N) g[n] += e(n) / total / temperature;
}

/** log(1 + Σ_N e^(S_n/τ) · Σ_P e^(-S_p/τ)), P and N of all anchors: every positive pair above every negative pair. */
function cosent(s, P, N, { temperature }, g) {
  const low = sum(P, (p) => Math.exp(-s[p] / temperature));
  const high = sum(N, (n) => Math.exp(s[n] / temperature));
  const scale = 1 / ((1 + low * high) * temperature);
  for (const p of P) g[p] -= Math.exp(-s[p] / temperature) * high * scale;
  for (const n of N) g[n] += Math.exp(s[n] / temperature) * low * scale;
}

/** Every loss: its gradient, the names of its hyperparameters, and its term as it is written. */
export const LOSSES = {
  infonce: {
    title: "InfoNCE",
    gradient: infonce,
    dials: ["temperature"],
    formula: "mean over P of −log( e^(Sₚ/τ) / (e^(Sₚ/τ) + Σ_N e^(Sₙ/τ)) )",
  },
  supcon: {
    title: "Supervised contrastive",
    gradient: supcon,
    dials: ["temperature"],
    formula: "−1/|P| Σₚ log( e^(Sₚ/τ) / Σ_P∪N e^(S/τ) )",
  },
  contrastive: {
    title: "Contrastive",
    gradient: contrastive,
    dials: ["margin"],
    formula: "Σ_N [S − margin]₊ − Σ_P S",
  },
  "soft-triplet": {
    title: "Soft triplet",
    gradient: softTriplet,
    dials: ["temperature"],
    formula: "Σ_P Σ_N τ log(1 + e^((Sₙ − Sₚ)/τ))",
  },
  "margin-triplet": {
    title: "Margin triplet",
    gradient: marginTriplet,
    dials: ["margin"],
    formula: "Σ_P Σ_N [Sₙ − Sₚ + margin]₊",
  },
  locality: {
    title: "Locality (multi-similarity)",
    gradient: locality,
    dials: ["alpha", "beta", "base"],
    formula: "1/α log(1 + Σ_P e^(−α(S − λ))) + 1/β log(1 + Σ_N e^(β(S − λ)))",
  },
  logistic: {
    title: "Logistic",
    gradient: logistic,
    dials: ["base", "temperature"],
    formula: "Σ_P τ log(1 + e^((λ − S)/τ)) + Σ_N τ log(1 + e^((S − λ)/τ))",
  },
  cosent: {
    title: "CoSENT",
    gradient: cosent,
    dials: ["temperature"],
    formula: "log(1 + Σ_N Σ_P e^((Sₙ − Sₚ)/τ)), P and N of the whole batch",
    wholeBatch: true,
  },
};

/** Places of positives and negatives of each anchor: P[i] holds j of the same label, N[i] those of another. */
export function masksFromLabels(labels) {
  const P = labels.map(() => []);
  const N = labels.map(() => []);
  labels.forEach((own, i) => labels.forEach((other, j) => i !== j && (own === other ? P : N)[i].push(j)));
  return { P, N };
}

/** Cosines of unit vectors: V (m, d) row by row, S (m, m) row by row. */
export function similarities(V, m, d) {
  const S = new Float64Array(m * m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) {
      let dot = 0;
      for (let k = 0; k < d; k++) dot += V[i * d + k] * V[j * d + k];
      S[i * m + j] = S[j * m + i] = dot;
    }
  }
  return S;
}

/** m · dL/dS (m, m), with its sign: its size is what `labkit.pairs.pair_weights` gives. */
export function pairGradient(settings, S, P, N) {
  const m = P.length;
  const { gradient, wholeBatch } = LOSSES[settings.loss];
  const G = new Float64Array(m * m);
  if (wholeBatch) {
    const places = (lists) => lists.flatMap((row, i) => row.map((j) => i * m + j));
    gradient(S, places(P), places(N), settings, G);
    return G.map((slope) => m * slope); // this loss is no mean over the anchors
  }
  for (let i = 0; i < m; i++) {
    const row = (all) => all.subarray(i * m, (i + 1) * m);
    gradient(row(S), P[i], N[i], settings, row(G));
  }
  return G;
}
