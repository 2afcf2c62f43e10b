import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../test/test-support/iterations.ts';
import { compareKernels } from '../../../ts/server/native/vector.ts';
import { cosine } from './vectors.ts';

/** Half floats have 11 bits of fraction; a number of 1 at most is wrong by half of the last, and so is each of both. */
const halfError = 2 ** -11 + 1e-6;

const number = fc.oneof(
  fc.float({ min: -1, max: 1, noNaN: true }),
  // What half floats have only a few bits for, or none.
  fc.float({ min: Math.fround(-1e-4), max: Math.fround(1e-4), noNaN: true }),
);
const pair = fc
  .integer({ min: 1, max: 70 })
  .chain((dimensions) => fc.array(fc.tuple(number, number), { minLength: dimensions, maxLength: dimensions }));

t.test('every kernel of this CPU has the product that double precision has, but for half floats', async (t) => {
  fc.assert(
    fc.property(pair, (numbers) => {
      const one = Float32Array.from(numbers, ([a]) => a);
      const other = Float32Array.from(numbers, ([, b]) => b);
      const expected = cosine(one, other);
      for (const { name, product, rowProduct, floatProduct } of compareKernels(one, other)) {
        const isNear = Math.abs(product - expected) < halfError && Math.abs(rowProduct - expected) < 2 * halfError;
        if (!isNear) throw new Error(`${name}: ${product} and ${rowProduct} for ${expected}`);
        if (Math.abs(floatProduct - rowProduct) > 1e-5) throw new Error(`${name}: ${floatProduct} is not ${rowProduct}`);
      }
    }),
    { numRuns: iterations(2_000, 20_000, 'SVC_TEST_OPERATIONS') },
  );
  t.pass('they agree');
});

t.test('half floats are rounded alike by every kernel', async (t) => {
  fc.assert(
    fc.property(pair, (numbers) => {
      const one = Float32Array.from(numbers, ([a]) => a);
      const other = Float32Array.from(numbers, ([, b]) => b);
      const products = compareKernels(one, other).map(({ rowProduct }) => rowProduct);
      return products.every((product) => Math.abs(product - (products[0] ?? 2)) < 1e-6);
    }),
    { numRuns: iterations(2_000, 20_000, 'SVC_TEST_OPERATIONS') },
  );
  t.pass('they agree');
});

t.test('codes of bytes and bits are compared alike by every kernel', async (t) => {
  const long = fc
    .integer({ min: 1, max: 600 })
    .chain((dimensions) => fc.array(fc.tuple(number, number), { minLength: dimensions, maxLength: dimensions }));
  fc.assert(
    fc.property(long, (numbers) => {
      const one = Float32Array.from(numbers, ([a]) => a);
      const other = Float32Array.from(numbers, ([, b]) => b);
      const kernels = compareKernels(one, other);
      const plain = kernels.at(-1);
      return kernels.every((kernel) => kernel.byteProduct === plain?.byteProduct && kernel.planeSum === plain.planeSum);
    }),
    { numRuns: iterations(500, 20_000, 'SVC_TEST_OPERATIONS') },
  );
  const byHand = compareKernels(Float32Array.of(3, 4), Float32Array.of(4, 3))[0];
  t.equal(byHand?.byteProduct, 2 * Math.trunc(127 * 0.6) * Math.trunc(127 * 0.8), 'as computed by hand');
});

t.test('the plain kernel is there on every machine, and last', async (t) => {
  const names = compareKernels(Float32Array.of(1), Float32Array.of(1)).map(({ name }) => name);
  t.equal(names.at(-1), 'plain');
  t.equal(new Set(names).size, names.length);
  t.throws(() => compareKernels(Float32Array.of(1), Float32Array.of(1, 2)), { code: 'invalid_argument' });
  t.throws(() => compareKernels(new Float32Array(0), new Float32Array(0)), { code: 'invalid_argument' });
});
