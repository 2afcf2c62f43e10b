import { createHash } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { ggmlTypes } from './ggml-type.ts';
import { GgufError } from './gguf-error.ts';
import { readGguf } from './gguf-reader.ts';
import type { GgufElementType, GgufMetadata, GgufValue } from './gguf-value.ts';
import { type TensorToWrite, writeGguf } from './gguf-writer.ts';
import { encodeString, encodeValue, u32, u64 } from './value-writer.ts';

const folder = t.testdir({});
const path = join(folder, 'model.gguf');

const integer = (min: number, max: number) => fc.integer({ min, max });
const elements: Record<GgufElementType, fc.Arbitrary<unknown>> = {
  uint8: integer(0, 255),
  int8: integer(-128, 127),
  uint16: integer(0, 65_535),
  int16: integer(-32_768, 32_767),
  uint32: integer(0, 2 ** 32 - 1),
  int32: integer(-(2 ** 31), 2 ** 31 - 1),
  float32: fc.float({ noNaN: true }),
  float64: fc.double({ noNaN: true }),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  bool: fc.boolean(),
  string: fc.string({ unit: 'grapheme' }),
};
const elementTypes = Object.keys(elements) as GgufElementType[];

const scalar = fc.constantFrom(...elementTypes).chain((type) => elements[type].map((value) => ({ type, value }) as GgufValue));
const array = fc
  .constantFrom(...elementTypes)
  .chain((elementType) =>
    fc.array(elements[elementType]).map((values) => ({ type: 'array', elementType, length: values.length, values }) as GgufValue),
  );
const key = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0') && text !== 'general.alignment');
const metadata: fc.Arbitrary<GgufMetadata> = fc
  .uniqueArray(fc.tuple(key, fc.oneof(scalar, array)), { selector: ([name]) => name, maxLength: 8 })
  .map((entries) => new Map(entries));

interface Tensor extends TensorToWrite {
  bytes: Buffer;
}
const tensor: fc.Arbitrary<Tensor> = fc
  .record({
    name: fc.string({ minLength: 1, maxLength: 40 }),
    type: fc.constantFrom(...ggmlTypes),
    dims: fc.array(integer(1, 3), { maxLength: 4 }),
  })
  .map(({ name, type, dims }) => {
    const blocks = dims.reduce((product, dim) => product * dim, 1);
    const shape = dims.length > 0 ? [(dims[0] ?? 1) * type.blockLength, ...dims.slice(1)] : [type.blockLength];
    const bytes = Buffer.alloc(blocks * type.blockBytes, name);
    return { name, dims: shape, type: type.name, bytes, data: () => [bytes] };
  });
const tensors = fc.uniqueArray(tensor, { selector: ({ name }) => name, maxLength: 5 });

t.test('what was written is read back', async (t) => {
  await fc.assert(
    fc.asyncProperty(metadata, tensors, async (metadata, tensors) => {
      await writeGguf(path, { metadata, tensors });
      const file = await readGguf(path, { arrays: 'load' });
      t.strictSame(file.metadata, metadata);
      t.strictSame(
        file.tensors.map(({ name, dims, type }) => ({ name, dims, type })),
        tensors.map(({ name, dims, type }) => ({ name, dims, type })),
      );
      const bytes = readFileSync(path);
      for (const [i, { offset, sizeBytes }] of file.tensors.entries()) {
        const start = file.dataOffset + offset;
        t.ok(bytes.subarray(start, start + sizeBytes).equals(tensors[i]?.bytes ?? Buffer.alloc(0)));
      }
    }),
    { numRuns: iterations(150, 500) },
  );
});

t.test('any damage ends in a GgufError or in a sound file, with little memory', async (t) => {
  await writeGguf(path, sample());
  const original = readFileSync(path);
  const damaged = join(folder, 'damaged.gguf');
  const before = process.memoryUsage().rss;
  const flips = fc.array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
  let nRefused = 0;
  await fc.assert(
    fc.asyncProperty(flips, fc.nat(original.length), fc.boolean(), async (flips, length, cut) => {
      const bytes = Buffer.from(original);
      for (const [at, value] of flips) bytes[at] = value;
      writeFileSync(damaged, cut ? bytes.subarray(0, length) : bytes);
      try {
        await readGguf(damaged, { arrays: 'load' });
      } catch (error) {
        if (!(error instanceof GgufError)) throw error;
        nRefused++;
      }
    }),
    { numRuns: iterations(1_500, 5_000) },
  );
  t.ok(nRefused > 200, `${nRefused} damaged files were refused`);
  t.ok(process.memoryUsage().rss - before < 96 * 1024 * 1024, 'memory stays flat');
});

