/** The tensors of a voice have to be what the library computes with: it ends the process where a shape is another one. */

export interface TensorRow {
  name: string;
  /** Fastest-varying dimension first. */
  dims: readonly number[];
  /** `weight`: any format that is multiplied with; `filter`: one of those without blocks; `kernel`: half floats; `plain`: floats. */
  kind: 'weight' | 'filter' | 'kernel' | 'plain';
}

export function weight(name: string, ...dims: number[]): TensorRow {
  return { name: `${name}.weight`, dims, kind: 'weight' };
}

export function filter(name: string, ...dims: number[]): TensorRow {
  return { name: `${name}.weight`, dims, kind: 'filter' };
}

export function kernel(name: string, ...dims: number[]): TensorRow {
  return { name: `${name}.weight`, dims, kind: 'kernel' };
}

export function plain(name: string, ...dims: number[]): TensorRow {
  return { name, dims, kind: 'plain' };
}

export function bias(name: string, length: number): TensorRow {
  return plain(`${name}.bias`, length);
}

export function norm(name: string, width: number): TensorRow[] {
  return [plain(`${name}.weight`, width), bias(name, width)];
}

export function linear(name: string, nIn: number, nOut: number): TensorRow[] {
  return [weight(name, nIn, nOut), bias(name, nOut)];
}

export function repeat(count: number, rows: (index: number) => TensorRow[]): TensorRow[] {
  return Array.from({ length: count }, (_, index) => rows(index)).flat();
}
