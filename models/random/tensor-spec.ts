/** A tensor to be filled with a bell curve. */
export interface TensorSpec {
  name: string;
  /** Fastest-varying dimension first. */
  dims: number[];
  mean: number;
  deviation: number;
  /** Weights take the model's number format; all else stays f32, as llama.cpp's converter leaves it. */
  isWeight: boolean;
}

/** A linear map. With `gain` 1, inputs of unit variance give outputs of unit variance. */
export function matrix(name: string, nIn: number, nOut: number, gain = 1): TensorSpec {
  return { name: `${name}.weight`, dims: [nIn, nOut], mean: 0, deviation: gain / Math.sqrt(nIn), isWeight: true };
}

export function embedding(name: string, nEmbd: number, nRows: number, deviation: number): TensorSpec {
  return { name: `${name}.weight`, dims: [nEmbd, nRows], mean: 0, deviation, isWeight: true };
}

/** A table that is added to embeddings: position or token type. */
export function table(name: string, nEmbd: number, nRows: number): TensorSpec {
  return { name: `${name}.weight`, dims: [nEmbd, nRows], mean: 0, deviation: 0.5, isWeight: false };
}

/** The scale of a normalisation; not exactly its mean, so that leaving it out shows. */
export function norm(name: string, nEmbd: number, mean = 1): TensorSpec {
  return { name: `${name}.weight`, dims: [nEmbd], mean, deviation: 0.1 * mean, isWeight: false };
}

export function bias(name: string, length: number): TensorSpec {
  return { name: `${name}.bias`, dims: [length], mean: 0, deviation: 0.1, isWeight: false };
}

export function normWithBias(name: string, nEmbd: number): TensorSpec[] {
  return [norm(name, nEmbd), bias(name, nEmbd)];
}

export function matrixWithBias(name: string, nIn: number, nOut: number, gain = 1): TensorSpec[] {
  return [matrix(name, nIn, nOut, gain), bias(name, nOut)];
}
