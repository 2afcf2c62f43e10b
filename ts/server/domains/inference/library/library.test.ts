import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importModel } from './import.ts';
import { ModelLibrary } from './library.ts';
import { number, text, writeTinyModel } from './test-support/tiny-model.ts';
import { verifyModel } from './verify.ts';

t.test('models are described by their headers', async (t) => {
  const modelsDir = t.testdir();
  await writeTinyModel(join(modelsDir, 'Chat-Q4.gguf'), { metadata: { 'general.file_type': number(15) } });
  await writeTinyModel(join(modelsDir, 'embed.gguf'), { architecture: 'bert' });
  await writeTinyModel(join(modelsDir, 'rank.gguf'), { architecture: 'bert', metadata: { 'bert.pooling_type': number(4) } });
  await writeTinyModel(join(modelsDir, 'last.gguf'), { architecture: 'qwen3', metadata: { 'qwen3.pooling_type': number(3) } });
  await writeTinyModel(join(modelsDir, 'vocabulary.gguf'), { withoutTensors: true });
  const models = await new ModelLibrary({ modelsDir }).list();
  t.strictSame(
    models.map(({ id, kind }) => `${id} ${kind}`),
    ['chat-q4 chat', 'embed embedding', 'last embedding', 'rank rerank', 'vocabulary vocab'],
  );
  t.match(models[0], {
    architecture: 'qwen3',
    family: 'qwen',
    quantisation: 'Q4_K_M',
    nParams: 1024,
    nCtxTrain: 512,
    path: join(modelsDir, 'Chat-Q4.gguf'),
  });
});

t.test('models of the llama architecture belong to the family that their name tells', async (t) => {
  const modelsDir = t.testdir();
  await writeTinyModel(join(modelsDir, 'a.gguf'), { architecture: 'llama', metadata: { 'general.basename': text('SmolLM2') } });
  await writeTinyModel(join(modelsDir, 'b.gguf'), { architecture: 'llama' });
  const models = await new ModelLibrary({ modelsDir }).list();
  t.strictSame(
    models.map(({ family }) => family),
    ['smollm', 'llama'],
  );
});

t.test('a demonstration model says so in a sentence', async (t) => {
  const modelsDir = t.testdir();
  const metadata = {
    'svc.demonstration': { type: 'bool', value: true } as const,
    'general.description': text('It talks nonsense.'),
  };
  await writeTinyModel(join(modelsDir, 'demo.gguf'), { metadata });
  t.match(await new ModelLibrary({ modelsDir }).find('demo'), { demonstration: 'It talks nonsense.' });
});

t.test('broken files are entries with a problem, never usable models', async (t) => {
  const modelsDir = t.testdir({ 'page.gguf': '<html>', 'empty.gguf': '', 'notes.txt': 'x', '.hidden.gguf': 'x' });
  const bytes = await writeTinyModel(join(modelsDir, 'cut.gguf'));
  truncateSync(join(modelsDir, 'cut.gguf'), bytes.length - 100);
  await writeTinyModel(join(modelsDir, 'half-00001-of-00002.gguf'));
  mkdirSync(join(modelsDir, 'folder.gguf'));
  symlinkSync('/nowhere', join(modelsDir, 'dangling.gguf'));
  const library = new ModelLibrary({ modelsDir });
  t.strictSame(await library.list(), []);
  const problems = (await library.entries()).map(({ name, problem }) => [name, problem !== undefined]);
  t.strictSame(problems, [
    ['cut', true],
    ['empty', true],
    ['half', true],
    ['page', true],
  ]);
});

t.test('a file that is replaced is read again', async (t) => {
  const modelsDir = t.testdir();
  const library = new ModelLibrary({ modelsDir });
  t.strictSame(await library.list(), [], 'an empty folder has no models');
  await writeTinyModel(join(modelsDir, 'm.gguf'));
  t.match(await library.find('m'), { architecture: 'qwen3' });
  await writeTinyModel(join(modelsDir, 'm.gguf'), { architecture: 'gemma3', tensorBytes: 8192 });
  t.match(await library.find('m'), { architecture: 'gemma3', family: 'gemma' });
});

t.test('a missing folder is an empty library', async (t) => {
  t.strictSame(await new ModelLibrary({ modelsDir: join(t.testdir(), 'none') }).list(), []);
});

t.test('a shipped model may lie in a folder of its name, beside what made it', async (t) => {
  const root = t.testdir({ shipped: { Small: { 'train.py': '' }, large: {}, random: {} } });
  await writeTinyModel(join(root, 'shipped', 'Small', 'Small.gguf'));
  await writeTinyModel(join(root, 'shipped', 'Small', 'draft.gguf'));
  await writeTinyModel(join(root, 'shipped', 'large', 'large-00001-of-00001.gguf'));
  await writeTinyModel(join(root, 'shipped', 'flat.gguf'));
  const library = new ModelLibrary({ modelsDir: join(root, 'none'), shippedDir: join(root, 'shipped') });
  t.strictSame(
    (await library.list()).map(({ id }) => id),
    ['flat', 'large', 'small'],
  );
  await t.rejects(library.remove('small'), { code: 'read_only' });
});

t.test('single files and shipped ones join in; named files win, and only own models can be removed', async (t) => {
  const root = t.testdir({ own: {}, shipped: {}, elsewhere: {} });
  await writeTinyModel(join(root, 'own', 'a.gguf'));
  await writeTinyModel(join(root, 'shipped', 'a.gguf'));
  await writeTinyModel(join(root, 'shipped', 'b.gguf'));
  await writeTinyModel(join(root, 'elsewhere', 'B.gguf'));
  const files = [join(root, 'elsewhere', 'B.gguf')];
  const library = new ModelLibrary({ modelsDir: join(root, 'own'), shippedDir: join(root, 'shipped'), files });
  const entries = await library.entries();
  t.strictSame(
    entries.map(({ paths }) => paths[0]?.slice(root.length)),
    ['/own/a.gguf', '/elsewhere/B.gguf'],
  );
  await t.rejects(library.remove('b'), { code: 'read_only' });
  await library.remove('a');
  t.match(await library.get('a'), { paths: [join(root, 'shipped', 'a.gguf')] }, 'the shipped one shows again');
});

