import fc from 'fast-check';
import t from 'tap';
import { maxFloatBytes, writeFloat } from './float-text.ts';

const bytes = new Uint8Array(64);

function write(value: number): string {
  const end = writeFloat(value, bytes, 5) - 5;
  return Buffer.from(bytes.subarray(5, 5 + end)).toString('latin1');
}

t.test('every 32-bit float is read back as itself', (t) => {
  const float = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.integer({ min: 0, max: 0x7f7fffff }).map((bits) => new Float32Array(Uint32Array.of(bits).buffer)[0] ?? 0),
  );
  fc.assert(
    fc.property(float, (value) => {
      const text = write(value);
      return text.length <= maxFloatBytes && Math.fround(JSON.parse(text) as number) === value;
    }),
    { numRuns: 20_000 },
  );
  t.end();
});

for (const [value, text] of [
  [0, '0'],
  [-0, '0'],
  [0.5, '0.5'],
  [-0.25, '-0.25'],
  [1, '1'],
  [Math.fround(0.1), '0.100000001'],
  [Math.fround(0.9999999), '0.999999881'],
  [Math.fround(1e-7), '1.00000001e-7'],
  [Math.fround(3.4028234e38), '3.40282347e+38'],
  [Number.NaN, 'null'],
  [Number.POSITIVE_INFINITY, 'null'],
] as const) {
  t.test(`${value} is ${text}`, async (t) => {
    t.equal(write(value), text);
  });
}
