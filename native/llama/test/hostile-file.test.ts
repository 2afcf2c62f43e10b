/** Files made to do harm, given to the addon itself: a NativeError says what is wrong, and the process goes on. */
import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';
import { LlamaModel, NativeError } from '../../../ts/server/native/llama.ts';
import { readGguf } from '../../../ts/server/platform/gguf/gguf-reader.ts';
import type { GgufMetadata, GgufValue } from '../../../ts/server/platform/gguf/gguf-value.ts';
import { writeGguf } from '../../../ts/server/platform/gguf/gguf-writer.ts';
import { complete } from './completion.ts';

const folder = t.testdir({});
const inspection = fileURLToPath(new URL('../../../ts/workers/inspect-model.ts', import.meta.url));
const sound = await randomModel({ arch: 'llama', type: 'q8_0' });
const bytes = readFileSync(sound);
const { dataOffset, metadata, tensors } = await readGguf(sound, { arrays: 'load' });

async function refuses(t: Test, path: string, code: string, what: string): Promise<void> {
  await t.rejects(LlamaModel.load({ path }), { name: 'NativeError', code, message: /./ }, what);
}

/** The other process runs under a limit of address space, of which a sanitised one wants terabytes. */
function noLimits(): string | false {
  return isSanitized() ? 'the limits of the other process leave a sanitizer no room' : false;
}

t.test('no file, a folder and an empty file', async (t) => {
  await refuses(t, join(folder, 'absent.gguf'), 'model_not_found', 'absent');
  await refuses(t, folder, 'model_not_found', 'a folder');
  const empty = join(folder, 'empty.gguf');
  writeFileSync(empty, '');
  await refuses(t, empty, 'model_invalid', 'empty');
});

t.test('truncated in the header, the tokenizer and the tensor data', async (t) => {
  const path = join(folder, 'truncated.gguf');
  for (const length of [3, 20, 200, Math.floor(dataOffset / 2), dataOffset - 1, dataOffset + 100, bytes.length - 4_096]) {
    writeFileSync(path, bytes.subarray(0, length));
    await refuses(t, path, 'model_invalid', `${length} of ${bytes.length} bytes`);
    await t.rejects(readGguf(path), { name: 'GgufError' }, 'the reader refuses it too');
  }
});

t.test('counts and lengths beyond the file', async (t) => {
  const path = join(folder, 'counts.gguf');
  for (const [at, name] of [
    [8, 'tensors'],
    [16, 'keys'],
    [24, 'the first key’s length'],
  ] as const) {
    const damaged = Buffer.from(bytes);
    damaged.writeBigUInt64LE(2n ** 62n, at);
    writeFileSync(path, damaged);
    await refuses(t, path, 'model_invalid', name);
  }
});

/** The model with some metadata changed; undefined removes a key. */
async function altered(name: string, changes: Record<string, GgufValue | undefined>): Promise<string> {
  const changed: GgufMetadata = new Map(metadata);
  for (const [key, value] of Object.entries(changes)) {
    if (value) changed.set(key, value);
    else changed.delete(key);
  }
  const path = join(folder, name);
  const written = tensors.map(({ name, dims, type, offset, sizeBytes }) => {
    const start = dataOffset + offset;
    return { name, dims, type, data: () => [bytes.subarray(start, start + sizeBytes)] };
  });
  await writeGguf(path, { metadata: changed, tensors: written });
  return path;
}

const numbers: GgufValue = { type: 'array', elementType: 'int32', length: 1, values: [1] };
const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
const text = (value: string): GgufValue => ({ type: 'string', value });

t.test('hyper-parameters that lie', async (t) => {
  const lies: Record<string, Record<string, GgufValue | undefined>> = {
    'an unknown architecture': { 'general.architecture': text('llamb') },
    'no architecture': { 'general.architecture': undefined },
    'an architecture that is a number': { 'general.architecture': uint32(1) },
    'more layers than tensors': { 'llama.block_count': uint32(3) },
    'another width': { 'llama.embedding_length': uint32(128) },
    'a width of zero': { 'llama.embedding_length': uint32(0) },
    'no heads': { 'llama.attention.head_count': uint32(0) },
    'heads that do not divide': { 'llama.attention.head_count': uint32(3) },
    'text for a number': { 'llama.block_count': text('two') },
    'no tokens': { 'tokenizer.ggml.tokens': undefined },
    'tokens that are numbers': { 'tokenizer.ggml.tokens': numbers },
    'a single token': { 'tokenizer.ggml.tokens': { type: 'array', elementType: 'string', length: 1, values: ['a'] } },
    'fewer scores than tokens': { 'tokenizer.ggml.scores': { type: 'array', elementType: 'float32', length: 1, values: [0] } },
    'rotary dimensions beyond a head': { 'llama.rope.dimension_count': uint32(4_096) },
    'an unknown tokenizer': { 'tokenizer.ggml.model': text('runes') },
    'a chat template that cannot be parsed': { 'tokenizer.chat_template': text('{% for x in %}') },
  };
  for (const [what, changes] of Object.entries(lies)) {
    const path = await altered('lie.gguf', changes);
    const error = await LlamaModel.load({ path }).then(
      (model) => model.close(),
      (reason: unknown) => reason,
    );
    t.ok(error instanceof NativeError && ['model_invalid', 'template_failed'].includes(error.code), `${what}: ${error}`);
  }
});

t.test('a chat template that cannot be parsed is named with the place', async (t) => {
  const path = await altered('template.gguf', { 'tokenizer.chat_template': text('{% for x in %}') });
  await t.rejects(LlamaModel.load({ path }), {
    code: 'template_failed',
    message: /template\.gguf has a chat template that cannot be parsed.*: .*token.*%/s,
  });
});

t.test('what llama.cpp ends the process for is opened in another one first', { skip: noLimits() }, async (t) => {
  for (const nLayer of [0, 4_294_967_295]) {
    const path = await altered('abort.gguf', { 'llama.block_count': uint32(nLayer) });
    const child = spawnSync(process.execPath, [inspection, path], { encoding: 'utf8' });
    t.notMatch(child.stdout, /"usable":true/, `${nLayer} layers`);
  }
  const path = await altered('harmless.gguf', {});
  t.match(spawnSync(process.execPath, [inspection, path], { encoding: 'utf8' }).stdout, /"usable":true/, 'a sound file passes');
});

t.test('a split model that names itself as its next part, and one whose part is missing', async (t) => {
  const split = {
    'split.count': { type: 'uint16', value: 2 },
    'split.no': { type: 'uint16', value: 0 },
    'split.tensors.count': { type: 'int32', value: tensors.length * 2 },
  } satisfies Record<string, GgufValue>;
  const first = await altered('cyclic-00001-of-00002.gguf', split);
  await refuses(t, first, 'model_invalid', 'the second part is missing');
  writeFileSync(join(folder, 'cyclic-00002-of-00002.gguf'), readFileSync(first));
  await refuses(t, first, 'model_invalid', 'the second part is the first again');
});

t.test('a model file cut while nobody looks is not the end of a sound one', async (t) => {
  const path = join(folder, 'cut.gguf');
  writeFileSync(path, bytes);
  truncateSync(path, bytes.length / 2);
  await refuses(t, path, 'model_invalid', 'cut');
  const model = await LlamaModel.load({ path: sound });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nParallel: 1, nCtx: 256, nThreads: 1 });
  t.teardown(() => engine.close());
  const { tokens } = await complete(engine, { prompt: { kind: 'text', text: 'Still here' }, maxTokens: 4 });
  t.equal(tokens.length, 4);
});
