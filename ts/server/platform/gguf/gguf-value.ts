/** What GGUF metadata holds. Numbers of the types: ggml/include/gguf.h (enum gguf_type). */
type GgufNumberType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64';
type GgufBigType = 'uint64' | 'int64';
export type GgufElementType = GgufNumberType | GgufBigType | 'bool' | 'string';

export type GgufScalar =
  | { type: GgufNumberType; value: number }
  | { type: GgufBigType; value: bigint }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string };

export type GgufElements = readonly string[] | readonly number[] | readonly bigint[] | readonly boolean[];

export interface GgufArray {
  type: 'array';
  elementType: GgufElementType;
  length: number;
  /** Absent when the reader skipped a big array. */
  values?: GgufElements;
}

export type GgufValue = GgufScalar | GgufArray;
export type GgufMetadata = Map<string, GgufValue>;

export const ggufArrayTypeId = 9;

/** Type id and size on disk in bytes (a string: of its length prefix). */
export const ggufTypes: Record<GgufElementType, { id: number; bytes: number }> = {
  uint8: { id: 0, bytes: 1 },
  int8: { id: 1, bytes: 1 },
  uint16: { id: 2, bytes: 2 },
  int16: { id: 3, bytes: 2 },
  uint32: { id: 4, bytes: 4 },
  int32: { id: 5, bytes: 4 },
  float32: { id: 6, bytes: 4 },
  bool: { id: 7, bytes: 1 },
  string: { id: 8, bytes: 8 },
  uint64: { id: 10, bytes: 8 },
  int64: { id: 11, bytes: 8 },
  float64: { id: 12, bytes: 8 },
};

const nameById = new Map(Object.entries(ggufTypes).map(([name, { id }]) => [id, name as GgufElementType]));

export function findGgufTypeName(id: number): GgufElementType | undefined {
  return nameById.get(id);
}

export function findString(metadata: GgufMetadata, key: string): string | undefined {
  const value = metadata.get(key);
  return value?.type === 'string' ? value.value : undefined;
}

/** Any integer or float type; an integer beyond 2^53 counts as absent. */
export function findNumber(metadata: GgufMetadata, key: string): number | undefined {
  const value = metadata.get(key);
  if (value === undefined || value.type === 'array' || value.type === 'string' || value.type === 'bool') return undefined;
  const number = Number(value.value);
  return typeof value.value === 'number' || Number.isSafeInteger(number) ? number : undefined;
}

export function findBoolean(metadata: GgufMetadata, key: string): boolean | undefined {
  const value = metadata.get(key);
  return value?.type === 'bool' ? value.value : undefined;
}

export function findStrings(metadata: GgufMetadata, key: string): readonly string[] | undefined {
  const value = metadata.get(key);
  return value?.type === 'array' && value.elementType === 'string' ? (value.values as readonly string[] | undefined) : undefined;
}
