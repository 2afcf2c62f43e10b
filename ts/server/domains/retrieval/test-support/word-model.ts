/** A model for tests: a text's vector counts its words, by a hash of each, so that texts of the same words are near. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { LocalModels } from '../index.ts';

export interface WordModel {
  /** What the tests change: a failure that the next texts meet, and the size of the vectors. */
  failure: DomainError | undefined;
  dimensions: number;
  /** Texts that were embedded, and those that nobody waited for. */
  readonly texts: string[];
  readonly backgroundTexts: string[];
  /** Longer ones do not fit into the model's context. */
  mostCharacters: number;
  /** Calls so far, those that wait included. */
  nCalls: number;
  /** Waits before each call returns. */
  pause: Promise<void> | undefined;
  /** Names of models that rank. */
  rerankers: string[];
}

export function wordModel(): WordModel {
  return {
    failure: undefined,
    dimensions: 64,
    texts: [],
    backgroundTexts: [],
    mostCharacters: 5_000,
    nCalls: 0,
    pause: undefined,
    rerankers: [],
  };
}

export function scriptedService(model: WordModel): LocalModels {
  const card = (id: string, ability: 'embeddings' | 'rerank') => ({
    id,
    state: 'loaded',
    sizeBytes: 1,
    demonstration: undefined,
    capabilities: {
      completion: false,
      chat: false,
      tools: false,
      vision: false,
      audio: false,
      thinking: false,
      embeddings: false,
      rerank: false,
      [ability]: true,
    },
  });
  const cards = () => [
    card('words', 'embeddings'),
    card('other', 'embeddings'),
    ...model.rerankers.map((id) => card(id, 'rerank')),
  ];
  const service = {
    models: async () => cards(),
    resolve: async ({ model: name }: { model: string }) => {
      const found = cards().find(({ id }) => id === name);
      if (found === undefined) throw new DomainError('model_not_found', `No model named ${name}.`);
      return { card: found, isSubstitute: false };
    },
    embed: async (_: unknown, inputs: string[], { isBackground = false }: { isBackground?: boolean }) => {
      model.nCalls += 1;
      await model.pause;
      if (model.failure !== undefined) throw model.failure;
      if (inputs.some(({ length }) => length > model.mostCharacters))
        throw new DomainError('context_length_exceeded', 'The text is too long.');
      model.texts.push(...inputs);
      if (isBackground) model.backgroundTexts.push(...inputs);
      return {
        vectors: inputs.map((text) => vectorOf(text, model.dimensions)),
        nTokens: inputs.map((text) => text.split(/\s+/).length),
      };
    },
    // Prefers passages with many exclamation marks, as no other ranking does.
    rank: async (_: unknown, __: unknown, documents: string[]) => ({
      scores: Float32Array.from(documents, (text) => text.split('!').length),
      nTokens: [],
    }),
  };
  return service as unknown as LocalModels;
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const letter of word) hash = Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0);
    const place = (hash >>> 0) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
