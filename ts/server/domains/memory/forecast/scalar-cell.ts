/**
 * The sLSTM (Beck et al., 2024, https://arxiv.org/abs/2405.04517): each cell remembers a number. Gates are exponential and kept in range by a stabiliser
 * state; that changes no output, so back-propagation through time takes it as a constant.
 */

/** The value and the gates for input, forgetting and output, one after the other in the weights. */
const PARTS = 4;

export interface ScalarState {
  readonly cell: Float64Array;
  readonly norm: Float64Array;
  readonly max: Float64Array;
  readonly out: Float64Array;
}

/** The loss changes by these with the state after a step; the way back hands them from step to step. */
interface ScalarCarry {
  readonly cell: Float64Array;
  readonly norm: Float64Array;
  readonly out: Float64Array;
}

export class ScalarCell {
  readonly #nInputs: number;
  readonly #n: number;
  readonly #weights: Float64Array;

  /** @param weights as many as `countScalarWeights`. */
  constructor(nInputs: number, nHidden: number, weights: Float64Array) {
    this.#nInputs = nInputs;
    this.#n = nHidden;
    this.#weights = weights;
  }

  newState(): ScalarState {
    const n = this.#n;
    return {
      cell: new Float64Array(n),
      norm: new Float64Array(n),
      // The first step keeps nothing of before, so that its divisor is 1.
      max: new Float64Array(n).fill(Number.NEGATIVE_INFINITY),
      out: new Float64Array(n),
    };
  }

  newCarry(): ScalarCarry {
    const n = this.#n;
    return { cell: new Float64Array(n), norm: new Float64Array(n), out: new Float64Array(n) };
  }

  step(run: ScalarRun, t: number): void {
    const nInputs = this.#nInputs;
    const n = this.#n;
    const w = this.#weights;
    const width = nInputs + n + 1;
    const before = (t - 1) * n;
    for (let part = 0; part < PARTS; part++)
      for (let j = 0; j < n; j++) {
        const row = (part * n + j) * width;
        let sum = w[row + width - 1] as number;
        for (let i = 0; i < nInputs; i++) sum += (w[row + i] as number) * (run.inputs[t * nInputs + i] as number);
        for (let i = 0; i < n; i++)
          sum += (w[row + nInputs + i] as number) * (t === 0 ? (run.first.out[i] as number) : (run.out[before + i] as number));
        run.raw[(t * PARTS + part) * n + j] = sum;
      }
    const raw = t * PARTS * n;
    for (let j = 0; j < n; j++) {
      const z = Math.tanh(run.raw[raw + j] as number);
      const input = run.raw[raw + n + j] as number;
      const forget = logSigmoid(run.raw[raw + 2 * n + j] as number);
      const output = sigmoid(run.raw[raw + 3 * n + j] as number);
      const kept = forget + (t === 0 ? (run.first.max[j] as number) : (run.max[before + j] as number));
      const max = Math.max(kept, input);
      const [iGate, fGate] = [Math.exp(input - max), Math.exp(kept - max)];
      const cell = fGate * (t === 0 ? (run.first.cell[j] as number) : (run.cell[before + j] as number)) + iGate * z;
      const norm = fGate * (t === 0 ? (run.first.norm[j] as number) : (run.norm[before + j] as number)) + iGate;
      const at = t * n + j;
      run.max[at] = max;
      run.input[at] = iGate;
      run.forget[at] = fGate;
      run.cell[at] = cell;
      run.norm[at] = norm;
      run.out[at] = (output * cell) / norm;
    }
  }

