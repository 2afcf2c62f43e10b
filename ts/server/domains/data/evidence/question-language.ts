/** The language of a question: by its script, and among those of the Latin one by its small words. */
import { fold, wordsOf } from '../../../platform/text/words.ts';

export type Language = ScriptLanguage | LatinLanguage | 'uk';

/** In this order: Japanese has Chinese characters too. */
const SCRIPTS = {
  ja: /[\p{sc=Hira}\p{sc=Kana}]/u,
  ko: /\p{sc=Hang}/u,
  zh: /\p{sc=Han}/u,
  ru: /\p{sc=Cyrl}/u,
  el: /\p{sc=Grek}/u,
  he: /\p{sc=Hebr}/u,
  ar: /\p{sc=Arab}/u,
  hi: /\p{sc=Deva}/u,
  th: /\p{sc=Thai}/u,
} as const;
type ScriptLanguage = keyof typeof SCRIPTS;

/** Words that nearly every question has some of, and that few other languages have. */
const SMALL_WORDS = {
  en: 'the what who when where which why how is are was were did does do of and to in it that this can many much',
  de: 'der die das den dem des was wer wann wo welche welcher welches warum wie ist sind war waren hat haben und von in zu im am nicht kann viele es ein eine',
  fr: 'le la les des du un une que qui quoi quand où quel quelle quels quelles pourquoi comment combien est sont était et de à dans il elle au aux ce cette',
  es: 'el la los las del un una qué quién quiénes cuándo dónde cuál cuáles por cómo cuánto cuántos es son fue era y de en a al se con para',
  it: 'il lo la gli le del della dei delle un una che chi quando dove quale quali perché come quanto quanti è sono era ed di nel nella al',
  pt: 'o os as do da dos das um uma que quem quando onde qual quais por como quanto quantos é são foi era e de em no na ao se para',
  nl: 'de het een wat wie wanneer waar welke welk waarom hoe hoeveel is zijn was waren en van in op te niet kan er aan',
  pl: 'co kto kiedy gdzie jaki jaka jakie który która które dlaczego jak ile jest są był była i w na z do się nie czy o',
  ro: 'ce cine când unde care de cum cât câți câte este sunt era fost și în la din pe cu un o al lui a',
  tr: 've bir bu ne kim zaman nerede hangi neden nasıl kaç mi mı midir nedir var için ile de da olan kimdir',
  vi: 'là gì ai khi nào ở đâu của và có được những các một trong cho bao nhiêu tại sao như thế người không đã',
} as const;
type LatinLanguage = keyof typeof SMALL_WORDS;

const LATIN = Object.entries(SMALL_WORDS).map(
  ([language, words]) => [language as LatinLanguage, new Set(words.split(' ').map(fold))] as const,
);
/** Letters of Ukrainian that Russian has not. */
const UKRAINIAN = /[іїєґ]/iu;
const MAX_LENGTH = 2_000;

/** English where nothing tells. */
export function languageOf(question: string): Language {
  const text = question.slice(0, MAX_LENGTH);
  const nLetters = text.match(/\p{L}/gu)?.length ?? 0;
  const nLatin = text.match(/\p{sc=Latn}/gu)?.length ?? 0;
  // A name in letters of its own does not make the question's language.
  if (nLatin * 2 >= nLetters) return latinLanguageOf(text);
  const found = Object.entries(SCRIPTS).find(([, script]) => script.test(text))?.[0] as ScriptLanguage | undefined;
  return found === 'ru' && UKRAINIAN.test(text) ? 'uk' : (found ?? 'en');
}

/** Words of the question's language that say little of what is asked; empty for languages that are told by their script. */
export function smallWordsOf(question: string): ReadonlySet<string> {
  const language = languageOf(question);
  return LATIN.find(([name]) => name === language)?.[1] ?? new Set();
}

function latinLanguageOf(text: string): LatinLanguage {
  const words = [...wordsOf(text)].flatMap(({ parts }) => parts.map((part) => part.text));
  const counts = LATIN.map(([language, small]) => [language, words.filter((word) => small.has(word)).length] as const);
  return counts.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}
