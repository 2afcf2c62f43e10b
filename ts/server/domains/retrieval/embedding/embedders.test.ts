import t from 'tap';
import type { EmbeddingBinding, LocalModels } from './embedder.ts';
import { Embedders } from './embedders.ts';
import { LocalEmbedder } from './local-embedder.ts';
import { MeasuredEmbedders } from './measured-embedders.ts';
import { REFERENCE, scaleOf } from './similarity-scale.ts';
import { prefixesOf, prefixFamilyOf } from './text-prefixes.ts';

const signal = new AbortController().signal;
const options = { tenant: 'red', signal };

/** A model whose cosines all lie close to each other: texts of more shared words a little closer. */
function narrowModels(title: string) {
  const texts: string[] = [];
  const vectorOf = (text: string) => {
    const vector = new Float32Array(257);
    vector[256] = 3;
    for (const word of text.toLowerCase().match(/\p{L}{4,}/gu) ?? []) {
      let hash = 7;
      for (const letter of word) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
      vector[hash % 256] = 1;
    }
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  };
  const models = {
    resolve: async () => ({ card: { id: 'mine', title, capabilities: { embeddings: true, rerank: false } } }),
    contentHash: async () => 'abc',
    embed: async (_: unknown, given: string[]) => {
      texts.push(...given);
      return { vectors: given.map(vectorOf), nTokens: given.map(() => 1) };
    },
  } as unknown as LocalModels;
  return { texts, models };
}

function embeddersOf(models: LocalModels, dataDir: string) {
  return new Embedders({
    local: new LocalEmbedder(() => models),
    remote: undefined,
    model: 'mine',
    measured: new MeasuredEmbedders(dataDir),
  });
}

t.test('families are told by the names of models, of files and of what files call themselves', async (t) => {
  for (const [name, family] of [
    ['multilingual-e5-small.q4_0', 'e5'],
    ['e5-large-v2', 'e5'],
    ['intfloat_multilingual-e5-large-instruct-q8_0', 'e5-instruct'],
    ['nomic-embed-text-v1.5.f16', 'nomic'],
    ['Qwen3 Embedding 0.6B', 'qwen3'],
    ['Qwen3-Embedding-0.6B-Q8_0', 'qwen3'],
    ['bge-m3-q8_0', 'none'],
    ['bge-base-en-v1.5', 'bge-en'],
    ['snowflake-arctic-embed-l-v2.0', 'arctic-2'],
    ['svc-embed-tiny', 'none'],
    ['base512', 'none'],
  ] as const)
    t.equal(prefixFamilyOf(name), family, name);
  t.equal(prefixFamilyOf('mine', 'multilingual-e5-small'), 'e5', 'by the title of a file under another name');
  t.strictSame(prefixesOf(undefined), prefixesOf('none'));
});

t.test('texts are embedded with what stands before them where the collection was made so', async (t) => {
  const { models, texts } = narrowModels('multilingual-e5-small');
  const embedders = embeddersOf(models, t.testdir());
  const { model, source, prefixes } = await embedders.choose();
  t.equal(prefixes, 'e5');
  const binding: EmbeddingBinding = { embeddingModel: model, embeddingSource: source, dimensions: undefined, prefixes };
  await embedders.embed(binding, 'query', ['Who?'], options);
  await embedders.embed(binding, 'passage', ['Mira.'], options);
  const old = { ...binding, prefixes: undefined };
  await embedders.embed(old, 'query', ['Who?'], options);
  t.strictSame(texts, ['query: Who?', 'passage: Mira.', 'Who?']);
  t.equal(await embedders.staleNote(binding), undefined);
  t.match(await embedders.staleNote(old), /add the documents to another knowledge base/);
});

t.test('a model is measured once, and its cosines become those that the search was tuned with', async (t) => {
  const { models, texts } = narrowModels('words');
  const folder = t.testdir();
  const binding: EmbeddingBinding = { embeddingModel: 'mine', embeddingSource: 'local', dimensions: 257 };
  const scale = await embeddersOf(models, folder).measure(binding);
  const nTexts = texts.length;
  t.ok(nTexts > 0);
  t.ok(scale.factor > 1.5, 'what lies close together is drawn apart');
  t.strictSame(await embeddersOf(models, folder).measure(binding), scale);
  t.equal(texts.length, nTexts, 'it is kept with the hash of the file');
  t.strictSame(await embeddersOf(models, folder).scale(binding), scale, 'the first search after a restart goes by it');
  const plain = scaleOf(REFERENCE);
  t.ok(Math.abs(plain.factor - 1) < 1e-9 && Math.abs(plain.offset) < 1e-9, 'those of the reference stay');
  const other = scaleOf({ unrelated: 0.78, related: 0.88 });
  t.ok(Math.abs(other.factor * 0.78 + other.offset - REFERENCE.unrelated) < 1e-9);
  t.strictSame(scaleOf({ unrelated: 0.5, related: 0.501 }), { factor: 1, offset: 0 }, 'noise is not stretched');
});
