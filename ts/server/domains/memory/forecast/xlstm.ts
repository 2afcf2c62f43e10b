/**
 * An xLSTM of two cells, an sLSTM and then an mLSTM (Beck et al., 2024, https://arxiv.org/abs/2405.04517), with a linear head on the sum of both. Gates are
 * exponential and kept in range by a stabiliser state; that changes no output, so back-propagation through time takes it as a constant. All numbers
 * are 64-bit floats in typed arrays, and all weights stand in one array.
 */

export interface XlstmShape {
  readonly nInputs: number;
  /** Cells of either kind; the matrix memory of the mLSTM is its square. */
  readonly nHidden: number;
  readonly nOutputs: number;
}

/** The cells remember this from step to step. */
interface XlstmState {
  readonly sCell: Float64Array;
  readonly sNorm: Float64Array;
  readonly sMax: Float64Array;
  readonly sOut: Float64Array;
  readonly mCell: Float64Array;
  readonly mNorm: Float64Array;
  mMax: number;
}

/** The sLSTM's value and its gates for input, forgetting and output, one after the other in its weights. */
const S_PARTS = 4;
/** The mLSTM's query, key, value and output gate; its input and forget gates are one number each and come behind. */
const M_PARTS = 4;

export class Xlstm {
  readonly shape: XlstmShape;
  readonly weights: Float64Array;
  readonly #at;

  /** @param weights as another one of the shape had them, or fresh ones of `initialWeights`. Throws RangeError for another length. */
  constructor(shape: XlstmShape, weights: Float64Array) {
    if (weights.length !== countWeights(shape)) throw new RangeError('the weights are of another shape');
    this.shape = shape;
    this.weights = weights;
    this.#at = placesOf(shape);
  }

  newState(): XlstmState {
    const { nHidden: n } = this.shape;
    return {
      sCell: new Float64Array(n),
      sNorm: new Float64Array(n),
      // The first step keeps nothing of before, so that its divisor is 1.
      sMax: new Float64Array(n).fill(Number.NEGATIVE_INFINITY),
      sOut: new Float64Array(n),
      mCell: new Float64Array(n * n),
      mNorm: new Float64Array(n),
      mMax: 0,
    };
  }

  /** Runs the steps from `state`, which then is the one after them. @param inputs nSteps x nInputs. Returns what `backward` needs beside the outputs. */
  forward(inputs: Float64Array, state: XlstmState): XlstmRun {
    const { nInputs, nHidden, nOutputs } = this.shape;
    const run = new XlstmRun(this.shape, inputs, inputs.length / nInputs, state);
    for (let t = 0; t < run.nSteps; t++) {
      this.#stepScalar(run, t);
      this.#stepMatrix(run, t);
      const out = t * nOutputs;
      const h = t * nHidden;
      for (let o = 0; o < nOutputs; o++) {
        const row = this.#at.head + o * (nHidden + 1);
        let sum = this.weights[row + nHidden] as number;
        for (let j = 0; j < nHidden; j++)
          sum += (this.weights[row + j] as number) * ((run.sH[h + j] as number) + (run.mH[h + j] as number));
        run.outputs[out + o] = sum;
      }
    }
    run.leaveState(state);
    return run;
  }

  /** Adds to `gradient` what the loss changes by with each weight. @param slopes of the loss by the outputs, nSteps x nOutputs. */
  backward(run: XlstmRun, slopes: Float64Array, gradient: Float64Array): void {
    const { nHidden: n, nOutputs } = this.shape;
    const w = this.weights;
    const dS = new Float64Array(n);
    const carry = { sCell: new Float64Array(n), sNorm: new Float64Array(n), sOut: new Float64Array(n) };
    const dCell = new Float64Array(n * n);
    const dNorm = new Float64Array(n);
    const dM = new Float64Array(n);
    for (let t = run.nSteps - 1; t >= 0; t--) {
      dM.fill(0);
      for (let o = 0; o < nOutputs; o++) {
        const slope = slopes[t * nOutputs + o] as number;
        if (slope === 0) continue;
        const row = this.#at.head + o * (n + 1);
        for (let j = 0; j < n; j++) {
          const h = (run.sH[t * n + j] as number) + (run.mH[t * n + j] as number);
          gradient[row + j] = (gradient[row + j] as number) + slope * h;
          dM[j] = (dM[j] as number) + slope * (w[row + j] as number);
        }
        gradient[row + n] = (gradient[row + n] as number) + slope;
      }
      dS.set(dM);
      this.#backMatrix(run, t, dM, { dCell, dNorm, dInput: dS }, gradient);
      this.#backScalar(run, t, dS, carry, gradient);
    }
  }