t.test('adapters in the folder of a model belong to it, in the order of their names', async (t) => {
  const modelsDir = t.testdir({ 'base.loras': { 'Tone.gguf': 'x', 'code.gguf': 'x', 'notes.txt': 'x' } });
  await writeTinyModel(join(modelsDir, 'base.gguf'));
  await writeTinyModel(join(modelsDir, 'other.gguf'));
  const library = new ModelLibrary({ modelsDir });
  t.strictSame(
    (await library.find('base'))?.adapters?.map(({ name }) => name),
    ['code', 'tone'],
  );
  t.notHas(await library.find('other'), { adapters: [] });
});

t.test('a projector beside a model belongs to it', async (t) => {
  const modelsDir = t.testdir();
  await writeTinyModel(join(modelsDir, 'see.gguf'));
  await writeTinyModel(join(modelsDir, 'mmproj-see.gguf'), { architecture: 'clip' });
  const [model, ...others] = await new ModelLibrary({ modelsDir }).list();
  t.match(model, { id: 'see', projectorPath: join(modelsDir, 'mmproj-see.gguf') });
  t.strictSame(others, []);
});

t.test('names that point elsewhere are refused, also by remove', async (t) => {
  const root = t.testdir({ models: {}, 'outside.gguf': 'x' });
  const library = new ModelLibrary({ modelsDir: join(root, 'models') });
  await t.rejects(library.remove('../outside'), { code: 'invalid_name' });
  await t.rejects(library.get('nothing'), { code: 'not_found' });
  t.strictSame(readdirSync(root).sort(), ['models', 'outside.gguf']);
});

t.test('import copies, records the hash, and verify finds every later change', async (t) => {
  const root = t.testdir({ models: {}, from: {} });
  const modelsDir = join(root, 'models');
  const bytes = await writeTinyModel(join(root, 'from', 'My-Model.gguf'));
  const imported = await importModel(join(root, 'from', 'My-Model.gguf'), { modelsDir, license: 'MIT' });
  t.equal(imported.name, 'my-model');
  const library = new ModelLibrary({ modelsDir });
  t.match(await verifyModel(await library.get('my-model')), { state: 'ok' });
  t.match(await library.find('my-model'), { license: 'MIT', sha256: imported.files[0]?.sha256 });
  bytes[bytes.length - 1] = 0xff;
  writeFileSync(join(modelsDir, 'my-model.gguf'), bytes);
  t.match(await verifyModel(await library.get('my-model')), { state: 'failed', problem: /was recorded/ });
  await library.remove('my-model');
  t.strictSame(readdirSync(modelsDir), []);
});

t.test('import refuses what is no model, what exists, and what is not there', async (t) => {
  const root = t.testdir({ models: {}, 'page.gguf': '<html>' });
  const modelsDir = join(root, 'models');
  await writeTinyModel(join(root, 'm.gguf'));
  await t.rejects(importModel(join(root, 'page.gguf'), { modelsDir }), { code: 'not_a_model' });
  await t.rejects(importModel(join(root, 'none.gguf'), { modelsDir }), { code: 'not_found' });
  await t.rejects(importModel(join(root, 'm.gguf'), { modelsDir, name: '../m' }), { code: 'invalid_name' });
  await importModel(join(root, 'm.gguf'), { modelsDir });
  await t.rejects(importModel(join(root, 'm.gguf'), { modelsDir }), { code: 'exists' });
  await importModel(join(root, 'm.gguf'), { modelsDir, force: true });
  t.strictSame(readdirSync(modelsDir).sort(), ['m.gguf', 'm.json']);
});

t.test('a linked import shares its bytes; all parts of a split model come along', async (t) => {
  const root = t.testdir({ models: {} });
  const modelsDir = join(root, 'models');
  for (const part of [1, 2]) await writeTinyModel(join(root, `s-0000${part}-of-00002.gguf`));
  const { paths } = await importModel(join(root, 's-00001-of-00002.gguf'), { modelsDir, link: true, name: 'split' });
  t.strictSame(
    paths.map((path) => path.slice(modelsDir.length)),
    ['/split-00001-of-00002.gguf', '/split-00002-of-00002.gguf'],
  );
  const { ino } = statSync(paths[1] ?? '');
  t.equal(ino, statSync(join(root, 's-00002-of-00002.gguf')).ino);
});

t.test('verify of a file that was put there by hand says that there is nothing to compare with', async (t) => {
  const modelsDir = t.testdir();
  await writeTinyModel(join(modelsDir, 'm.gguf'));
  const library = new ModelLibrary({ modelsDir });
  t.match(await verifyModel(await library.get('m')), {
    state: 'unrecorded',
    files: [{ state: 'unrecorded', sha256: /^[0-9a-f]{64}$/ }],
  });
});

t.test('foreign or damaged JSON beside a model is not taken for its sidecar', async (t) => {
  const modelsDir = t.testdir({ 'm.json': '{"files": [{"file": "m.gguf", "sha256": "no"}]}' });
  await writeTinyModel(join(modelsDir, 'm.gguf'));
  const [entry] = await new ModelLibrary({ modelsDir }).entries();
  t.equal(entry?.sidecar, undefined);
  t.match(readFileSync(join(modelsDir, 'm.json'), 'utf8'), /no/);
});
