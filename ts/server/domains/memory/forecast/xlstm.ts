/**
 * An xLSTM of two cells, an sLSTM and then an mLSTM (Beck et al., 2024, https://arxiv.org/abs/2405.04517), with a linear head on the sum of both. All numbers
 * are 64-bit floats in typed arrays, and all weights stand in one array.
 */
import { countMatrixWeights, MatrixCell, MatrixRun, type MatrixState, matrixBias } from './matrix-cell.ts';
import { countScalarWeights, ScalarCell, ScalarRun, type ScalarState, scalarBias } from './scalar-cell.ts';

export interface XlstmShape {
  readonly nInputs: number;
  /** Cells of either kind; the matrix memory of the mLSTM is its square. */
  readonly nHidden: number;
  readonly nOutputs: number;
}

/** The cells remember this from step to step. */
interface XlstmState {
  readonly scalar: ScalarState;
  readonly matrix: MatrixState;
}

/** The steps of one `forward` leave this behind. */
interface XlstmRun {
  readonly nSteps: number;
  readonly outputs: Float64Array;
  readonly scalar: ScalarRun;
  readonly matrix: MatrixRun;
}

export class Xlstm {
  readonly shape: XlstmShape;
  readonly weights: Float64Array;
  readonly #at;
  readonly #scalar: ScalarCell;
  readonly #matrix: MatrixCell;

  /** @param weights as another one of the shape had them, or fresh ones of `initialWeights`. Throws RangeError for another length. */
  constructor(shape: XlstmShape, weights: Float64Array) {
    if (weights.length !== countWeights(shape)) throw new RangeError('the weights are of another shape');
    const { nInputs, nHidden } = shape;
    this.shape = shape;
    this.weights = weights;
    this.#at = placesOf(shape);
    this.#scalar = new ScalarCell(nInputs, nHidden, weights.subarray(0, this.#at.matrix));
    this.#matrix = new MatrixCell(nHidden, weights.subarray(this.#at.matrix, this.#at.head));
  }

  newState(): XlstmState {
    return { scalar: this.#scalar.newState(), matrix: this.#matrix.newState() };
  }

  /** Runs the steps from `state`, which then is the one after them. @param inputs nSteps x nInputs. Returns what `backward` needs beside the outputs. */
  forward(inputs: Float64Array, state: XlstmState): XlstmRun {
    const { nInputs, nHidden, nOutputs } = this.shape;
    const nSteps = inputs.length / nInputs;
    const scalar = new ScalarRun(inputs, nSteps, nHidden, state.scalar);
    const matrix = new MatrixRun(scalar.out, nSteps, nHidden, state.matrix);
    const outputs = new Float64Array(nSteps * nOutputs);
    for (let t = 0; t < nSteps; t++) {
      this.#scalar.step(scalar, t);
      this.#matrix.step(matrix, t);
      const h = t * nHidden;
      for (let o = 0; o < nOutputs; o++) {
        const row = this.#at.head + o * (nHidden + 1);
        let sum = this.weights[row + nHidden] as number;
        for (let j = 0; j < nHidden; j++)
          sum += (this.weights[row + j] as number) * ((scalar.out[h + j] as number) + (matrix.out[h + j] as number));
        outputs[t * nOutputs + o] = sum;
      }
    }
    if (nSteps > 0) {
      scalar.leaveState(state.scalar);
      matrix.leaveState(state.matrix);
    }
    return { nSteps, outputs, scalar, matrix };
  }

  /** Adds to `gradient` what the loss changes by with each weight. @param slopes of the loss by the outputs, nSteps x nOutputs. */
  backward({ nSteps, scalar, matrix }: XlstmRun, slopes: Float64Array, gradient: Float64Array): void {
    const { nHidden: n, nOutputs } = this.shape;
    const w = this.weights;
    const ofScalar = gradient.subarray(0, this.#at.matrix);
    const ofMatrix = gradient.subarray(this.#at.matrix, this.#at.head);
    const scalarCarry = this.#scalar.newCarry();
    const matrixCarry = this.#matrix.newCarry();
    const dScalar = new Float64Array(n);
    const dMatrix = new Float64Array(n);
    for (let t = nSteps - 1; t >= 0; t--) {
      dMatrix.fill(0);
      for (let o = 0; o < nOutputs; o++) {
        const slope = slopes[t * nOutputs + o] as number;
        if (slope === 0) continue;
        const row = this.#at.head + o * (n + 1);
        for (let j = 0; j < n; j++) {
          const h = (scalar.out[t * n + j] as number) + (matrix.out[t * n + j] as number);
          gradient[row + j] = (gradient[row + j] as number) + slope * h;
          dMatrix[j] = (dMatrix[j] as number) + slope * (w[row + j] as number);
        }
        gradient[row + n] = (gradient[row + n] as number) + slope;
      }
      dScalar.set(dMatrix);
      this.#matrix.back(matrix, t, dMatrix, matrixCarry, { gradient: ofMatrix, dInput: dScalar });
      this.#scalar.back(scalar, t, dScalar, scalarCarry, ofScalar);
    }
  }
}

export function countWeights(shape: XlstmShape): number {
  return placesOf(shape).end;
}

/** @param random numbers from 0 to 1. */
export function initialWeights(shape: XlstmShape, random: () => number): Float64Array {
  const { nInputs, nHidden: n } = shape;
  const { matrix, head, end } = placesOf(shape);
  const weights = new Float64Array(end);
  const fill = (from: number, to: number, width: number, bias: (row: number) => number, gain = 1) => {
    for (let at = from; at < to; at += width) {
      for (let i = 0; i < width - 1; i++) weights[at + i] = ((random() * 2 - 1) * gain) / Math.sqrt(width);
      weights[at + width - 1] = bias((at - from) / width);
    }
  };
  fill(0, matrix, nInputs + n + 1, (row) => scalarBias(row, n));
  fill(matrix, head, n + 1, (row) => matrixBias(row, n));
  fill(head, end, n + 1, () => 0, 0.1);
  return weights;
}

/** Where the weights of the mLSTM and of the head begin, behind those of the sLSTM. */
function placesOf({ nInputs, nHidden, nOutputs }: XlstmShape) {
  const matrix = countScalarWeights(nInputs, nHidden);
  const head = matrix + countMatrixWeights(nHidden);
  return { matrix, head, end: head + nOutputs * (nHidden + 1) };
}
