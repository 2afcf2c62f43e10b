/**
 * Dialogues of the Schema-Guided Dialogue dataset (CC BY-SA 4.0, `../shared/data/sgd`) as conversations to be routed: a service stands for a knowledge base,
 * and what it holds are the turns of a tenth of the dialogues, which are used for nothing else.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { scoresOf } from '../floor.ts';
import type { RoutedConversation } from '../route-network.ts';

interface Dialogue {
  readonly turns: readonly { readonly text: string; readonly services: readonly string[] }[];
}

const PATH = join(import.meta.dirname, '../../../../../../../shared/data/sgd/dev.jsonl.gz');

/** A reason why they cannot be read; false: they can. */
export const missingSgd: string | false = existsSync(PATH) ? false : `${PATH} is not there`;

interface SgdConversations {
  readonly services: readonly string[];
  /** Conversations of these services alone, between these. */
  among(services: readonly string[]): RoutedConversation[];
}

/** @param random draws the dialogues that say what a service is about, and the order of the others. */
export function sgdConversations(random: () => number): SgdConversations {
  const lines = gunzipSync(readFileSync(PATH)).toString().trim().split('\n');
  const dialogues = shuffled(
    lines.map((line) => JSON.parse(line) as Dialogue),
    random,
  );
  const at = Math.floor(dialogues.length / 10);
  const [held, asked] = [dialogues.slice(0, at), dialogues.slice(at)];
  const vectors = new WordVectors(held.flatMap(({ turns }) => turns.map(({ text }) => text)));
  const services = [...new Set(dialogues.flatMap(servicesOf))].sort();
  const means = new Map(
    services.map((service) => {
      const own = held.flatMap(({ turns }) => turns.filter((turn) => turn.services.includes(service)));
      return [service, unit(sum(own.map(({ text }) => vectors.of(text))))];
    }),
  );
  return {
    services,
    among: (some) =>
      asked
        .filter((dialogue) => servicesOf(dialogue).every((service) => some.includes(service)))
        .map(({ turns }) =>
          turns.map(({ text, services: own }) => ({
            scores: scoresOf(some.map((service) => cosine(vectors.of(text), means.get(service) ?? new Map()))),
            right: some.flatMap((service, i) => (own.includes(service) ? [i] : [])),
          })),
        ),
  };
}

export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

function servicesOf({ turns }: Dialogue): string[] {
  return [...new Set(turns.flatMap(({ services }) => services))];
}

type Vector = Map<string, number>;

/** Words weighted by how rare they are, in the place of an embedding. */
class WordVectors {
  readonly #counts = new Map<string, number>();
  readonly #nTexts: number;
  readonly #known = new Map<string, Vector>();

  constructor(texts: readonly string[]) {
    this.#nTexts = texts.length;
    for (const text of texts)
      for (const word of new Set(wordsOf(text))) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  of(text: string): Vector {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const weights = wordsOf(text).map(
      (word) => [word, Math.log((this.#nTexts + 1) / ((this.#counts.get(word) ?? 0) + 1))] as const,
    );
    const vector = unit(sum(weights.map((weight) => new Map([weight]))));
    this.#known.set(text, vector);
    return vector;
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
}

function sum(vectors: readonly Vector[]): Vector {
  const total: Vector = new Map();
  for (const vector of vectors) for (const [word, weight] of vector) total.set(word, (total.get(word) ?? 0) + weight);
  return total;
}

function unit(vector: Vector): Vector {
  const length = Math.hypot(...vector.values()) || 1;
  return new Map([...vector].map(([word, weight]) => [word, weight / length]));
}

function cosine(a: Vector, b: Vector): number {
  let total = 0;
  for (const [word, weight] of a) total += weight * (b.get(word) ?? 0);
  return total;
}
