import t from 'tap';
import { fromHalf } from './half.ts';
import { RandomSource } from './random-source.ts';
import { encodeTensor } from './tensor-encoder.ts';

const values = new Float32Array(4_096);
new RandomSource('encoder').fillNormal(values, 0, 1);

t.test('q8_0 is within half a step of the values', async (t) => {
  const bytes = Buffer.from(encodeTensor.q8_0(values));
  t.equal(bytes.length, (values.length / 32) * 34);
  const errors = values.map((value, i) => {
    const block = Math.floor(i / 32) * 34;
    const scale = fromHalf(bytes.readUInt16LE(block));
    return Math.abs(value - scale * bytes.readInt8(block + 2 + (i % 32))) / scale;
  });
  t.ok(Math.max(...errors) < 0.57, `worst error ${Math.max(...errors)} steps (half a step, and the scale's own rounding)`);
});

t.test('q4_0 is within a step of the values', async (t) => {
  const bytes = Buffer.from(encodeTensor.q4_0(values));
  t.equal(bytes.length, (values.length / 32) * 18);
  const errors = values.map((value, i) => {
    const block = Math.floor(i / 32) * 18;
    const scale = fromHalf(bytes.readUInt16LE(block));
    const byte = bytes.readUInt8(block + 2 + (i % 16));
    return Math.abs(value - scale * ((i % 32 < 16 ? byte & 15 : byte >> 4) - 8)) / Math.abs(scale);
  });
  t.ok(Math.max(...errors) < 1.01, `worst error ${Math.max(...errors)} steps (the far end has seven steps, not eight)`);
});

t.test('a block of zeros stays zero', async (t) => {
  const zeros = new Float32Array(32);
  t.equal(Buffer.from(encodeTensor.q8_0(zeros)).toString('hex'), '00'.repeat(34));
  t.equal(Buffer.from(encodeTensor.q4_0(zeros)).subarray(2).toString('hex'), '88'.repeat(16));
});

t.test('part of a block is refused', async (t) => {
  t.throws(() => encodeTensor.q4_0(new Float32Array(33)), RangeError);
});

t.test('the numbers have the asked mean and deviation', async (t) => {
  const sample = new Float32Array(200_000);
  new RandomSource('moments').fillNormal(sample, 3, 0.5);
  const mean = sample.reduce((sum, value) => sum + value, 0) / sample.length;
  const variance = sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sample.length;
  t.ok(Math.abs(mean - 3) < 0.01, `mean ${mean}`);
  t.ok(Math.abs(Math.sqrt(variance) - 0.5) < 0.01, `deviation ${Math.sqrt(variance)}`);
});
