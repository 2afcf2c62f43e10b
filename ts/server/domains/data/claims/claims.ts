/** Claims of a sentence, its numbers, dates, units and names, and whether a text supports them. */
import { fold } from '../../../platform/text/words.ts';
import { stem } from '../../retrieval/index.ts';
import { functionWordsOf, type Language, languageOf } from '../evidence/question-language.ts';
import { agrees, type DateClaim, readDates } from './dates.ts';
import { type NamePart, readNames } from './names.ts';
import { type NumberClaim, readNumbers } from './numbers.ts';
import { type Unit, unitBeside } from './units.ts';

/** From `start` to before `end` of its sentence, UTF-16 code units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface Quantity extends Span {
  readonly values: readonly number[];
  /** Undefined: a number of things, or a bare one. */
  readonly units: readonly Unit[] | undefined;
  /** Nothing stands behind it that it may be the number of, as in a table, whose head has the unit. */
  readonly isBare: boolean;
  readonly isVague: boolean;
}

interface Claims {
  readonly dates: readonly DateClaim[];
  readonly quantities: readonly Quantity[];
  readonly names: readonly (readonly NamePart[])[];
}

/** Numbers of another unit that is converted are rounded. */
const ROUNDED = 0.005;
/** Words of one name are no farther from each other, where a text has it. */
const NEAR = 3;
const LEAST_PREFIX = 4;
/** What a name has more or less of in another form: Karvo's, Norwegian and Norway. */
const NAME_ENDING = /^(?:|'?s|e|en|er|ern|n|ns|es|a|an|ian|ien|ish|isch\p{L}{0,2}|ese|ic|ay|y|i)$/u;
const LIST_MARK = /^\s*\d{1,3}[.)]\s/;
/** Fewer function words do not tell a language. */
const LEAST_TELLING = 2;

/** Undefined where too few words tell it. */
export function surelyLanguageOf(text: string): Language | undefined {
  const language = languageOf(text);
  const small = functionWordsOf(language);
  const found =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  return found.filter((word) => small.has(fold(word))).length >= LEAST_TELLING ? language : undefined;
}

/** Values of the numbers of a text, as their places have them. */
export function numberValues(text: string, language = surelyLanguageOf(text)): (readonly number[])[] {
  const { dates, quantities } = readQuantities(text, language);
  const ofDates = dates.flatMap(({ dates: readings }) => [
    ...new Set(readings.flatMap(({ year, day }) => [year ?? day, day ?? year])),
  ]);
  return [
    ...ofDates.flatMap((value) => (value === undefined ? [] : [[value]])),
    ...quantities.filter(({ isVague }) => !isVague).map(({ values }) => values),
  ];
}

function readQuantities(text: string, language: Language | undefined): Pick<Claims, 'dates' | 'quantities'> {
  let rest = text;
  const dates = readDates(text, (without) => {
    rest = without;
  });
  const quantities = readNumbers(rest, language).map((number) => quantityOf(rest, number));
  return { dates, quantities };
}

function quantityOf(text: string, { start, end, values, isVague }: NumberClaim): Quantity {
  const found = unitBeside(text, start, end);
  const isBare = found === undefined && /^\s*(?:[^\p{L}\s]|\n|$)/u.test(text.slice(end, end + 10));
  return { values, isVague, isBare, units: found?.units, start: found?.start ?? start, end: found?.end ?? end };
}

/** What a text, as it is cited, supports. */
export class ClaimSupport {
  readonly #dates: readonly DateClaim[];
  readonly #quantities: readonly Quantity[];
  readonly #numbers = new Set<number>();
  /** Where each word stands, by its folded form and by its stem. */
  readonly #places = new Map<string, number[]>();
  readonly #byPrefix = new Map<string, Set<string>>();
  readonly #initials: string;
  readonly #hasLatin: boolean;

  constructor(text: string) {
    const { dates, quantities } = readQuantities(text, surelyLanguageOf(text));
    this.#dates = dates;
    this.#quantities = quantities;
    for (const { values } of quantities) for (const value of values) this.#numbers.add(value);
    for (const { dates: readings } of dates)
      for (const { year, day } of readings) for (const n of [year, day]) if (n !== undefined) this.#numbers.add(n);
    const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    for (const [i, word] of words.entries()) this.#addWord(word, i);
    this.#initials = words.map((word) => (/^\p{Lu}/u.test(word) ? word.charAt(0) : ' ')).join('');
    this.#hasLatin = /\p{sc=Latn}/u.test(text);
  }

