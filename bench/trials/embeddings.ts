/** Texts a second through POST /v1/embeddings, one text a request as search sends them, unless a trial says otherwise. */
import type { EmbeddingLoad } from '../embeddings/embedding-load.ts';
import type { Phase, Trial } from '../trial.ts';

/** A batch holds the longest text that the model takes, and as many tokens as ours packs together. */
const rivalFlags = ['--embeddings', '--batch-size', '512', '--ubatch-size', '512'];

/** Texts of a round, about as many as take some seconds with the mid shape on two cores. */
const counts = { query: 800, sentence: 300, paragraph: 80, 'near-full': 24, mixed: 160 };

function load(lengths: EmbeddingLoad['lengths'], clients: number, textsPerRequest = 1): EmbeddingLoad {
  const few = clients === 1 && textsPerRequest === 1 ? 2 : 1;
  return { kind: 'embeddings', clients, textsPerRequest, lengths, nTexts: Math.ceil(counts[lengths] / few) };
}

function trial(name: string, summary: string, atLeast: number, phases: Readonly<Record<string, Phase>>): Trial {
  const goals = Object.keys(phases).flatMap((phase) => [
    { figure: `${phase}.textsPerSecond`, unit: 'texts/s', against: 'rival' as const, atLeast },
    { figure: `${phase}.latencyP99Ms`, unit: 'ms', against: 'rival' as const, atMost: 1.02 },
  ]);
  return { name, summary, rival: 'llama-server', server: { rivalFlags }, phases, goals };
}

export const embeddingTrials: readonly Trial[] = [
  trial('mixed', 'queries, sentences, paragraphs and a few texts that fill the context, by 1, 8 and 32 clients', 1, {
    clients1: load('mixed', 1),
    clients8: load('mixed', 8),
    clients32: load('mixed', 32),
  }),
  trial('queries', 'texts of 3 to 9 words, where the cost of a request weighs most', 0.98, {
    clients1: load('query', 1),
    clients8: load('query', 8),
    clients32: load('query', 32),
  }),
  trial('sentences', 'texts of 12 to 32 words', 0.98, { clients1: load('sentence', 1), clients32: load('sentence', 32) }),
  trial('paragraphs', 'texts of 60 to 160 words', 0.98, { clients1: load('paragraph', 1), clients32: load('paragraph', 32) }),
  trial('near-full', 'texts of 400 to 500 words, which nearly fill the context', 0.98, {
    clients1: load('near-full', 1),
    clients8: load('near-full', 8),
  }),
  trial('indexing', 'one client sends mixed texts, 32 in a request', 0.98, { clients1: load('mixed', 1, 32) }),
];
