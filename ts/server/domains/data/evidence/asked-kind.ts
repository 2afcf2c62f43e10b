/** What kind of thing a question asks for, and whether a sentence says a thing of that kind. */
import { type WordSet, wordFormsOf } from './word-forms.ts';

export type AskedKind = 'date' | 'quantity' | 'person';

/** In several languages each; spaces stand around the question. Dates come first: "what year" asks for no quantity. */
const ASKING: readonly (readonly [AskedKind, RegExp])[] = [
  [
    'date',
    / when |wh(?:at|ich) (?:year|date|century|decade)| wann |welche[msn]? (?:jahr|datum|jahrhundert)|когда|как(?:ом|ой) год|в каком веке|什么时候|何时|哪一?年|几年|年份| quand |quelle année| cuándo |qué año| quando |che anno|いつ|何年/,
  ],
  [
    'quantity',
    /how (?:many|much|long|old|far|large|big|high|tall|deep|fast)|percent| wie ?(?:viele?|lange?|alt|hoch|groß|weit|tief|schnell)|prozent|сколько|как долго|процент|какова (?:длина|высота|площадь)|多少|多长|多大|多高|几个|百分|combien|cuánt[oa]s?|quant[oiae]s? |何人|何個|いくつ/,
  ],
  [
    'person',
    / who | whom | whose | wer | wen | wem | wessen | кто | кого | кому | кем |谁| qui | quién(?:es)? | chi | quem |誰|だれ/,
  ],
];

const NUMBER = /\d+(?:[.,]\d+)*/g;
const DATE = /(?<!\d)\d{4}(?!\d)|\d{1,4}\s?[年月日]/g;
const NUMBER_WORD =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|[mb]illion|half|third|quarter|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|million|milliarde|hälfte|drittel|deux|trois|quatre|cinq|cent|mille|dos|tres|cuatro|cinco|ciento|mil)|дв[ае]|тр[иё]|четыр|пят|шест|сем[ьи]|восем|девят|десят|сто |тысяч|миллион|миллиард|полов|[一二三四五六七八九十百千万亿两]/iu;
const NAME = /\p{Lu}\p{L}+/gu;

/** A question is a line; what is longer says at its end or its beginning what it asks. */
const MAX_LENGTH = 1_000;

export function askedKindOf(question: string): AskedKind | undefined {
  const text = ` ${question.slice(0, MAX_LENGTH).toLowerCase()} `;
  return ASKING.find(([, pattern]) => pattern.test(text))?.[0];
}

/** 1: the sentence says such a thing that the question does not; 0: it may; -1: it says none. */
export function saysKind(kind: AskedKind, sentence: string, question: string, asked: WordSet): -1 | 0 | 1 {
  const isNew = (pattern: RegExp) => (sentence.match(pattern) ?? []).some((each) => !question.includes(each));
  if (kind === 'date') return isNew(DATE) ? 1 : isNew(NUMBER) ? 0 : -1;
  if (kind === 'quantity') return isNew(NUMBER) ? 1 : NUMBER_WORD.test(sentence) ? 0 : -1;
  // Scripts without capital letters show no names.
  if (!/\p{Lu}/u.test(question) && !/\p{Lu}/u.test(sentence)) return 0;
  const names = sentence.slice(1).match(NAME) ?? [];
  return names.some((name) => !wordFormsOf(name).every((word) => asked.hasStemOf(word))) ? 1 : -1;
}
