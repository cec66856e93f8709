// From d numbers to the screen: the circle, the sphere that one turns, and 32 numbers along their main directions.

import { generator, normal } from "./random.js";

const MAIN = 3; // directions shown of more numbers

export class Projection {
  /** `camera` {turn, tilt} is from where one looks at the sphere, in radians. */
  constructor(d, camera) {
    Object.assign(this, { d, camera, basis: null });
  }

  /** Vectors (n, d) as points (n, 3) before the sphere is turned, inside or on the unit sphere. */
  points(V) {
    const { d } = this;
    const n = V.length / d;
    if (d > MAIN) this.follow(V, n);
    return Array.from({ length: n }, (_, i) => this.point(V.subarray(i * d, (i + 1) * d)));
  }

  /** One vector (d,), a direction as well as a place, as a point (3,). */
  point(v) {
    if (this.d <= MAIN) return [v[0], v[1], v[2] ?? 0];
    return this.basis.map((axis) => axis.reduce((total, x, k) => total + x * v[k], 0));
  }

  /**
   * The directions in which V spreads most, by one round of orthogonal iteration from those of the last picture: what
   * turns, turns slowly, and no axis changes its sign.
   */
  follow(V, n) {
    const { d } = this;
    const random = generator(5);
    const rounds = this.basis ? 1 : 20;
    this.basis ??= Array.from({ length: MAIN }, () => Float64Array.from({ length: d }, () => normal(random)));
    for (let round = 0; round < rounds; round++) {
      this.basis = orthonormal(
        this.basis.map((axis) => {
          const image = new Float64Array(d); // VᵀV · axis
          for (let i = 0; i < n; i++) {
            let dot = 0;
            for (let k = 0; k < d; k++) dot += V[i * d + k] * axis[k];
            for (let k = 0; k < d; k++) image[k] += dot * V[i * d + k];
          }
          return image;
        }),
      );
    }
  }

  /** A point (3,) turned to the viewer: x to the right, y upwards, z towards the eye. */
  turned([x, y, z]) {
    if (this.d === 2) return [x, y, 0];
    const [sin, cos, sinTilt, cosTilt] = this.angles();
    const across = x * cos + z * sin;
    const depth = z * cos - x * sin;
    return [across, y * cosTilt - depth * sinTilt, y * sinTilt + depth * cosTilt];
  }

  /** The unit vector under a place of the screen, on the side towards the eye; null for more than three numbers. */
  vectorAt(across, up) {
    const reach = Math.hypot(across, up);
    if (this.d === 2) return reach ? Float64Array.of(across / reach, up / reach) : null;
    if (this.d > MAIN) return null;
    const [a, b] = reach > 1 ? [across / reach, up / reach] : [across, up];
    const near = Math.sqrt(Math.max(0, 1 - a * a - b * b));
    const [sin, cos, sinTilt, cosTilt] = this.angles();
    const y = b * cosTilt + near * sinTilt;
    const depth = near * cosTilt - b * sinTilt;
    return Float64Array.of(a * cos - depth * sin, y, depth * cos + a * sin);
  }

  angles() {
    const { turn, tilt } = this.camera;
    return [Math.sin(turn), Math.cos(turn), Math.sin(tilt), Math.cos(tilt)];
  }
}

/** Vectors made orthogonal to those before them and of unit length (Gram and Schmidt). */
function orthonormal(vectors) {
  const done = [];
  for (const vector of vectors) {
    for (const other of done) {
      const dot = vector.reduce((total, x, k) => total + x * other[k], 0);
      vector.forEach((x, k) => (vector[k] = x - dot * other[k]));
    }
    const length = Math.hypot(...vector);
    done.push(vector.map((x) => x / length));
  }
  return done;
}
