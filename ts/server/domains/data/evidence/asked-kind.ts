/** What kind of thing a question asks for, and whether a sentence says a thing of that kind. */
import { type WordSet, wordFormsOf } from './word-forms.ts';

export type AskedKind = 'date' | 'weekday' | 'price' | 'frequency' | 'quantity' | 'colour' | 'place' | 'person';

/** In several languages each; spaces stand around the question. Dates come first: "what year" asks for no quantity. */
const ASKING: readonly (readonly [AskedKind, RegExp])[] = [
  [
    'date',
    / when |wh(?:at|ich) (?:year|date|century|decade)| wann |welche[msn]? (?:jahr|datum|jahrhundert)|когда|как(?:ом|ой) год|в каком веке|什么时候|何时|哪一?年|几年|年份| quand |quelle année| cuándo |qué año| quando |che anno|いつ|何年/,
  ],
  [
    'weekday',
    /(?:which|what) (?:day|weekday)| welche[mnr]? (?:tag|wochentag)|в какой день|哪天|星期几|周几| quel jour| qué día| che giorno/,
  ],
  [
    'price',
    /how expensive|price|(?:how much|what) (?:does|did|do|will|would) .{1,80} cost| wie teuer|was kostet|wie ?viel .{0,80}kostete?n?|preis|сколько стои|цена|какова стоимость|多少钱|价格|价钱| prix|combien coûte|cuánto cuesta|precio|quanto costa|prezzo|いくら|値段/,
  ],
  [
    'frequency',
    /how often|how frequently| wie oft| wie häufig|как часто|多久一次|多长时间一次|combien de fois|à quelle fréquence|con qué frecuencia|cuántas veces|quanto spesso|どのくらいの頻度/,
  ],
  [
    'quantity',
    /how (?:many|much|long|old|far|large|big|high|tall|deep|fast)|percent| wie ?(?:viele?|lange?|alt|hoch|groß|weit|tief|schnell)|prozent|сколько|как долго|процент|какова (?:длина|высота|площадь)|多少|多长|多大|多高|几个|百分|combien|cuánt[oa]s?|quant[oiae]s? |何人|何個|いくつ/,
  ],
  [
    'colour',
    /what colou?r|which colou?r|welche farbe|какого цвета|какой цвет|什么颜色|quelle couleur|de qué color|che colore|何色/,
  ],
  ['place', / where | wo | wohin | woher |где|куда|откуда|哪里|哪儿|在哪|何处| où | dónde | dove | onde |どこ/],
  [
    'person',
    / who | whom | whose | wer | wen | wem | wessen | кто | кого | кому | кем |谁| qui | quién(?:es)? | chi | quem |誰|だれ/,
  ],
];

const NUMBER = /\d+(?:[.,]\d+)*/g;
const DATE = /(?<!\d)\d{4}(?!\d)|\d{1,4}\s?[年月日]/g;
const NUMBER_WORD =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|[mb]illion|half|third|quarter|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|million|milliarde|hälfte|drittel|deux|trois|quatre|cinq|cent|mille|dos|tres|cuatro|cinco|ciento|mil)|дв[ае]|тр[иё]|четыр|пят|шест|сем[ьи]|восем|девят|десят|сто |тысяч|миллион|миллиард|полов|[一二三四五六七八九十百千万亿两]/iu;
/** Any number but a bare year. */
const COUNT = /(?<![\d.,])(?!(?:1[5-9]|20)\d\d(?![\d.,]*\d))\d+(?:[.,]\d+)*/g;
const PLACE =
  /(?:^|[\s(])(?:in|at|on|behind|near|beside|under|above|between|im|am|an|auf|bei|hinter|neben|unter|über|zwischen|vor|nach|в|на|около|возле|за|под|над|у|dans|à|au|sur|en|sobre|nel|nella|sul|em|no|na)\s|[在位于处]/iu;
const SAYING = {
  weekday:
    /(?:mon|tues|wednes|thurs|fri|satur|sun)days?|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|понедельник|вторник|сред[ауы]|четверг|пятниц|суббот|воскресень|星期|周[一二三四五六日末]|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|曜日/iu,
  price:
    /[$€£¥₽]|\d\s?(?:euros?|pounds?|dollars?|cents?|francs?|usd|eur|gbp|chf|руб|доллар|евро|元|美元|欧元|英镑|円)|(?:cost|kostet|gekostet|стоит|стоил|价格|花费)/iu,
  frequency:
    /\b(?:every|each|once|twice|daily|weekly|monthly|yearly|annually|hourly|times|alle|jede[nrs]?|täglich|wöchentlich|monatlich|jährlich|einmal|zweimal|mal|chaque|tous|fois|cada|veces|ogni|volte)\b|кажд|раз в|ежедневно|еженедельно|ежемесячно|ежегодно|每|次|毎/iu,
  colour:
    /\b(?:red|green|blue|yellow|black|white|brown|gr[ae]y|orange|purple|violet|pink|silver|gold(?:en)?|rouge|vert|bleu|jaune|noir|blanc|rojo|verde|azul|amarillo|negro|blanco|rosso|blu|giallo|nero|bianco)|rot|grün|blau|gelb|schwarz|weiß|braun|grau|lila|rosa|красн|зел[её]н|син[ийяе]|голуб|ж[её]лт|ч[её]рн|бел[ыоа]|сер[ыоа]|[红绿蓝黄黑白灰紫棕橙粉]色?|[赤青緑黄黒白]/iu,
} as const;
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
  switch (kind) {
    case 'date':
      return isNew(DATE) ? 1 : isNew(NUMBER) ? 0 : -1;
    case 'quantity':
      // Four digits alone are a year more often than a number of things.
      return isNew(COUNT) ? 1 : isNew(NUMBER) || NUMBER_WORD.test(sentence) ? 0 : -1;
    case 'person':
      return saysPerson(sentence, question, asked);
    case 'place':
      return PLACE.test(sentence) ? 1 : 0;
    default:
      return SAYING[kind].test(sentence) ? 1 : -1;
  }
}

function saysPerson(sentence: string, question: string, asked: WordSet): -1 | 0 | 1 {
  // Scripts without capital letters show no names.
  if (!/\p{Lu}/u.test(question) && !/\p{Lu}/u.test(sentence)) return 0;
  const names = sentence.slice(1).match(NAME) ?? [];
  const isNew = names.some((name) => !wordFormsOf(name).every((word) => asked.hasStemOf(word)));
  // A name may begin the sentence; then a second part of it follows.
  return isNew ? 1 : -1;
}