  #stepScalar(run: XlstmRun, t: number): void {
    const { nInputs, nHidden: n } = this.shape;
    const w = this.weights;
    const width = nInputs + n + 1;
    const before = (t - 1) * n;
    for (let part = 0; part < S_PARTS; part++)
      for (let j = 0; j < n; j++) {
        const row = this.#at.scalar + (part * n + j) * width;
        let sum = w[row + width - 1] as number;
        for (let i = 0; i < nInputs; i++) sum += (w[row + i] as number) * (run.inputs[t * nInputs + i] as number);
        for (let i = 0; i < n; i++)
          sum += (w[row + nInputs + i] as number) * (t === 0 ? (run.first.sOut[i] as number) : (run.sH[before + i] as number));
        run.sRaw[(t * S_PARTS + part) * n + j] = sum;
      }
    const raw = t * S_PARTS * n;
    for (let j = 0; j < n; j++) {
      const z = Math.tanh(run.sRaw[raw + j] as number);
      const input = run.sRaw[raw + n + j] as number;
      const forget = logSigmoid(run.sRaw[raw + 2 * n + j] as number);
      const output = sigmoid(run.sRaw[raw + 3 * n + j] as number);
      const kept = forget + (t === 0 ? (run.first.sMax[j] as number) : (run.sMax[before + j] as number));
      const max = Math.max(kept, input);
      const [iGate, fGate] = [Math.exp(input - max), Math.exp(kept - max)];
      const cell = fGate * (t === 0 ? (run.first.sCell[j] as number) : (run.sCell[before + j] as number)) + iGate * z;
      const norm = fGate * (t === 0 ? (run.first.sNorm[j] as number) : (run.sNorm[before + j] as number)) + iGate;
      const at = t * n + j;
      run.sMax[at] = max;
      run.sIn[at] = iGate;
      run.sForget[at] = fGate;
      run.sCell[at] = cell;
      run.sNorm[at] = norm;
      run.sH[at] = (output * cell) / norm;
    }
  }

  #backScalar(
    run: XlstmRun,
    t: number,
    dOut: Float64Array,
    carry: { sCell: Float64Array; sNorm: Float64Array; sOut: Float64Array },
    gradient: Float64Array,
  ): void {
    const { nInputs, nHidden: n } = this.shape;
    const width = nInputs + n + 1;
    const raw = t * S_PARTS * n;
    const before = (t - 1) * n;
    const slopes = run.scratch;
    for (let j = 0; j < n; j++) {
      const at = t * n + j;
      const dH = (dOut[j] as number) + (carry.sOut[j] as number);
      const z = Math.tanh(run.sRaw[raw + j] as number);
      const forgetRaw = run.sRaw[raw + 2 * n + j] as number;
      const output = sigmoid(run.sRaw[raw + 3 * n + j] as number);
      const [cell, norm] = [run.sCell[at] as number, run.sNorm[at] as number];
      const dCell = (carry.sCell[j] as number) + (dH * output) / norm;
      const dNorm = (carry.sNorm[j] as number) - (dH * output * cell) / (norm * norm);
      const [iGate, fGate] = [run.sIn[at] as number, run.sForget[at] as number];
      const cellBefore = t === 0 ? (run.first.sCell[j] as number) : (run.sCell[before + j] as number);
      const normBefore = t === 0 ? (run.first.sNorm[j] as number) : (run.sNorm[before + j] as number);
      slopes[j] = dCell * iGate * (1 - z * z);
      slopes[n + j] = (dCell * z + dNorm) * iGate;
      slopes[2 * n + j] = (dCell * cellBefore + dNorm * normBefore) * fGate * (1 - sigmoid(forgetRaw));
      slopes[3 * n + j] = ((dH * cell) / norm) * output * (1 - output);
      carry.sCell[j] = dCell * fGate;
      carry.sNorm[j] = dNorm * fGate;
    }
    carry.sOut.fill(0);
    for (let unit = 0; unit < S_PARTS * n; unit++) {
      const slope = slopes[unit] as number;
      const row = this.#at.scalar + unit * width;
      for (let i = 0; i < nInputs; i++)
        gradient[row + i] = (gradient[row + i] as number) + slope * (run.inputs[t * nInputs + i] as number);
      for (let i = 0; i < n; i++) {
        const h = t === 0 ? (run.first.sOut[i] as number) : (run.sH[before + i] as number);
        gradient[row + nInputs + i] = (gradient[row + nInputs + i] as number) + slope * h;
        carry.sOut[i] = (carry.sOut[i] as number) + slope * (this.weights[row + nInputs + i] as number);
      }
      gradient[row + width - 1] = (gradient[row + width - 1] as number) + slope;
    }
  }

  #stepMatrix(run: XlstmRun, t: number): void {
    const { nHidden: n } = this.shape;
    const w = this.weights;
    const h = t * n;
    const raw = t * (M_PARTS * n + 2);
    for (let unit = 0; unit < M_PARTS * n + 2; unit++) {
      const row = this.#at.matrix + unit * (n + 1);
      let sum = w[row + n] as number;
      for (let i = 0; i < n; i++) sum += (w[row + i] as number) * (run.sH[h + i] as number);
      run.mRaw[raw + unit] = sum;
    }
    const scale = 1 / Math.sqrt(n);
    const input = run.mRaw[raw + M_PARTS * n] as number;
    const kept = logSigmoid(run.mRaw[raw + M_PARTS * n + 1] as number) + (t === 0 ? run.first.mMax : (run.mMax[t - 1] as number));
    const max = Math.max(kept, input);
    const [iGate, fGate] = [Math.exp(input - max), Math.exp(kept - max)];
    run.mMax[t] = max;
    run.mIn[t] = iGate;
    run.mForget[t] = fGate;
    const [cells, before] = [t * n * n, (t - 1) * n * n];
    let dot = 0;
    for (let i = 0; i < n; i++) {
      const key = (run.mRaw[raw + n + i] as number) * scale;
      const norm = fGate * (t === 0 ? (run.first.mNorm[i] as number) : (run.mNorm[h - n + i] as number)) + iGate * key;
      run.mNorm[h + i] = norm;
      dot += norm * (run.mRaw[raw + i] as number);
    }
    run.mDot[t] = dot;
    const divisor = Math.max(Math.abs(dot), Math.exp(-max));
    for (let i = 0; i < n; i++) {
      const value = run.mRaw[raw + 2 * n + i] as number;
      let sum = 0;
      for (let j = 0; j < n; j++) {
        const key = (run.mRaw[raw + n + j] as number) * scale;
        const old = t === 0 ? (run.first.mCell[i * n + j] as number) : (run.mCell[before + i * n + j] as number);
        const cell = fGate * old + iGate * value * key;
        run.mCell[cells + i * n + j] = cell;
        sum += cell * (run.mRaw[raw + j] as number);
      }
      run.mSum[h + i] = sum;
      run.mH[h + i] = (sigmoid(run.mRaw[raw + 3 * n + i] as number) * sum) / divisor;
    }
  }

  #backMatrix(
    run: XlstmRun,
    t: number,
    dOut: Float64Array,
    { dCell, dNorm, dInput }: { dCell: Float64Array; dNorm: Float64Array; dInput: Float64Array },
    gradient: Float64Array,
  ): void {
    const { nHidden: n } = this.shape;
    const w = this.weights;
    const h = t * n;
    const raw = t * (M_PARTS * n + 2);
    const [cells, before] = [t * n * n, (t - 1) * n * n];
    const scale = 1 / Math.sqrt(n);
    const slopes = run.scratch.fill(0);
    const [iGate, fGate] = [run.mIn[t] as number, run.mForget[t] as number];
    const dot = run.mDot[t] as number;
    const floor = Math.exp(-(run.mMax[t] as number));
    const divisor = Math.max(Math.abs(dot), floor);
    let dDivisor = 0;
    for (let i = 0; i < n; i++) {
      const output = sigmoid(run.mRaw[raw + 3 * n + i] as number);
      const read = (run.mSum[h + i] as number) / divisor;
      const slope = dOut[i] as number;
      slopes[3 * n + i] = slope * read * output * (1 - output);
      const dRead = slope * output;
      dDivisor -= (dRead * read) / divisor;
      const dSum = dRead / divisor;
      for (let j = 0; j < n; j++) {
        const at = i * n + j;
        dCell[at] = (dCell[at] as number) + dSum * (run.mRaw[raw + j] as number);
        slopes[j] = (slopes[j] as number) + dSum * (run.mCell[cells + at] as number);
      }
    }
    if (Math.abs(dot) >= floor) {
      const sign = dDivisor * Math.sign(dot);
      for (let j = 0; j < n; j++) {
        dNorm[j] = (dNorm[j] as number) + sign * (run.mRaw[raw + j] as number);
        slopes[j] = (slopes[j] as number) + sign * (run.mNorm[h + j] as number);
      }
    }
    let [dIn, dForget] = [0, 0];
    for (let i = 0; i < n; i++) {
      const value = run.mRaw[raw + 2 * n + i] as number;
      let dValue = 0;
      for (let j = 0; j < n; j++) {
        const at = i * n + j;
        const slope = dCell[at] as number;
        const key = (run.mRaw[raw + n + j] as number) * scale;
        const old = t === 0 ? (run.first.mCell[at] as number) : (run.mCell[before + at] as number);
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
      const old = t === 0 ? (run.first.mNorm[j] as number) : (run.mNorm[h - n + j] as number);
      dIn += slope * (run.mRaw[raw + n + j] as number) * scale;
      dForget += slope * old;
      slopes[n + j] = (slopes[n + j] as number) + slope * iGate * scale;
      dNorm[j] = slope * fGate;
    }
    slopes[M_PARTS * n] = dIn * iGate;
    slopes[M_PARTS * n + 1] = dForget * fGate * (1 - sigmoid(run.mRaw[raw + M_PARTS * n + 1] as number));
    for (let unit = 0; unit < M_PARTS * n + 2; unit++) {
      const slope = slopes[unit] as number;
      const row = this.#at.matrix + unit * (n + 1);
      for (let i = 0; i < n; i++) {
        gradient[row + i] = (gradient[row + i] as number) + slope * (run.sH[h + i] as number);
        dInput[i] = (dInput[i] as number) + slope * (w[row + i] as number);
      }
      gradient[row + n] = (gradient[row + n] as number) + slope;
    }
  }
}

