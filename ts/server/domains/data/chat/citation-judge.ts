/**
 * Judges the citations of an answer to a question. A model that answers from the account of another year, or from a page that only has the same
 * names, says what stands there; that does not make it the answer. So a citation holds when the passage may answer the question at all, has the
 * numbers and names of the sentence, and has them in one place with what was asked for. Where the passage says the rest of the sentence, the citation
 * stays, and names what it does not say.
 */
import { unsupportedClaims } from '../claims/answer-claims.ts';
import { ClaimSupport, surelyLanguageOf, unsupportedIn } from '../claims/claims.ts';
import { languageOf } from '../evidence/question-language.ts';
import { MAX_PASSAGE } from '../evidence/read-passages.ts';
import type { PassageResult } from '../knowledge-base.ts';
import type { CitationMark, UnsupportedClaim } from '../knowledge-context.ts';
import { factsOf, holds, numbersOf, PassageWords, plainWordsOf, sharedTerms } from './citation-check.ts';

/** Of the relevance of the best passage. Chosen on the planted pages of one half of the evaluation. */
const LEAST_RELEVANCE_SHARE = 0.7;
/** Of what the best place in all passages has of the words that the sentence shares with the question. */
const LEAST_SUPPORT = 0.85;
/** Of the plain words that a sentence adds to the question, where it adds no names and numbers: that the passage has, and one place of it. */
const LEAST_PLAIN = 0.5;
const SENTENCE_END = /(?<=[.!?…])\s+|(?<=[。！？])|\n+/;
/** A longer passage is compared by its beginning. */
const MAX_SENTENCES = 100;

interface GivenPassage {
  readonly words: PassageWords;
  readonly isCitable: boolean;
  /** Its sentences, each with the one before it. */
  readonly places: readonly PassageWords[];
}

export class CitationJudge {
  readonly #question: string;
  readonly #results: readonly PassageResult[];
  readonly #questionWords: PassageWords;
  readonly #supports = new Map<number, ClaimSupport>();
  #asked: ClaimSupport | undefined;
  #given: readonly GivenPassage[] | undefined;

  constructor(question: string, results: readonly PassageResult[]) {
    this.#question = question;
    this.#results = results;
    this.#questionWords = new PassageWords(question);
  }

  /** Whether the passage may answer the question at all. `n` counts from 1. */
  isCitable(n: number): boolean {
    return this.#passages[n - 1]?.isCitable === true;
  }

  /** `n` counts from 1. */
  holds(n: number, sentence: string): boolean {
    const cited = this.#passages[n - 1];
    if (!cited?.isCitable) return false;
    const rest = this.#supportedPart(n, sentence);
    if (rest !== sentence) return isAbout(rest, cited.words);
    return holds(sentence, cited.words) && this.#holdsAsWhole(cited, sentence);
  }

  /** Names, numbers, dates and units of an answer that its citations do not say, by their places in it. */
  unsupportedIn(answer: string, marks: readonly CitationMark[]): UnsupportedClaim[] {
    const all = () => this.#results.flatMap((_, i) => this.#supportOf(i + 1) ?? []);
    return unsupportedClaims(answer, marks, (n) => this.#supportOf(n), all, [this.#askedSupport], languageOf(this.#question));
  }

  /** The sentence without what the passage does not say. */
  #supportedPart(n: number, sentence: string): string {
    const supports = [this.#supportOf(n), this.#askedSupport].filter((support) => support !== undefined);
    const claims = unsupportedIn(sentence, surelyLanguageOf(sentence) ?? languageOf(this.#question), supports);
    return claims.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), sentence);
  }

  #holdsAsWhole(cited: GivenPassage, sentence: string): boolean {
    // Words that only look like names, as nouns in German do, are in no passage.
    const facts = factsOf(sentence).filter((fact) => !this.#questionWords.has(fact) && cited.words.has(fact));
    const plain = facts.length > 0 ? [] : plainWordsOf(sentence).filter((word) => !this.#questionWords.has(word));
    const known = plain.filter((word) => cited.words.has(word));
    if (known.length < LEAST_PLAIN * plain.length) return false;
    const asked = askedWords(sentence, this.#question);
    if (asked === '') return true;
    const says = (place: PassageWords) =>
      facts.every((fact) => place.has(fact)) && known.filter((word) => place.has(word)).length >= LEAST_PLAIN * known.length;
    const support = (places: readonly PassageWords[]) => Math.max(0, ...places.map((place) => sharedTerms(asked, place)));
    const best = Math.max(...this.#passages.map(({ places }) => support(places)));
    return support(cited.places.filter(says)) >= LEAST_SUPPORT * best;
  }

  #supportOf(n: number): ClaimSupport | undefined {
    const result = this.#results[n - 1];
    if (result === undefined) return undefined;
    const support = this.#supports.get(n) ?? new ClaimSupport(claimedOf(result));
    this.#supports.set(n, support);
    return support;
  }

  get #askedSupport(): ClaimSupport {
    this.#asked ??= new ClaimSupport(this.#question);
    return this.#asked;
  }

  get #passages(): readonly GivenPassage[] {
    this.#given ??= readPassages(this.#question, this.#results);
    return this.#given;
  }
}

function readPassages(question: string, results: readonly PassageResult[]): GivenPassage[] {
  const given = results.map((result) => ({ result, words: new PassageWords(shownOf(result)) }));
  const mostRelevant = Math.max(0, ...results.map(({ relevance }) => relevance));
  const asked = [...new Set(numbersOf(question))];
  const countAsked = (words: PassageWords) => asked.filter((number) => words.numbers.has(number)).length;
  const most = Math.max(0, ...given.map(({ words }) => countAsked(words)));
  return given.map(({ result, words }) => ({
    words,
    places: placesOf(result),
    isCitable: result.relevance >= LEAST_RELEVANCE_SHARE * mostRelevant && countAsked(words) === most,
  }));
}

/** Words of the sentence that the question has as well. */
function askedWords(sentence: string, question: string): string {
  const asked = new PassageWords(question);
  return sentence
    .split(/\s+/)
    .filter((word) => sharedTerms(word, asked) === 1)
    .join(' ');
}

function placesOf({ title, heading, source, text }: PassageResult): PassageWords[] {
  const head = [source, title ?? '', heading ?? ''].join('\n');
  const sentences = text.split(SENTENCE_END).slice(0, MAX_SENTENCES);
  return sentences.map((sentence, i) => new PassageWords([head, sentences[i - 1] ?? '', sentence].join('\n')));
}

/** The content words of a sentence are those of the passage, as far as it has any. */
function isAbout(sentence: string, words: PassageWords): boolean {
  const plain = plainWordsOf(sentence);
  return plain.filter((word) => words.stems.has(word)).length >= LEAST_PLAIN * plain.length;
}

/** With its page, which an answer may name. */
function claimedOf(result: PassageResult): string {
  const { page, sheet = '', slide } = result;
  return [
    shownOf({ ...result, text: result.text.slice(0, MAX_PASSAGE) }),
    ...[page, slide].filter((each) => each !== undefined),
    sheet,
  ].join('\n');
}

/** What the model saw of it. */
function shownOf({ title, heading, source, text }: PassageResult): string {
  return [source, title ?? '', heading ?? '', text].join('\n');
}