  /** Adds to `gradient`, and leaves in `carry` what the step before needs. @param dOut slopes of the loss by the step's outputs. */
  back(run: ScalarRun, t: number, dOut: Float64Array, carry: ScalarCarry, gradient: Float64Array): void {
    const nInputs = this.#nInputs;
    const n = this.#n;
    const width = nInputs + n + 1;
    const raw = t * PARTS * n;
    const before = (t - 1) * n;
    const slopes = run.slopes;
    for (let j = 0; j < n; j++) {
      const at = t * n + j;
      const dH = (dOut[j] as number) + (carry.out[j] as number);
      const z = Math.tanh(run.raw[raw + j] as number);
      const forgetRaw = run.raw[raw + 2 * n + j] as number;
      const output = sigmoid(run.raw[raw + 3 * n + j] as number);
      const [cell, norm] = [run.cell[at] as number, run.norm[at] as number];
      const dCell = (carry.cell[j] as number) + (dH * output) / norm;
      const dNorm = (carry.norm[j] as number) - (dH * output * cell) / (norm * norm);
      const [iGate, fGate] = [run.input[at] as number, run.forget[at] as number];
      const cellBefore = t === 0 ? (run.first.cell[j] as number) : (run.cell[before + j] as number);
      const normBefore = t === 0 ? (run.first.norm[j] as number) : (run.norm[before + j] as number);
      slopes[j] = dCell * iGate * (1 - z * z);
      slopes[n + j] = (dCell * z + dNorm) * iGate;
      slopes[2 * n + j] = (dCell * cellBefore + dNorm * normBefore) * fGate * (1 - sigmoid(forgetRaw));
      slopes[3 * n + j] = ((dH * cell) / norm) * output * (1 - output);
      carry.cell[j] = dCell * fGate;
      carry.norm[j] = dNorm * fGate;
    }
    carry.out.fill(0);
    for (let unit = 0; unit < PARTS * n; unit++) {
      const slope = slopes[unit] as number;
      const row = unit * width;
      for (let i = 0; i < nInputs; i++)
        gradient[row + i] = (gradient[row + i] as number) + slope * (run.inputs[t * nInputs + i] as number);
      for (let i = 0; i < n; i++) {
        const h = t === 0 ? (run.first.out[i] as number) : (run.out[before + i] as number);
        gradient[row + nInputs + i] = (gradient[row + nInputs + i] as number) + slope * h;
        carry.out[i] = (carry.out[i] as number) + slope * (this.#weights[row + nInputs + i] as number);
      }
      gradient[row + width - 1] = (gradient[row + width - 1] as number) + slope;
    }
  }
}

/** The sLSTM's states in some steps, which the way back reads. */
export class ScalarRun {
  /** A row of numbers for each step. */
  readonly inputs: Float64Array;
  /** The state before the first step. */
  readonly first: ScalarState;
  readonly raw: Float64Array;
  readonly input: Float64Array;
  readonly forget: Float64Array;
  readonly cell: Float64Array;
  readonly norm: Float64Array;
  readonly max: Float64Array;
  readonly out: Float64Array;
  readonly slopes: Float64Array;

  constructor(inputs: Float64Array, nSteps: number, nHidden: number, { cell, norm, max, out }: ScalarState) {
    const rows = () => new Float64Array(nSteps * nHidden);
    this.inputs = inputs;
    this.first = { cell: cell.slice(), norm: norm.slice(), max: max.slice(), out: out.slice() };
    this.raw = new Float64Array(nSteps * PARTS * nHidden);
    this.input = rows();
    this.forget = rows();
    this.cell = rows();
    this.norm = rows();
    this.max = rows();
    this.out = rows();
    this.slopes = new Float64Array(PARTS * nHidden);
  }

  /** Writes the state after the last step into `state`. */
  leaveState(state: ScalarState): void {
    const n = state.cell.length;
    state.cell.set(this.cell.subarray(-n));
    state.norm.set(this.norm.subarray(-n));
    state.max.set(this.max.subarray(-n));
    state.out.set(this.out.subarray(-n));
  }
}

export function countScalarWeights(nInputs: number, nHidden: number): number {
  return PARTS * nHidden * (nInputs + nHidden + 1);
}

/** Returns the first bias of a row of weights. Forget gates begin open, so that a cell remembers before it has learned to. */
export function scalarBias(row: number, nHidden: number): number {
  return Math.floor(row / nHidden) === 2 ? 1 + (3 * (row % nHidden)) / nHidden : 0;
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Exact for large negative numbers too. */
export function logSigmoid(x: number): number {
  return x < 0 ? x - Math.log1p(Math.exp(x)) : -Math.log1p(Math.exp(-x));
}
