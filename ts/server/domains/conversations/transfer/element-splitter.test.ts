import fc from 'fast-check';
import t from 'tap';
import { ElementSplitter } from './element-splitter.ts';

const numRuns = process.env['SVC_TEST_LONG'] ? 20_000 : 1_000;

/** Cuts a document into chunks of the given sizes, in turn. */
function split(
  document: string | Buffer,
  sizes: readonly number[] = [1e9],
  limits = { maxBytes: 1e6, maxValues: 1e6 },
): unknown[] {
  const splitter = new ElementSplitter(limits);
  const bytes = Buffer.from(document as string);
  const elements: unknown[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    for (const element of splitter.push(bytes.subarray(at, at + size)))
      elements.push(element.kind === 'element' ? JSON.parse(Buffer.from(element.bytes).toString()) : element.kind);
    at += size;
  }
  splitter.end();
  return elements;
}

const conversations = fc.array(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())));
const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });

t.test('the elements come out whole, wherever the chunks are cut', async () => {
  fc.assert(
    fc.property(conversations, sizes, fc.nat(2), (elements, cuts, indent) => {
      const same = (document: unknown) =>
        JSON.stringify(split(JSON.stringify(document, undefined, indent), cuts)) === JSON.stringify(elements);
      return same(elements) && same({ before: [{ conversations: [{}] }], conversations: elements, after: [[{}]] });
    }),
    { numRuns },
  );
});

t.test('any bytes end in elements or in a refusal', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.stringMatching(/^[[\]{}":,\\ a1]{0,40}$/).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const splitter = new ElementSplitter({ maxBytes: 1e6, maxValues: 1e6 });
        try {
          for (const _ of splitter.push(bytes));
          splitter.end();
        } catch (error) {
          if ((error as { code?: unknown }).code !== 'invalid_import') throw error;
        }
      },
    ),
    { numRuns },
  );
});

t.test('a conversation that is too large is left out, and the next one read', async (t) => {
  const document = JSON.stringify([{ a: 'x'.repeat(500) }, { b: 1 }]);
  for (const size of [1, 7, 1000])
    t.strictSame(split(document, [size], { maxBytes: 100, maxValues: 1e6 }), ['too_large', { b: 1 }]);
});

t.test('what is no export is refused with the reason', async (t) => {
  for (const [document, reason] of [
    ['', /no member/],
    ['PK\u0003\u0004', /unpack/],
    ['hello', /no JSON/],
    ['{"data": []}', /no member/],
    ['[{"a": 1}', /ends in the middle/],
    ['[]]', /closed/],
    ['['.repeat(300), /nested deeper/],
  ] as const)
    t.throws(() => split(document), { code: 'invalid_import', message: reason }, document.slice(0, 20));
});
