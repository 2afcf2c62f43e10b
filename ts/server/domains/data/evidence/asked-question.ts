/** A question as its evidence is looked for: its content words, each with what it counts, and what kind of thing it asks for. */

import { fold } from '../../../platform/text/words.ts';
import { type AskedKind, askedKindOf } from './asked-kind.ts';
import { type Language, languageOf, smallWordsOf } from './question-language.ts';
import { type WordForm, WordSet, wordFormsOf } from './word-forms.ts';

export interface AskedWord extends WordForm {
  /** What it counts wherever nothing is known of how rare it is: long words and names say more in any language. */
  readonly weight: number;
}

export interface AskedQuestion {
  readonly text: string;
  readonly language: Language;
  readonly kind: AskedKind | undefined;
  /** Each once. */
  readonly words: readonly AskedWord[];
  /** All words, function words as well. */
  readonly all: WordSet;
}

/** Of a longer question, words behind it are not looked for. */
const MAX_WORDS = 64;
const MAX_LENGTH = 4_000;
const LEAST_WEIGHT = 0.3;
/** A word of so many letters counts in full. */
const FULL_LENGTH = 8;
const NAME_FACTOR = 1.6;

export function readQuestion(question: string): AskedQuestion {
  const text = question.slice(0, MAX_LENGTH).toWellFormed();
  const language = languageOf(text);
  const isFunctionWord = functionWordFilter(text, language);
  const words = new Map<string, AskedWord>();
  for (const [i, form] of wordFormsOf(text).entries()) {
    if (words.size >= MAX_WORDS) break;
    if (!isFunctionWord(form.text) && !words.has(form.text)) words.set(form.text, { ...form, weight: weightOf(form, i === 0) });
  }
  return { text, language, kind: askedKindOf(text), words: [...words.values()], all: new WordSet(text) };
}

function weightOf({ text, written, isRun }: WordForm, isFirst: boolean): number {
  if (isRun) return 1;
  const byLength = LEAST_WEIGHT + (1 - LEAST_WEIGHT) * Math.min(1, text.length / FULL_LENGTH);
  // The first word of a question is capitalised whatever it is.
  return !isFirst && /^\p{Lu}|\d/u.test(written) ? NAME_FACTOR * byLength : byLength;
}

/** Words of a question that say nothing of what is asked, by language, beside those that its language is told by. */
const FUNCTION_WORDS: Partial<Record<Language, string>> = {
  en: 'i you we he she me us a an some any there their they his her its from with by on at for as be been being has have had would could should will may might about into than then most more other also one name type kind called please tell me know',
  de: 'ich du wir sie einer eines einem einen bei auf aus nach vor über unter durch für gegen ohne um dieser diese dieses diesem diesen sein seine seiner ihr ihre ihren wird werden wurde wurden worden welchem welchen wem wen wessen wofür womit woran worauf wodurch wieviel viel als auch noch nur sich man können konnte konnten mehr meisten heißt nennt bitte mir',
  fr: 'l d qu n s par pour sur avec dans sans sous ces cet ses son sa leur leurs a ont eu été avait y ne pas plus se en ou',
  es: 'lo sus su por para sobre sin entre ha han fue fueron ser había hay más no o este esta estos estas cual',
  it: 'al alla con per su tra fra da dal dalla si sono stato stata ha hanno aveva più non o questo questa',
  pt: 'pelo pela com para sobre sem entre há foi foram ser tem têm mais não ou este esta seu sua',
  nl: 'met voor door over onder bij uit naar werd werden wordt heeft hebben had zijn deze dit die dat ook meer of',
  ru: 'во не что он я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь где кто какой какая какие какое каким какого каких какую каком чем чего чему кому кого сколько почему зачем который которая которые является являются была были это этот эта эти для при и в на',
  uk: 'і в на що як де коли хто чому який яка яке які скільки був була були є з до за по для про від та або це цей ця ці у його її їх',
  zh: '什么 哪个 哪些 哪里 多少 为什 么时 时候 怎么 是什 的是 谁是 如何 是谁 在哪 几个 哪一 么样 么是 一个 哪种 哪位 哪年 有多 了多 被称 称为 么名 名字 叫什 么种 何时 哪儿 么地 么类 些什 了什 么的',
  ja: '何で です ます ですか すか した して いつ どこ どの だれ なに なぜ とは は何 は誰 はい はど のは',
};

const FOLDED = new Map(
  Object.entries(FUNCTION_WORDS).map(([language, words]) => [language, new Set(words.split(' ').map(fold))]),
);
const NONE: ReadonlySet<string> = new Set();

/** Tells of a folded word, or of a pair of characters, whether it says nothing of what is asked. */
function functionWordFilter(question: string, language: Language): (word: string) => boolean {
  const small = smallWordsOf(question);
  const own = FOLDED.get(language) ?? NONE;
  return (word) => small.has(word) || own.has(word);
}
