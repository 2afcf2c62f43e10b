import fc from 'fast-check';
import t from 'tap';
import { catalogue } from './catalogue.ts';
import { LibraryError } from './files/library-error.ts';
import { isModelName, modelNameOfFile } from './model-name.ts';
import { hubUrl, parseModelReference } from './model-reference.ts';

const hub = new URL('https://hub.example/base/');

t.test('a catalogue name leads to its pinned file', async (t) => {
  const { name, source, catalogue: model } = parseModelReference('BGE-m3-q8_0');
  t.equal(name, 'bge-m3-q8_0');
  t.equal(model?.license, 'MIT');
  t.equal(
    source.kind === 'hub' && hubUrl(hub, source).href,
    `https://hub.example/base/ggml-org/bge-m3-Q8_0-GGUF/resolve/${model?.revision}/bge-m3-q8_0.gguf`,
  );
});

t.test('owner/repo:file takes folders and a revision', async (t) => {
  const { name, source } = parseModelReference('Qwen/Qwen3-GGUF:Q8/Model-Q8_0.gguf@refs/pr/1');
  t.equal(name, 'model-q8_0');
  t.strictSame(source, { kind: 'hub', repo: 'Qwen/Qwen3-GGUF', file: 'Q8/Model-Q8_0.gguf', revision: 'refs/pr/1' });
  t.match(source.kind === 'hub' ? hubUrl(hub, source).href : '', /resolve\/refs%2Fpr%2F1\/Q8\/Model-Q8_0\.gguf$/);
});

t.test('a URL keeps its query for the request', async (t) => {
  const { name, source } = parseModelReference('https://files.example/a/My-Model.gguf?sig=1#x');
  t.equal(name, 'my-model');
  t.equal(source.kind === 'url' && source.url.href, 'https://files.example/a/My-Model.gguf?sig=1');
});

t.test('everything else is refused with a code', async (t) => {
  const refused: [text: string, code: string][] = [
    ['no-such-model', 'not_found'],
    ['../../etc/passwd', 'invalid_name'],
    ['a/b:../../x.gguf', 'invalid_name'],
    ['a/b:x.gguf@../../../y', 'invalid_name'],
    ['a/b:x.safetensors', 'invalid_name'],
    ['a/b:x-00002-of-00003.gguf', 'invalid_name'],
    ['a/..:x.gguf', 'invalid_name'],
    ['file:///etc/passwd', 'invalid_name'],
    ['ftp://x/y.gguf', 'invalid_name'],
    ['https://user:secret@x/y.gguf', 'invalid_name'],
    ['https://x/%2e%2e', 'invalid_name'],
    ['https://x/', 'invalid_name'],
  ];
  for (const [text, code] of refused) t.throws(() => parseModelReference(text), { code }, text);
});

t.test('whatever is typed, the result stays below the hub and has a usable name', async (t) => {
  const characters = fc.stringMatching(/^[A-Za-z0-9._/:@%?#\\ -]{0,30}$/);
  const shaped = fc.tuple(characters, characters, characters).map(([a, b, c]) => `${a}/${b}:${c}.gguf`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), shaped, characters), (text) => {
      try {
        const { name, source } = parseModelReference(text);
        if (!isModelName(name)) throw new Error(`name ${name}`);
        if (source.kind === 'hub' && !hubUrl(hub, source).href.startsWith('https://hub.example/base/')) throw new Error(text);
      } catch (error) {
        if (!(error instanceof LibraryError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
  t.pass('3000 references');
});

t.test('the catalogue is sound', async (t) => {
  t.equal(new Set(catalogue.map(({ name }) => name)).size, catalogue.length, 'names are unique');
  for (const model of catalogue) {
    t.ok(isModelName(model.name) && model.name === model.name.toLowerCase(), model.name);
    t.match(model.file, model.kind === 'speech' ? /\.bin$/ : /\.gguf$/);
    t.match(model.sha256 ?? '0'.repeat(64), /^[0-9a-f]{64}$/);
    t.match(model.revision, /^(main|[0-9a-f]{40})$/);
    t.ok(model.sizeBytes > 10_000_000 && model.license.length > 2 && model.note.endsWith('.'), `${model.name} is described`);
    const isNamedByFile = model.kind !== 'speech' && model.wheel === undefined;
    if (isNamedByFile) t.equal(modelNameOfFile(model.file), model.name, 'pulled by file it gets the same name');
  }
});
