/** G.711: samples as bytes of the two laws of telephones (ITU-T G.711), by tables. */

/** Payload types of RTP that always mean these codecs (RFC 3551). */
export const PCMU = 0;
export const PCMA = 8;
export type Codec = typeof PCMU | typeof PCMA;

const BIAS = 0x84;
const CLIP = 32_635;

function muDecoded(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + BIAS) << ((bits >> 4) & 0x07);
  return bits & 0x80 ? BIAS - magnitude : magnitude - BIAS;
}

function muEncoded(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(CLIP, Math.abs(sample)) + BIAS;
  const exponent = Math.max(0, 24 - Math.clz32(magnitude));
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

function aDecoded(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits >> 4) & 0x07;
  const mantissa = (bits & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

function aEncoded(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min(CLIP, sample >= 0 ? sample : -sample - 1);
  const exponent = magnitude < 256 ? 0 : 24 - Math.clz32(magnitude);
  const mantissa = exponent === 0 ? magnitude >> 4 : (magnitude >> (exponent + 3)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

function lawOf(decode: (byte: number) => number, encode: (sample: number) => number) {
  return {
    decoded: Int16Array.from({ length: 256 }, (_, byte) => decode(byte)),
    encoded: Uint8Array.from({ length: 65_536 }, (_, at) => encode(at - 32_768)),
  };
}

/** Each is laid out with its first call: it takes milliseconds, and most nodes make none. */
const laws: Partial<Record<Codec, ReturnType<typeof lawOf>>> = {};

function law(codec: Codec) {
  laws[codec] ??= codec === PCMU ? lawOf(muDecoded, muEncoded) : lawOf(aDecoded, aEncoded);
  return laws[codec];
}

export function encodeG711(codec: Codec, samples: Int16Array): Buffer {
  const { encoded } = law(codec);
  return Buffer.from(samples.map((sample) => encoded[sample + 32_768] ?? 0));
}

export function decodeG711(codec: Codec, bytes: Uint8Array): Int16Array {
  const { decoded } = law(codec);
  return Int16Array.from(bytes, (byte) => decoded[byte] ?? 0);
}
