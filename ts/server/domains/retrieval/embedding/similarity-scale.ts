/**
 * Cosines of one model as those of the model that the search was tuned with: to one model 0.4 is alike, to another 0.8 is not. Measured once for each
 * model, by questions and passages of which it is known what belongs together.
 */
import type { TextPrefixes } from './text-prefixes.ts';

export interface MeasuredSimilarity {
  /** Of a question and a passage about something else: nine of ten are below. */
  readonly unrelated: number;
  /** Of a question and the passage that answers it, half of them. */
  readonly related: number;
}

/** As svc-embed-tiny measures, which ships: what the search is tuned with. */
export const REFERENCE: MeasuredSimilarity = { unrelated: 0.0802, related: 0.5957 };
/** A model that hardly tells the one from the other is not stretched until noise looks like sense. */
const LEAST_SPREAD = 0.02;

/** Of different things each, in plain words. */
const PAIRS: readonly (readonly [question: string, passage: string])[] = [
  ['How tall is the old lighthouse?', 'The old lighthouse on the northern cliff is forty metres tall and painted white.'],
  ['When does the bakery open in the morning?', 'The bakery opens at six in the morning and sells rye bread and rolls.'],
  ['What does a cat eat?', 'Cats eat mostly meat; many are fed with dry food and a little fish.'],
  [
    'How do I change the tyre of a bicycle?',
    'To change a bicycle tyre, take the wheel out, lift the tyre off the rim and put the new one on.',
  ],
  [
    'Who wrote the national anthem?',
    'The national anthem was written by a school teacher and first sung in public a year later.',
  ],
  [
    'Which vaccine do travellers need?',
    'Travellers to the tropics need a vaccine against yellow fever some weeks before they leave.',
  ],
  ['How is steel made?', 'Steel is made from iron by burning the carbon out of it in a furnace with oxygen.'],
  ['What is the penalty for late taxes?', 'Whoever pays taxes late owes a penalty of one percent of the sum for each month.'],
  ['Where do swallows spend the winter?', 'Swallows fly south in autumn and spend the winter in Africa.'],
  ['How many players has a volleyball team?', 'A volleyball team has six players on the court and up to six substitutes.'],
  [
    'How do I reset the password of my account?',
    'You reset your password by the link on the sign-in page, which sends a mail to your account.',
  ],
  [
    'Why does the moon have phases?',
    'The phases of the moon come from the angle at which the sun lights it as it goes around the earth.',
  ],
  ['What is the recipe of pancakes?', 'For pancakes, mix flour, milk and eggs, and bake the batter thinly in butter.'],
  ['How long is the notice period of the lease?', 'The lease may be ended by either side with a notice period of three months.'],
  ['Which instrument did the composer play?', 'The composer played the organ in the cathedral and taught the piano.'],
  ['How deep is the lake?', 'The lake is eighty metres deep in its middle and freezes in most winters.'],
];

/** @param embed gives a vector of length 1 for each text. */
export async function measureSimilarity(
  { query, passage }: TextPrefixes,
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
): Promise<MeasuredSimilarity> {
  const vectors = await embed([...PAIRS.map(([asked]) => query + asked), ...PAIRS.map(([, answer]) => passage + answer)]);
  const n = PAIRS.length;
  const cosines = (isPair: boolean) =>
    PAIRS.flatMap((_, i) =>
      PAIRS.flatMap((__, j) =>
        (i === j) === isPair ? [dot(vectors[i] ?? new Float32Array(0), vectors[n + j] ?? new Float32Array(0))] : [],
      ),
    ).sort((a, b) => a - b);
  const [unrelated, related] = [cosines(false), cosines(true)];
  return { unrelated: unrelated[Math.floor(0.9 * unrelated.length)] ?? 0, related: related[Math.floor(related.length / 2)] ?? 0 };
}

/** How a cosine becomes one of the reference: `factor` times it and `offset`. */
export interface SimilarityScale {
  readonly factor: number;
  readonly offset: number;
}

export const PLAIN_SCALE: SimilarityScale = { factor: 1, offset: 0 };

export function scaleOf({ unrelated, related }: MeasuredSimilarity): SimilarityScale {
  if (related - unrelated < LEAST_SPREAD) return PLAIN_SCALE;
  const factor = (REFERENCE.related - REFERENCE.unrelated) / (related - unrelated);
  return { factor, offset: REFERENCE.unrelated - factor * unrelated };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