t.test('every shorter prefix is refused as truncated', async (t) => {
  await writeGguf(path, sample());
  // The padding behind the last tensor may be missing: llama.cpp reads such files too.
  const end = readFileSync(path).length - 28;
  for (let length = end - 1; length >= 0; length -= 7) {
    truncateSync(path, length);
    await t.rejects(readGguf(path), { code: length < 4 ? 'not_gguf' : 'truncated' }, `${length} bytes`);
  }
});

t.test('big arrays are left out unless asked for', async (t) => {
  const values = Array.from({ length: 5_000 }, (_, i) => `piece ${i}`);
  const tokens: GgufValue = { type: 'array', elementType: 'string', length: values.length, values };
  const after: GgufValue = { type: 'uint32', value: 7 };
  await writeGguf(path, {
    metadata: new Map<string, GgufValue>([
      ['tokens', tokens],
      ['after', after],
    ]),
    tensors: [],
  });
  const skipped = await readGguf(path);
  t.strictSame(skipped.metadata.get('tokens'), { type: 'array', elementType: 'string', length: 5_000 });
  t.strictSame(skipped.metadata.get('after'), after);
  t.strictSame((await readGguf(path, { arrays: 'load' })).metadata.get('tokens'), tokens);
});

t.test('a hundred-gigabyte file costs no more than its header', async (t) => {
  const name = encodeString('weights');
  const size = 100 * 2 ** 30;
  const head = header({ nTensors: 1, tail: [name, u32(1), u64(size), u32(24), u64(0)] });
  writeFileSync(path, head);
  truncateSync(path, Math.ceil(head.length / 32) * 32 + size);
  const file = await readGguf(path);
  t.equal(file.tensors[0]?.sizeBytes, size);
  truncateSync(path, 0);
});

t.test('hostile headers are refused with the place and the expectation', async (t) => {
  const cases: [name: string, bytes: Buffer, code: string, message: RegExp][] = [
    ['another format', Buffer.from('PK\x03\x04 and more'), 'not_gguf', /at byte 0: expected "GGUF"/],
    ['version 1', Buffer.concat([Buffer.from('GGUF'), u32(1), u64(0), u64(0)]), 'unsupported_version', /at byte 4/],
    ['big endian', Buffer.concat([Buffer.from('GGUF'), u32(0x03000000), u64(0), u64(0)]), 'unsupported_version', /big-endian/],
    ['2^63 tensors', header({ nTensors: 2n ** 63n }), 'invalid', /at byte 8: expected the number of tensors below 2\^53/],
    ['a million tensors', header({ nTensors: 1_000_000 }), 'too_large', /at most 65536 tensors/],
    ['more keys than bytes', header({ nKeys: 60_000 }), 'truncated', /number of metadata keys that fits/],
    [
      'a string of 2^40 bytes',
      header({ nKeys: 1, tail: [u64(2 ** 40), Buffer.alloc(64)] }),
      'too_large',
      /metadata key of at most/,
    ],
    ['an empty key', header({ nKeys: 1, tail: [encodeString(''), Buffer.alloc(64)] }), 'invalid', /an empty string/],
    ['NUL in a key', header({ nKeys: 1, tail: [encodeString('a\0b'), Buffer.alloc(64)] }), 'invalid', /NUL/],
    ['an unknown value type', header({ nKeys: 1, tail: [encodeString('k'), u32(13), Buffer.alloc(64)] }), 'invalid', /found 13/],
    [
      'a nested array',
      header({ nKeys: 1, tail: [encodeString('k'), u32(9), u32(9), u64(1), Buffer.alloc(64)] }),
      'invalid',
      /do not nest/,
    ],
    ['a huge array', header({ nKeys: 1, tail: [encodeString('k'), u32(9), u32(0), u64(2 ** 50)] }), 'too_large', /elements in k/],
    [
      'an array past the end',
      header({ nKeys: 1, tail: [encodeString('k'), u32(9), u32(8), u64(5_000)] }),
      'truncated',
      /40000 bytes of k/,
    ],
    ['a key twice', header({ nKeys: 2, tail: [pair('k', uint32(1)), pair('k', uint32(2))] }), 'invalid', /k twice/],
    [
      'an odd alignment',
      header({ nKeys: 1, tail: [pair('general.alignment', uint32(48))] }),
      'invalid',
      /power of two.*found 48/,
    ],
    [
      'a text alignment',
      header({ nKeys: 1, tail: [pair('general.alignment', { type: 'string', value: '32' })] }),
      'invalid',
      /uint32/,
    ],
    ['five dimensions', withTensor(u32(5), Buffer.alloc(64)), 'invalid', /at most 4 dimensions/],
    ['a zero dimension', withTensor(u32(1), u64(0), u32(0), u64(0)), 'invalid', /dimensions of 1 or more/],
    [
      'an overflowing shape',
      withTensor(u32(4), ...[1, 2, 3, 4].map(() => u64(2 ** 40)), u32(0), u64(0)),
      'invalid',
      /size below 2\^53/,
    ],
    ['a removed type', withTensor(u32(1), u64(4), u32(4), u64(0)), 'invalid', /known ggml type.*found 4/],
    ['part of a block', withTensor(u32(1), u64(33), u32(2), u64(0)), 'invalid', /whole q4_0 blocks/],
    ['an offset elsewhere', withTensor(u32(1), u64(4), u32(0), u64(64)), 'invalid', /at data offset 0, found 64/],
    [
      'a long tensor name',
      header({ nTensors: 1, tail: [encodeString('x'.repeat(64)), Buffer.alloc(64)] }),
      'too_large',
      /at most 63/,
    ],
    ['data past the end', withTensor(u32(1), u64(4), u32(0), u64(0)), 'truncated', /16 bytes of tensor w/],
    ['a part beyond the split', split(4, 4), 'invalid', /found 4 of 4/],
    [
      'a split without a part',
      header({ nKeys: 1, tail: [pair('split.count', { type: 'uint16', value: 2 })] }),
      'invalid',
      /found -1 of 2/,
    ],
  ];
  for (const [name, bytes, code, message] of cases) {
    writeFileSync(path, bytes);
    await t.rejects(readGguf(path), { name: 'GgufError', code, message }, name);
  }
});

