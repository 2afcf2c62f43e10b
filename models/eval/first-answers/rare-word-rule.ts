/** A rule of a few lines that ranks sentences by the question's rare words: what evidence is compared with. */
import { sentencesOf } from '../../../ts/server/domains/data/evidence/quotable-sentences.ts';
import { wordsOf } from '../../../ts/server/platform/text/words.ts';

const STEM = 6;

export class RareWordRule {
  readonly #sentences: readonly { readonly text: string; readonly terms: ReadonlySet<string> }[];
  readonly #counts = new Map<string, number>();

  constructor(paragraphs: readonly string[]) {
    this.#sentences = paragraphs.flatMap(sentencesOf).map((text) => ({ text, terms: new Set(termsOf(text)) }));
    for (const { terms } of this.#sentences) for (const term of terms) this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
  }

  best(question: string, n: number): string[] {
    const asked = [...new Set(termsOf(question))];
    const rarity = (term: string) => Math.log(this.#sentences.length / (1 + (this.#counts.get(term) ?? 0)));
    const scored = this.#sentences.map(({ text, terms }) => {
      return { text, score: asked.filter((term) => terms.has(term)).reduce((sum, term) => sum + rarity(term), 0) };
    });
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, n)
      .map(({ text }) => text);
  }
}

/** Words cut to six letters; pairs of characters of scripts without spaces. */
function termsOf(text: string): string[] {
  return [...wordsOf(text)].flatMap(({ isRun, parts }) =>
    parts.map((part, i) => (isRun ? part.text + (parts[i + 1]?.text ?? '') : part.text.slice(0, STEM))),
  );
}
