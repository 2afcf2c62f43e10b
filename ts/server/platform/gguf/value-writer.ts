import { type GgufArray, type GgufElementType, type GgufValue, ggufArrayTypeId, ggufTypes } from './gguf-value.ts';

/** Bytes of a value as they stand in a file: type id, then the value. Throws RangeError for a number that its type cannot hold. */
export function encodeValue(value: GgufValue): Buffer {
  if (value.type === 'array') return encodeArray(value);
  return Buffer.concat([u32(ggufTypes[value.type].id), encodeElement(value.type, value.value)]);
}

export function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

export function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function encodeArray({ elementType, length, values }: GgufArray): Buffer {
  if (values?.length !== length)
    throw new RangeError(`an array of ${length} ${elementType} has ${values?.length ?? 'no'} values`);
  const header = [u32(ggufArrayTypeId), u32(ggufTypes[elementType].id), u64(length)];
  return Buffer.concat([...header, ...values.map((element) => encodeElement(elementType, element))]);
}

function encodeElement(type: GgufElementType, value: string | number | bigint | boolean): Buffer {
  if (type === 'string') return encodeString(value as string);
  const bytes = Buffer.alloc(ggufTypes[type].bytes);
  encode[type](bytes, value as never);
  return bytes;
}

const encode: Record<Exclude<GgufElementType, 'string'>, (bytes: Buffer, value: never) => void> = {
  uint8: (bytes, value: number) => bytes.writeUInt8(value),
  int8: (bytes, value: number) => bytes.writeInt8(value),
  uint16: (bytes, value: number) => bytes.writeUInt16LE(value),
  int16: (bytes, value: number) => bytes.writeInt16LE(value),
  uint32: (bytes, value: number) => bytes.writeUInt32LE(value),
  int32: (bytes, value: number) => bytes.writeInt32LE(value),
  float32: (bytes, value: number) => bytes.writeFloatLE(value),
  float64: (bytes, value: number) => bytes.writeDoubleLE(value),
  uint64: (bytes, value: bigint) => bytes.writeBigUInt64LE(value),
  int64: (bytes, value: bigint) => bytes.writeBigInt64LE(value),
  bool: (bytes, value: boolean) => bytes.writeUInt8(value ? 1 : 0),
};