/** The steps of one `forward` leave this behind. */
class XlstmRun {
  readonly inputs: Float64Array;
  readonly nSteps: number;
  /** The state before the first step. */
  readonly first: XlstmState;
  readonly outputs: Float64Array;
  readonly sRaw: Float64Array;
  readonly sIn: Float64Array;
  readonly sForget: Float64Array;
  readonly sCell: Float64Array;
  readonly sNorm: Float64Array;
  readonly sMax: Float64Array;
  readonly sH: Float64Array;
  readonly mRaw: Float64Array;
  readonly mIn: Float64Array;
  readonly mForget: Float64Array;
  readonly mMax: Float64Array;
  readonly mDot: Float64Array;
  readonly mCell: Float64Array;
  readonly mNorm: Float64Array;
  readonly mSum: Float64Array;
  readonly mH: Float64Array;
  readonly scratch: Float64Array;
  readonly #nHidden: number;

  constructor({ nHidden: n, nOutputs }: XlstmShape, inputs: Float64Array, nSteps: number, state: XlstmState) {
    this.inputs = inputs;
    this.nSteps = nSteps;
    this.#nHidden = n;
    const { sCell, sNorm, sMax, sOut, mCell, mNorm, mMax } = state;
    const copies = [sCell, sNorm, sMax, sOut, mCell, mNorm].map((array) => array.slice());
    const [a, b, c, d, e, f] = copies as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
    this.first = { sCell: a, sNorm: b, sMax: c, sOut: d, mCell: e, mNorm: f, mMax };
    const rows = (width: number) => new Float64Array(nSteps * width);
    this.outputs = rows(nOutputs);
    this.sRaw = rows(S_PARTS * n);
    this.sIn = rows(n);
    this.sForget = rows(n);
    this.sCell = rows(n);
    this.sNorm = rows(n);
    this.sMax = rows(n);
    this.sH = rows(n);
    this.mRaw = rows(M_PARTS * n + 2);
    this.mIn = rows(1);
    this.mForget = rows(1);
    this.mMax = rows(1);
    this.mDot = rows(1);
    this.mCell = rows(n * n);
    this.mNorm = rows(n);
    this.mSum = rows(n);
    this.mH = rows(n);
    this.scratch = new Float64Array(Math.max(S_PARTS * n, M_PARTS * n + 2));
  }

