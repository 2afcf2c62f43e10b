/** The language of a question: by its script, and among those of the Latin one by its small words; and the words of each that say nothing of what is asked. */
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
/** Function words that tell no language by themselves, or that no script needs to be told by. */
const FURTHER_WORDS: Partial<Record<Language, string>> = {
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
const FUNCTION_WORDS = new Map(
  [...Object.keys(SMALL_WORDS), ...Object.keys(FURTHER_WORDS)].map((name) => {
    const language = name as Language;
    const words = [(SMALL_WORDS as Partial<Record<Language, string>>)[language] ?? '', FURTHER_WORDS[language] ?? ''].join(' ');
    return [language, new Set(words.trim().split(' ').map(fold))] as const;
  }),
);
const NONE: ReadonlySet<string> = new Set();
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

/** Folded words, or pairs of characters, that say nothing of what is asked. */
export function functionWordsOf(language: Language): ReadonlySet<string> {
  return FUNCTION_WORDS.get(language) ?? NONE;
}

function latinLanguageOf(text: string): LatinLanguage {
  const words = [...wordsOf(text)].flatMap(({ parts }) => parts.map((part) => part.text));
  const counts = LATIN.map(([language, small]) => [language, words.filter((word) => small.has(word)).length] as const);
  return counts.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}
