/** The mLSTM: the cells remember a matrix, in which values lie by keys and are read by queries. Its gates are stabilised as those of the sLSTM. */
import { logSigmoid, sigmoid } from './scalar-cell.ts';

/** The query, key, value and output gate; the gates for input and forgetting are one number each and come behind. */
const PARTS = 4;

export interface MatrixState {
  readonly cell: Float64Array;
  readonly norm: Float64Array;
  max: number;
}

/** The loss changes by these with the state after a step; the way back hands them from step to step. */
interface MatrixCarry {
  readonly cell: Float64Array;
  readonly norm: Float64Array;
}

export class MatrixCell {
  readonly #n: number;
  readonly #weights: Float64Array;

  /** @param weights as many as `countMatrixWeights`. */
  constructor(nHidden: number, weights: Float64Array) {
    this.#n = nHidden;
    this.#weights = weights;
  }

  newState(): MatrixState {
    return { ...this.newCarry(), max: 0 };
  }

  newCarry(): MatrixCarry {
    return { cell: new Float64Array(this.#n * this.#n), norm: new Float64Array(this.#n) };
  }

  step(run: MatrixRun, t: number): void {
    const n = this.#n;
    const w = this.#weights;
    const h = t * n;
    const raw = t * (PARTS * n + 2);
    for (let unit = 0; unit < PARTS * n + 2; unit++) {
      const row = unit * (n + 1);
      let sum = w[row + n] as number;
      for (let i = 0; i < n; i++) sum += (w[row + i] as number) * (run.inputs[h + i] as number);
      run.raw[raw + unit] = sum;
    }
    const scale = 1 / Math.sqrt(n);
    const input = run.raw[raw + PARTS * n] as number;
    const kept = logSigmoid(run.raw[raw + PARTS * n + 1] as number) + (t === 0 ? run.first.max : (run.max[t - 1] as number));
    const max = Math.max(kept, input);
    const [iGate, fGate] = [Math.exp(input - max), Math.exp(kept - max)];
    run.max[t] = max;
    run.input[t] = iGate;
    run.forget[t] = fGate;
    const [cells, before] = [t * n * n, (t - 1) * n * n];
    let dot = 0;
    for (let i = 0; i < n; i++) {
      const key = (run.raw[raw + n + i] as number) * scale;
      const norm = fGate * (t === 0 ? (run.first.norm[i] as number) : (run.norm[h - n + i] as number)) + iGate * key;
      run.norm[h + i] = norm;
      dot += norm * (run.raw[raw + i] as number);
    }
    run.dot[t] = dot;
    const divisor = Math.max(Math.abs(dot), Math.exp(-max));
    for (let i = 0; i < n; i++) {
      const value = run.raw[raw + 2 * n + i] as number;
      let sum = 0;
      for (let j = 0; j < n; j++) {
        const key = (run.raw[raw + n + j] as number) * scale;
        const old = t === 0 ? (run.first.cell[i * n + j] as number) : (run.cell[before + i * n + j] as number);
        const cell = fGate * old + iGate * value * key;
        run.cell[cells + i * n + j] = cell;
        sum += cell * (run.raw[raw + j] as number);
      }
      run.sum[h + i] = sum;
      run.out[h + i] = (sigmoid(run.raw[raw + 3 * n + i] as number) * sum) / divisor;
    }
  }

  /** Adds to `gradient` and to `dInput`, and leaves in `carry` what the step before needs. @param dOut slopes of the loss by the step's outputs. */
  back(
    run: MatrixRun,
    t: number,
    dOut: Float64Array,
    { cell: dCell, norm: dNorm }: MatrixCarry,
    { gradient, dInput }: { gradient: Float64Array; dInput: Float64Array },
  ): void {
    const n = this.#n;
    const w = this.#weights;
    const h = t * n;
    const raw = t * (PARTS * n + 2);
    const [cells, before] = [t * n * n, (t - 1) * n * n];
    const scale = 1 / Math.sqrt(n);
    const slopes = run.slopes.fill(0);
    const [iGate, fGate] = [run.input[t] as number, run.forget[t] as number];
    const dot = run.dot[t] as number;
    const floor = Math.exp(-(run.max[t] as number));
    const divisor = Math.max(Math.abs(dot), floor);
    let dDivisor = 0;
    for (let i = 0; i < n; i++) {
      const output = sigmoid(run.raw[raw + 3 * n + i] as number);
      const read = (run.sum[h + i] as number) / divisor;
      const slope = dOut[i] as number;
      slopes[3 * n + i] = slope * read * output * (1 - output);
      const dRead = slope * output;
      dDivisor -= (dRead * read) / divisor;
      const dSum = dRead / divisor;
      for (let j = 0; j < n; j++) {
        const at = i * n + j;
        dCell[at] = (dCell[at] as number) + dSum * (run.raw[raw + j] as number);
        slopes[j] = (slopes[j] as number) + dSum * (run.cell[cells + at] as number);
      }
    }
    if (Math.abs(dot) >= floor) {
      const sign = dDivisor * Math.sign(dot);
      for (let j = 0; j < n; j++) {
        dNorm[j] = (dNorm[j] as number) + sign * (run.raw[raw + j] as number);
        slopes[j] = (slopes[j] as number) + sign * (run.norm[h + j] as number);
      }
    }
    let [dIn, dForget] = [0, 0];
    for (let i = 0; i < n; i++) {
      const value = run.raw[raw + 2 * n + i] as number;
      let dValue = 0;
      for (let j = 0; j < n; j++) {
        const at = i * n + j;
        const slope = dCell[at] as number;
        const key = (run.raw[raw + n + j] as number) * scale;
        const old = t === 0 ? (run.first.cell[at] as number) : (run.cell[before + at] as number);
        dIn += slope * value * key;
        dForget += slope * old;
        dValue += slope * key;
        slopes[n + j] = (slopes[n + j] as number) + slope * value * iGate * scale;
        dCell[at] = slope * fGate;
      }
      slopes[2 * n + i] = dValue * iGate;
    }
    for (let j = 0; j < n; j++) {
      const slope = dNorm[j] as number;
      const old = t === 0 ? (run.first.norm[j] as number) : (run.norm[h - n + j] as number);
      dIn += slope * (run.raw[raw + n + j] as number) * scale;
      dForget += slope * old;
      slopes[n + j] = (slopes[n + j] as number) + slope * iGate * scale;
      dNorm[j] = slope * fGate;
    }
    slopes[PARTS * n] = dIn * iGate;
    slopes[PARTS * n + 1] = dForget * fGate * (1 - sigmoid(run.raw[raw + PARTS * n + 1] as number));
    for (let unit = 0; unit < PARTS * n + 2; unit++) {
      const slope = slopes[unit] as number;
      const row = unit * (n + 1);
      for (let i = 0; i < n; i++) {
        gradient[row + i] = (gradient[row + i] as number) + slope * (run.inputs[h + i] as number);
        dInput[i] = (dInput[i] as number) + slope * (w[row + i] as number);
      }
      gradient[row + n] = (gradient[row + n] as number) + slope;
    }
  }
}

/** The mLSTM's states in some steps, which the way back reads. */
export class MatrixRun {
  /** The outputs of the sLSTM, a row for each step. */
  readonly inputs: Float64Array;
  /** The state before the first step. */
  readonly first: MatrixState;
  readonly raw: Float64Array;
  readonly input: Float64Array;
  readonly forget: Float64Array;
  readonly max: Float64Array;
  readonly dot: Float64Array;
  readonly cell: Float64Array;
  readonly norm: Float64Array;
  readonly sum: Float64Array;
  readonly out: Float64Array;
  readonly slopes: Float64Array;

  constructor(inputs: Float64Array, nSteps: number, nHidden: number, { cell, norm, max }: MatrixState) {
    const rows = (width: number) => new Float64Array(nSteps * width);
    this.inputs = inputs;
    this.first = { cell: cell.slice(), norm: norm.slice(), max };
    this.raw = rows(PARTS * nHidden + 2);
    this.input = rows(1);
    this.forget = rows(1);
    this.max = rows(1);
    this.dot = rows(1);
    this.cell = rows(nHidden * nHidden);
    this.norm = rows(nHidden);
    this.sum = rows(nHidden);
    this.out = rows(nHidden);
    this.slopes = new Float64Array(PARTS * nHidden + 2);
  }

  /** Writes the state after the last step into `state`. */
  leaveState(state: MatrixState): void {
    state.cell.set(this.cell.subarray(-state.cell.length));
    state.norm.set(this.norm.subarray(-state.norm.length));
    state.max = this.max.at(-1) ?? state.max;
  }
}

export function countMatrixWeights(nHidden: number): number {
  return (PARTS * nHidden + 2) * (nHidden + 1);
}

/** Returns the first bias of a row of weights. The forget gate begins open. */
export function matrixBias(row: number, nHidden: number): number {
  return row === PARTS * nHidden + 1 ? 3 : 0;
}
