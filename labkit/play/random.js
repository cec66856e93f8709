// Randomness from explicit seeds: the same seed gives the same start, the same batches, the same pairs.

/** A generator of numbers in [0, 1) (mulberry32). Several seeds, such as (seed, step), make one generator. */
export function generator(...seeds) {
  let state = 0;
  for (const seed of seeds) state = Math.imul(state ^ (seed + 0x9e3779b9), 0x85ebca6b) ^ (state >>> 13);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One number from the standard normal distribution (Box and Muller). */
export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled(items, random) {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}