  #addWord(word: string, place: number): void {
    const folded = fold(word);
    for (const form of new Set([folded, stem(folded)])) {
      const places = this.#places.get(form);
      if (places === undefined) this.#places.set(form, [place]);
      else places.push(place);
    }
    if (folded.length < LEAST_PREFIX) return;
    const prefix = folded.slice(0, LEAST_PREFIX);
    const alike = this.#byPrefix.get(prefix) ?? new Set();
    this.#byPrefix.set(prefix, alike.add(folded));
  }

  hasNumber(values: readonly number[]): boolean {
    return values.some((value) => this.#numbers.has(value));
  }

  hasDate({ kind, dates, values }: DateClaim): boolean {
    if (kind === 'date')
      return dates.some((claimed) =>
        claimed.month === undefined
          ? this.#numbers.has(claimed.year ?? Number.NaN)
          : this.#dates.some((known) => known.dates.some((each) => agrees(claimed, each, (value) => this.#numbers.has(value)))),
      );
    const known = new Set(this.#dates.filter((each) => each.kind === kind).flatMap((each) => each.values));
    if (kind === 'weekday') return values.every((value) => known.has(value));
    // "From 9 to 17" has no mark of a time.
    return values.some((value) => known.has(value) || (value % 60 === 0 && this.#numbers.has(value / 60)));
  }

  hasQuantity({ values, units }: Quantity): boolean {
    if (units === undefined) return this.hasNumber(values);
    return this.#quantities.some((known) => {
      if (known.units === undefined) return known.isBare && known.values.some((value) => values.includes(value));
      return known.units.some((unit) =>
        units.some(({ dimension, factor }) => {
          if (dimension !== unit.dimension) return false;
          const margin = factor === unit.factor ? 1e-9 : ROUNDED;
          return known.values.some((value) => values.some((each) => isNear(each * factor, value * unit.factor, margin)));
        }),
      );
    });
  }

  hasWord(text: string): boolean {
    if (!this.#hasLatin && /\p{sc=Latn}/u.test(text)) return true;
    if (this.#placesOf(text).length > 0) return true;
    return /^\p{Lu}{2,6}$/u.test(text) && this.#initials.includes(text);
  }

  /** Whether the words of a name stand together. */
  hasTogether(first: string, second: string): boolean {
    if (!this.#hasLatin && /\p{sc=Latn}/u.test(first)) return true;
    const behind = this.#placesOf(second);
    return this.#placesOf(first).some((place) => behind.some((other) => place !== other && Math.abs(place - other) <= NEAR));
  }

  #placesOf(text: string): readonly number[] {
    const folded = fold(text.replace(/['’]s$/u, ''));
    const known = this.#places.get(folded) ?? this.#places.get(stem(folded));
    if (known !== undefined) return known;
    const alike = [...(this.#byPrefix.get(folded.slice(0, LEAST_PREFIX)) ?? [])].find((word) => isFormOf(word, folded));
    return alike === undefined ? [] : (this.#places.get(alike) ?? []);
  }
}

function isNear(a: number, b: number, margin: number): boolean {
  return Math.abs(a - b) <= margin * Math.max(Math.abs(a), Math.abs(b), 1e-12);
}

function isFormOf(word: string, other: string): boolean {
  let n = 0;
  while (n < word.length && word[n] === other[n]) n++;
  return n >= LEAST_PREFIX && NAME_ENDING.test(word.slice(n)) && NAME_ENDING.test(other.slice(n));
}

/** What the sentence claims and no text supports. */
export function unsupportedIn(sentence: string, language: Language, supports: readonly ClaimSupport[]): Span[] {
  const { dates, quantities, names } = readClaims(sentence, language);
  const isKnown = (test: (support: ClaimSupport) => boolean) => supports.some(test);
  return [
    ...dates.filter((date) => !isKnown((support) => support.hasDate(date))),
    ...quantities.filter((quantity) => !isKnown((support) => support.hasQuantity(quantity))),
    ...names.flatMap((parts) => unsupportedName(parts, supports)),
  ]
    .map(({ start, end }) => ({ start, end }))
    .sort((a, b) => a.start - b.start);
}

function readClaims(sentence: string, language: Language): Claims {
  const marked = LIST_MARK.exec(sentence)?.[0].length ?? 0;
  const text = ' '.repeat(marked) + sentence.slice(marked);
  const { dates, quantities } = readQuantities(text, surelyLanguageOf(text) ?? language);
  const own = quantities.filter(({ isVague }) => !isVague);
  const isTaken = ({ start, end }: NamePart) => [...dates, ...quantities].some((each) => start < each.end && each.start < end);
  const names = readNames(text, language).map((parts) => parts.filter((part) => !isTaken(part)));
  return { dates, quantities: own, names: names.filter((parts) => parts.length > 0) };
}

function unsupportedName(parts: readonly NamePart[], supports: readonly ClaimSupport[]): Span[] {
  const unknown = parts.filter(({ text }) => !supports.some((support) => support.hasWord(text)));
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (unknown.length === 0) {
    const isTogether = parts
      .slice(1)
      .every((part, i) => supports.some((support) => support.hasTogether(parts[i]?.text ?? '', part.text)));
    return isTogether ? [] : [{ start: first.start, end: last.end }];
  }
  const [from, to] = [unknown[0] as NamePart, unknown.at(-1) as NamePart];
  return [{ start: from.start, end: to.end }];
}
