// Runs given trainings step by step in Node or in a page, to compare them with torch.

/** `job`: {sentences, labels, batches, cases: [{settings, start, random}]} -> [{weights, kept, vectors}] per case. */
export function runCases(Training, job) {
  const rows = job.sentences.map((ids, i) => ({ ids, label: job.labels[i], unseen: false }));
  return job.cases.map(({ settings, start, random }) => {
    const training = new Training({ rows, words: { size: start.length / settings.dimension } }, settings, job.labels);
    training.model.E.set(start);
    const kept = [];
    let weights = null;
    job.batches.forEach((batch, step) => {
      training.step(batch, random?.[step]);
      const { G, P, N } = training.batch;
      weights ??= [...G].map(Math.abs);
      kept.push([P, N]);
    });
    return { weights, kept, vectors: [...training.vectors()] };
  });
}
