// The encoder and its optimiser: a sentence is the mean of its words' vectors, at unit length; the vectors learn.
//
//   E   word vectors (words, d), row by row      ids   numbers of a sentence's words, repeated words included
//   r = mean of E[ids]                            v = r / |r|, a point on the circle, the sphere, ...

import { normal } from "./random.js";

const START = 0.3; // standard deviation of a word vector's numbers before training

export class MeanOfWords {
  constructor(words, d, random) {
    this.d = d;
    this.E = Float64Array.from({ length: words * d }, () => START * normal(random));
  }

  /** The unit vector of one sentence (d,), written to `out`; returns the length of the mean before. */
  encode(ids, out) {
    const { d, E } = this;
    out.fill(0);
    for (const word of ids) for (let k = 0; k < d; k++) out[k] += E[word * d + k] / ids.length;
    const length = Math.sqrt(out.reduce((total, x) => total + x * x, 0));
    for (let k = 0; k < d; k++) out[k] /= length;
    return length;
  }

  /** Unit vectors of sentences (m, d), row by row, and the lengths of their means (m,). */
  encodeAll(sentences) {
    const { d } = this;
    const V = new Float64Array(sentences.length * d);
    const lengths = sentences.map((ids, i) => this.encode(ids, V.subarray(i * d, (i + 1) * d)));
    return { V, lengths };
  }

  /** dL/dE (words, d) from dL/dV (m, d), by the chain rule through v = r/|r| and the mean. */
  backward(sentences, V, lengths, dV) {
    const { d } = this;
    const dE = new Float64Array(this.E.length);
    sentences.forEach((ids, i) => {
      let along = 0; // the part of dL/dv along v changes only the length of r, which v does not have
      for (let k = 0; k < d; k++) along += dV[i * d + k] * V[i * d + k];
      for (let k = 0; k < d; k++) {
        const share = (dV[i * d + k] - along * V[i * d + k]) / lengths[i] / ids.length;
        for (const word of ids) dE[word * d + k] += share;
      }
    });
    return dE;
  }
}

/** dL/dV (m, d) from G = m · dL/dS (m, m): S_ij = v_i · v_j, so v_i is in row i and in column i. */
export function vectorGradient(G, V, m, d) {
  const dV = new Float64Array(m * d);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < m; j++) {
      const slope = (G[i * m + j] + G[j * m + i]) / m;
      if (slope !== 0) for (let k = 0; k < d; k++) dV[i * d + k] += slope * V[j * d + k];
    }
  }
  return dV;
}

/** Adam as torch.optim.Adam with its defaults: every number moves at every step, also a word's outside the batch. */
export class Adam {
  constructor(size, { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = {}) {
    Object.assign(this, { beta1, beta2, epsilon, steps: 0 });
    this.mean = new Float64Array(size); // of the gradient
    this.square = new Float64Array(size); // of its square
  }

  step(numbers, gradient, learningRate) {
    const { beta1, beta2, epsilon, mean, square } = this;
    this.steps += 1;
    const rate = learningRate / (1 - beta1 ** this.steps); // both means start at 0: the bias is divided out
    const unbiased = Math.sqrt(1 - beta2 ** this.steps);
    for (let i = 0; i < numbers.length; i++) {
      mean[i] += (1 - beta1) * (gradient[i] - mean[i]);
      square[i] = beta2 * square[i] + (1 - beta2) * gradient[i] * gradient[i];
      numbers[i] -= (rate * mean[i]) / (Math.sqrt(square[i]) / unbiased + epsilon);
    }
  }
}
