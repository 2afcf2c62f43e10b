const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** IEEE 754 binary16 of a number, rounded to nearest even; Node 22 has no Float16Array. */
export function toHalf(value: number): number {
  float[0] = value;
  const word = bits[0] as number;
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  if (exponent >= 143) return sign | 0x7c00;
  if (exponent >= 113) return sign | roundEven(((exponent - 112) << 23) | fraction, 13);
  if (exponent < 102) return sign;
  return sign | roundEven(fraction | 0x800000, 126 - exponent);
}

export function fromHalf(half: number): number {
  const magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) return magnitude === 0x7c00 ? (half & 0x8000 ? -Infinity : Infinity) : NaN;
  const exponent = magnitude >>> 10;
  const fraction = magnitude & 0x3ff;
  const value = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -value : value;
}

/** Drops `shift` low bits; a carry into the exponent is the right next number. */
function roundEven(number: number, shift: number): number {
  const kept = number >>> shift;
  const dropped = number - kept * 2 ** shift;
  const half = 2 ** (shift - 1);
  return dropped > half || (dropped === half && kept & 1) ? kept + 1 : kept;
}