  /** Writes the state after the last step into `state`. */
  leaveState(state: XlstmState): void {
    if (this.nSteps === 0) return;
    const n = this.#nHidden;
    const last = this.nSteps - 1;
    const row = (array: Float64Array, width: number) => array.subarray(last * width, (last + 1) * width);
    state.sCell.set(row(this.sCell, n));
    state.sNorm.set(row(this.sNorm, n));
    state.sMax.set(row(this.sMax, n));
    state.sOut.set(row(this.sH, n));
    state.mCell.set(row(this.mCell, n * n));
    state.mNorm.set(row(this.mNorm, n));
    state.mMax = this.mMax[last] as number;
  }
}

export function countWeights(shape: XlstmShape): number {
  return placesOf(shape).end;
}

/** @param random numbers from 0 to 1. Forget gates begin open, so that a cell remembers before it has learned to. */
export function initialWeights(shape: XlstmShape, random: () => number): Float64Array {
  const { nInputs, nHidden: n, nOutputs } = shape;
  const places = placesOf(shape);
  const weights = new Float64Array(places.end);
  const fill = (from: number, nRows: number, width: number, bias: (row: number) => number, gain = 1) => {
    for (let row = 0; row < nRows; row++) {
      for (let i = 0; i < width - 1; i++) weights[from + row * width + i] = ((random() * 2 - 1) * gain) / Math.sqrt(width);
      weights[from + row * width + width - 1] = bias(row);
    }
  };
  fill(places.scalar, S_PARTS * n, nInputs + n + 1, (row) => (Math.floor(row / n) === 2 ? 1 + (3 * (row % n)) / n : 0));
  fill(places.matrix, M_PARTS * n + 2, n + 1, (row) => (row === M_PARTS * n + 1 ? 3 : 0));
  fill(places.head, nOutputs, n + 1, () => 0, 0.1);
  return weights;
}

function placesOf({ nInputs, nHidden: n, nOutputs }: XlstmShape) {
  const matrix = S_PARTS * n * (nInputs + n + 1);
  const head = matrix + (M_PARTS * n + 2) * (n + 1);
  return { scalar: 0, matrix, head, end: head + nOutputs * (n + 1) };
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Exact for large negative numbers too. */
function logSigmoid(x: number): number {
  return x < 0 ? x - Math.log1p(Math.exp(x)) : -Math.log1p(Math.exp(-x));
}
