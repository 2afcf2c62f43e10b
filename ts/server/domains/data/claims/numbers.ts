/** Numbers of a text by their values, however they are written: 6, six and 6.0; 1,200 in English and 1.200 in German; 1.2 million. */
import { type Language, languageOf } from '../evidence/question-language.ts';

export interface NumberClaim {
  readonly start: number;
  readonly end: number;
  /** The readings; several where nothing tells which separator stands before decimals. */
  readonly values: readonly number[];
  /** Something else is meant more often, as by "second": it tells of a number where one is looked for, and claims none. */
  readonly isVague: boolean;
}

/** Before decimals; all other languages have a comma. */
const POINT_LANGUAGES = new Set<Language>(['en', 'zh', 'ja', 'ko', 'th', 'he', 'hi']);
const DIGITS = /(?<![\p{L}\p{N}])(?:\d{1,3}(?:['’\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)(?!\d)/gu;
const WORD = /[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu;
const MAX_WORD = 60;

const SCALES: readonly (readonly [number, RegExp])[] = [
  [1e12, /^(?:billionen|trillions?|триллион\p{L}*|трлн)(?!\p{L})/iu],
  [1e9, /^(?:milliarden?|mrd|billions?|bn|milliards?|mil millones|miliard\p{L}*|миллиард\p{L}*|млрд)(?!\p{L})/iu],
  [1e6, /^(?:million(?:s|en)?|mio|mln|millones|milioni|milhões|миллион\p{L}*|млн)(?!\p{L})/iu],
  [1e3, /^(?:thousand|tausend|tsd|mille|mil|тысяч\p{L}*|тыс)(?!\p{L})/iu],
  [1e2, /^(?:hundred|hundert)(?!\p{L})/iu],
  [12, /^(?:dozen|dutzend)(?!\p{L})/iu],
  [1e8, /^亿/u],
  [1e4, /^万/u],
];

/** Of the languages but English and German, whose words are read whole. */
const SMALL_NUMBERS: Partial<Record<Language, string>> = {
  fr: 'deux trois quatre cinq six sept huit neuf dix onze douze',
  es: 'dos tres cuatro cinco seis siete ocho nueve diez once doce',
  it: 'due tre quattro cinque sei sette otto nove dieci undici dodici',
  pt: 'dois três quatro cinco seis sete oito nove dez onze doze',
  nl: 'twee drie vier vijf zes zeven acht negen tien elf twaalf',
  ru: 'два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать',
};

/** @param language of the text; undefined: both readings of a number that has two are taken. */
export function readNumbers(text: string, language: Language | undefined): NumberClaim[] {
  const written = [...text.matchAll(DIGITS)].map(({ 0: digits, index }) => {
    const scale = scaleBehind(text, index + digits.length);
    const values = valuesOf(digits, language).map((value) => value * (scale?.factor ?? 1));
    return { start: index, end: scale?.end ?? index + digits.length, values, isVague: false };
  });
  return [...written, ...wordNumbers(text, language ?? languageOf(text))].sort((a, b) => a.start - b.start);
}

function scaleBehind(text: string, end: number): { factor: number; end: number } | undefined {
  const space = /^[\s\u00a0]?/u.exec(text.slice(end, end + 1))?.[0].length ?? 0;
  const rest = text.slice(end + space, end + space + 20);
  for (const [factor, pattern] of SCALES) {
    const found = pattern.exec(rest)?.[0];
    if (found !== undefined) return { factor, end: end + space + found.length };
  }
  return undefined;
}

function valuesOf(digits: string, language: Language | undefined): number[] {
  const plain = digits.replace(/['’\u00a0\u202f]/g, '');
  const marks = plain.match(/[.,]/g) ?? [];
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return [Number(plain)];
  const whole = Number(plain.replace(/[.,]/g, ''));
  const at = plain.lastIndexOf(last);
  const decimal = Number(`${plain.slice(0, at).replace(/[.,]/g, '')}.${plain.slice(at + 1)}`);
  if (marks.length > 1) return first === last ? [whole] : [decimal];
  if (!/^[1-9]\d{0,2}[.,]\d{3}$/.test(plain)) return [decimal];
  if (language === undefined) return [whole, decimal];
  return [POINT_LANGUAGES.has(language) === (last === ',') ? whole : decimal];
}

/** Number words, those that follow each other as one number. */
function wordNumbers(text: string, language: Language): NumberClaim[] {
  if (language === 'zh' || language === 'ja') return chineseNumbers(text);
  const found: NumberClaim[] = [];
  let words: { text: string; start: number; end: number }[] = [];
  const close = () => {
    while (words.at(-1)?.text === 'and') words.pop();
    const [first] = words;
    const last = words.at(-1);
    if (first === undefined || last === undefined) return;
    const value = language === 'en' ? englishNumber(words.map((word) => word.text)) : numberOf(first.text, language);
    if (value !== undefined) found.push({ start: first.start, end: last.end, ...value });
    words = [];
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const lower = word.slice(0, MAX_WORD).toLowerCase();
    const isJoined = words.length > 0 && /^[\s-]$/.test(text.slice(words.at(-1)?.end, index));
    if (!isJoined || language !== 'en') close();
    const isNumber = language === 'en' ? isEnglish(lower) : numberOf(lower, language) !== undefined;
    if (isNumber || (words.length > 0 && lower === 'and')) words.push({ text: lower, start: index, end: index + word.length });
    else close();
  }
  close();
  return found.map((number) => scaled(text, number));
}

/** "zwei Millionen", "deux mille". */
function scaled(text: string, number: NumberClaim): NumberClaim {
  const scale = scaleBehind(text, number.end);
  if (scale === undefined) return number;
  return { ...number, end: scale.end, values: number.values.map((value) => value * scale.factor), isVague: false };
}

type WordValue = Pick<NumberClaim, 'values' | 'isVague'>;

const EN_SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const EN_TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const EN_SCALE = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
  ['dozen', 12],
]);
const EN_ORDINALS = new Map([
  ['first', 'one'],
  ['second', 'two'],
  ['third', 'three'],
  ['fifth', 'five'],
  ['eighth', 'eight'],
  ['ninth', 'nine'],
  ['twelfth', 'twelve'],
]);
const EN_TIMES = new Map([
  ['once', 1],
  ['twice', 2],
  ['half', 0.5],
  ['quarter', 0.25],
]);

function englishParts(word: string): string[] {
  return word.split('-').map((part) => {
    const cardinal = part.replace(/ieth$/, 'y').replace(/th$/, '');
    return EN_ORDINALS.get(part) ?? (isCardinal(cardinal) ? cardinal : part);
  });
}

function isCardinal(word: string): boolean {
  return EN_SMALL.includes(word) || EN_TENS.includes(word) || EN_SCALE.has(word);
}

function isEnglish(word: string): boolean {
  return EN_TIMES.has(word) || englishParts(word).every(isCardinal);
}

function englishNumber(words: readonly string[]): WordValue | undefined {
  const [word = ''] = words;
  const times = EN_TIMES.get(word);
  if (times !== undefined) return { values: times === 0.5 ? [0.5, 50] : [times], isVague: true };
  let [total, current] = [0, 0];
  for (const part of words.flatMap(englishParts)) {
    const small = EN_SMALL.indexOf(part);
    const tens = EN_TENS.indexOf(part);
    const scale = EN_SCALE.get(part);
    if (small >= 0) current += small;
    else if (tens >= 0) current += 10 * (tens + 2);
    else if (scale !== undefined && scale < 1e3) current = Math.max(1, current) * scale;
    else if (scale !== undefined) [total, current] = [total + Math.max(1, current) * scale, 0];
  }
  // "One" is a pronoun, "hundreds" and a lone scale are no number, and a second is a time.
  const isVague = words.length === 1 && (['one', 'first', 'second'].includes(word) || EN_SCALE.has(word));
  return { values: [total + current], isVague };
}

function numberOf(word: string, language: Language): WordValue | undefined {
  if (language === 'de') return germanWord(word);
  const at = SMALL_NUMBERS[language]?.split(' ').indexOf(word) ?? -1;
  return at < 0 ? undefined : { values: [at + 2], isVague: false };
}

const DE_SMALL = new Map(
  'null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'
    .split(' ')
    .map((word, i) => [word, i] as const),
);
const DE_TENS = new Map(
  'zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ').map((word, i) => [word, 10 * (i + 2)] as const),
);
const DE_ORDINALS = new Map([
  ['erst', 1],
  ['dritt', 3],
  ['siebt', 7],
  ['acht', 8],
]);

function germanWord(word: string): WordValue | undefined {
  if (/^(?:eins|eine[nmrs]?)$/.test(word)) return { values: [1], isVague: true };
  if (word === 'hälfte' || word === 'halb') return { values: [0.5, 50], isVague: true };
  const cardinal = germanNumber(word.replace(/(?:mal|fach)$/, ''));
  if (cardinal !== undefined) return { values: [cardinal], isVague: cardinal === 1 };
  const [, stem = ''] = /^(.+?)(?:s?t)e[nmrs]?$/.exec(word) ?? [];
  const ordinal = stem === '' ? undefined : (germanNumber(stem) ?? DE_ORDINALS.get(word.replace(/e[nmrs]?$/, '')));
  return ordinal === undefined ? undefined : { values: [ordinal], isVague: ordinal < 3 };
}

/** Of a whole word: "zweitausenddreihundertfünfundvierzig". */
function germanNumber(word: string): number | undefined {
  const simple = DE_SMALL.get(word) ?? DE_TENS.get(word);
  if (simple !== undefined) return simple;
  for (const [name, scale] of [
    ['tausend', 1_000],
    ['hundert', 100],
  ] as const) {
    const at = word.indexOf(name);
    if (at < 0) continue;
    const before = at === 0 ? 1 : germanNumber(word.slice(0, at));
    const rest = word.slice(at + name.length).replace(/^und/, '');
    const behind = rest === '' ? 0 : germanNumber(rest);
    return before === undefined || behind === undefined ? undefined : before * scale + behind;
  }
  const [, ones = '', tens = ''] = /^(\p{L}+?)und(\p{L}+)$/u.exec(word) ?? [];
  const [one, ten] = [DE_SMALL.get(ones), DE_TENS.get(tens)];
  return one === undefined || ten === undefined ? undefined : one + ten;
}

const ZH_DIGITS = '零一二三四五六七八九';
const ZH_SCALES = new Map([
  ['十', 10],
  ['百', 100],
  ['千', 1_000],
]);

/** They are parts of other words as well. */
function chineseNumbers(text: string): NumberClaim[] {
  return [...text.matchAll(/[零〇一二三四五六七八九十百千两]+/gu)].map(({ 0: run, index }) => {
    let [total, digit, digits] = [0, 0, ''];
    for (const character of run) {
      const scale = ZH_SCALES.get(character);
      const value = character === '两' ? 2 : ZH_DIGITS.indexOf(character === '〇' ? '零' : character);
      if (scale !== undefined) [total, digit] = [total + Math.max(1, digit) * scale, 0];
      else [digit, digits] = [value, digits + value];
    }
    const isPlain = digits.length === run.length && run.length > 1;
    return { start: index, end: index + run.length, values: [isPlain ? Number(digits) : total + digit], isVague: true };
  });
}