t.test('overlapping and repeated tensors are refused', async (t) => {
  const entry = (name: string, offset: number) => Buffer.concat([encodeString(name), u32(1), u64(8), u32(0), u64(offset)]);
  writeFileSync(path, header({ nTensors: 2, tail: [entry('a', 0), entry('b', 16), Buffer.alloc(256)] }));
  await t.rejects(readGguf(path), { code: 'invalid', message: /b at data offset 32, found 16/ });
  writeFileSync(path, header({ nTensors: 2, tail: [entry('a', 0), entry('a', 32), Buffer.alloc(256)] }));
  await t.rejects(readGguf(path), { code: 'invalid', message: /a twice/ });
});

t.test('a split part says which it is', async (t) => {
  writeFileSync(path, split(1, 3));
  t.strictSame((await readGguf(path)).split, { index: 1, count: 3 });
});

t.test('a folder is no model', async (t) => {
  await mkdir(join(folder, 'folder.gguf'));
  await t.rejects(readGguf(join(folder, 'folder.gguf')), { code: 'not_gguf' });
  await t.rejects(readGguf(join(folder, 'absent.gguf')), { code: 'ENOENT' });
});

t.test('a writer whose data disagree leaves nothing behind', async (t) => {
  const target = join(folder, 'never.gguf');
  const tensor = { name: 'w', dims: [4], type: 'f32', data: () => [Buffer.alloc(12)] };
  await t.rejects(writeGguf(target, { metadata: new Map(), tensors: [tensor] }), /needs 16 bytes of data, got 12/);
  await t.rejects(readGguf(target), { code: 'ENOENT' });
});

t.test('the same content gives the same file', async (t) => {
  const hash = () => createHash('sha256').update(readFileSync(path)).digest('hex');
  await writeGguf(path, sample());
  const first = hash();
  await writeGguf(path, sample());
  t.equal(hash(), first);
});

function sample(): { metadata: GgufMetadata; tensors: TensorToWrite[] } {
  const tokens: GgufValue = { type: 'array', elementType: 'string', length: 3, values: ['a', 'ü', '漢'] };
  const metadata: GgufMetadata = new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['llama.block_count', { type: 'uint32', value: 2 }],
    ['tokenizer.ggml.tokens', tokens],
    ['ok', { type: 'bool', value: true }],
    ['big', { type: 'uint64', value: 1n << 60n }],
  ]);
  const data = (bytes: number) => () => [Buffer.alloc(bytes, 1)];
  return {
    metadata,
    tensors: [
      { name: 'token_embd.weight', dims: [32, 3], type: 'q4_0', data: data(54) },
      { name: 'output_norm.weight', dims: [9], type: 'f32', data: data(36) },
    ],
  };
}

function header({ nTensors = 0, nKeys = 0, tail = [] }: { nTensors?: number | bigint; nKeys?: number; tail?: Buffer[] }): Buffer {
  return Buffer.concat([Buffer.from('GGUF'), u32(3), u64(nTensors), u64(nKeys), ...tail]);
}

function withTensor(...tail: Buffer[]): Buffer {
  return header({ nTensors: 1, tail: [encodeString('w'), ...tail] });
}

function uint32(value: number): GgufValue {
  return { type: 'uint32', value };
}

function pair(key: string, value: GgufValue): Buffer {
  return Buffer.concat([encodeString(key), encodeValue(value)]);
}

function split(index: number, count: number): Buffer {
  const tail = [pair('split.no', { type: 'uint16', value: index }), pair('split.count', { type: 'uint16', value: count })];
  return header({ nKeys: 2, tail });
}
