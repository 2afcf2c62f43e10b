import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { readGguf } from '../../ts/server/platform/gguf/gguf-reader.ts';
import { findBoolean, findString } from '../../ts/server/platform/gguf/gguf-value.ts';
import { type ArchitectureName, architectures } from './architectures.ts';
import { randomModel } from './fixture.ts';
import { recipe, writeRandomModel } from './random-model.ts';
import { shapes } from './shapes.ts';
import { vocabularyFolder } from './vocabulary.ts';

const folder = t.testdir({});

t.test('the same seed gives the same weights on every machine', async (t) => {
  const path = join(folder, 'seeded.gguf');
  await writeRandomModel(path, { arch: 'llama', type: 'q4_0', seed: 7 });
  const { dataOffset } = await readGguf(path);
  const digest = createHash('sha256').update(readFileSync(path).subarray(dataOffset)).digest('hex');
  t.equal(digest, '8af1b83a70d4237b19490a589c6937f354327957456f1d6950a8581848b99f3a');
});

t.test('another seed gives other weights', async (t) => {
  const hash = async (seed: number) => {
    const path = join(folder, `seed-${seed}.gguf`);
    await writeRandomModel(path, { seed, type: 'q8_0' });
    const { dataOffset } = await readGguf(path);
    return createHash('sha256').update(readFileSync(path).subarray(dataOffset)).digest('hex');
  };
  t.not(await hash(1), await hash(2));
});

t.test('a random model says of itself that it talks nonsense', async (t) => {
  const { metadata } = await readGguf(await randomModel());
  t.equal(findBoolean(metadata, 'svc.demonstration'), true);
  t.match(findString(metadata, 'general.description'), /nonsense/);
  t.match(findString(metadata, 'tokenizer.chat_template'), /<tool_call>/);
});

t.test('fixtures asked for at once are one file', async (t) => {
  // The sources stay where they are; only the models go elsewhere.
  const llamaCpp = dirname(await vocabularyFolder());
  t.intercept(process, 'env', { value: { ...process.env, SVC_LLAMA_CPP_DIR: llamaCpp, SVC_CACHE_DIR: join(folder, 'cache') } });
  const paths = await Promise.all([randomModel(), randomModel(), randomModel()]);
  t.equal(new Set(paths).size, 1);
  t.equal((await readdir(join(folder, 'cache', 'models'))).length, 1);
  await t.resolves(readGguf(await randomModel()));
});

t.test('widths divide into heads, and heads into groups', async (t) => {
  for (const [name, { nEmbd, nHead, nHeadKv, nFeedForward }] of Object.entries(shapes)) {
    t.strictSame([nEmbd % nHead, nHead % nHeadKv, nEmbd % 32, nFeedForward % 32], [0, 0, 0, 0], name);
  }
});

t.test('every architecture has tensors of its own name once', async (t) => {
  for (const name of Object.keys(architectures) as ArchitectureName[]) {
    const names = architectures[name].tensors(shapes.tiny, 100).map((tensor) => tensor.name);
    t.equal(new Set(names).size, names.length, name);
  }
});

t.test('a large shape brings its vocabulary, but not to an encoder', async (t) => {
  t.equal(recipe({ arch: 'llama', shape: 'q05' }).vocabulary, 'qwen2');
  t.equal(recipe({ arch: 'bert', shape: 'q05' }).vocabulary, 'bert-bge');
  t.equal(recipe({ arch: 'llama', vocabulary: 'gpt-2' }).vocabulary, 'gpt-2');
});
