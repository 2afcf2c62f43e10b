/** How ggml stores numbers. Ids: ggml/include/ggml.h (enum ggml_type); block sizes: ggml/src/ggml-common.h, as of ggml 0.25.1. */
export interface GgmlType {
  readonly id: number;
  readonly name: string;
  /** Numbers in one block; a row is a whole number of blocks. */
  readonly blockLength: number;
  readonly blockBytes: number;
}

const rows: readonly [id: number, name: string, blockLength: number, blockBytes: number][] = [
  [0, 'f32', 1, 4],
  [1, 'f16', 1, 2],
  [2, 'q4_0', 32, 18],
  [3, 'q4_1', 32, 20],
  [6, 'q5_0', 32, 22],
  [7, 'q5_1', 32, 24],
  [8, 'q8_0', 32, 34],
  [9, 'q8_1', 32, 36],
  [10, 'q2_k', 256, 84],
  [11, 'q3_k', 256, 110],
  [12, 'q4_k', 256, 144],
  [13, 'q5_k', 256, 176],
  [14, 'q6_k', 256, 210],
  [15, 'q8_k', 256, 292],
  [16, 'iq2_xxs', 256, 66],
  [17, 'iq2_xs', 256, 74],
  [18, 'iq3_xxs', 256, 98],
  [19, 'iq1_s', 256, 50],
  [20, 'iq4_nl', 32, 18],
  [21, 'iq3_s', 256, 110],
  [22, 'iq2_s', 256, 82],
  [23, 'iq4_xs', 256, 136],
  [24, 'i8', 1, 1],
  [25, 'i16', 1, 2],
  [26, 'i32', 1, 4],
  [27, 'i64', 1, 8],
  [28, 'f64', 1, 8],
  [29, 'iq1_m', 256, 56],
  [30, 'bf16', 1, 2],
  [34, 'tq1_0', 256, 54],
  [35, 'tq2_0', 256, 66],
  [39, 'mxfp4', 32, 17],
  [40, 'nvfp4', 64, 36],
  [41, 'q1_0', 128, 18],
  [42, 'q2_0', 64, 18],
];

export const ggmlTypes: readonly GgmlType[] = rows.map(([id, name, blockLength, blockBytes]) => ({
  id,
  name,
  blockLength,
  blockBytes,
}));

const byId = new Map(ggmlTypes.map((type) => [type.id, type]));
const byName = new Map(ggmlTypes.map((type) => [type.name, type]));

export function findGgmlType(id: number): GgmlType | undefined {
  return byId.get(id);
}

/** Throws RangeError for a name that ggml does not have. */
export function getGgmlType(name: string): GgmlType {
  const type = byName.get(name);
  if (!type) throw new RangeError(`no ggml type is called ${JSON.stringify(name)}; there are ${[...byName.keys()].join(', ')}`);
  return type;
}

/** Bytes of a tensor, or undefined when its rows are no whole number of blocks or the size is no safe integer. */
export function tensorBytes(type: GgmlType, dims: readonly number[]): number | undefined {
  if ((dims[0] ?? 1) % type.blockLength !== 0) return undefined;
  const elements = dims.reduce((product, dim) => product * BigInt(dim), 1n);
  const bytes = (elements / BigInt(type.blockLength)) * BigInt(type.blockBytes);
  return bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : undefined;
}
