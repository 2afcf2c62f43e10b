/** What a sentence says by names: of people, places and things. German writes all nouns as names are written, so there the words before tell. */
import type { Language } from '../evidence/question-language.ts';

export interface NamePart {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Parts between hyphens are words of their own: a text may write the name with a space. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu;
const CAPITAL = /^\p{Lu}/u;
/** A letter or number that stands for a thing: A4, B-12. */
const IDENTIFIER = /^(?=.*\p{L})(?=.*\p{N})\p{L}/u;
/** What stands before the first word of a clause, which has a capital whatever it is. */
const CLAUSE_START = /(?:^|[.:!?…“”„"«»(*•|–—‘'_-])$/u;
const LEAST_LETTERS = 2;
/** Characters in which the beginning of a clause is looked for. */
const LOOK_BACK = 40;

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** No names, wherever they stand. */
const COMMON = words(
  'i mr mrs ms dr prof sir lady lord saint st no nr passage passages document documents source sources text answer question note page pages ' +
    'section chapter table figure according based yes however therefore also thus herr herrn frau doktor professor passage passagen dokument ' +
    'dokumente dokumenten quelle quellen antwort frage seite seiten abschnitt tabelle abbildung hinweis laut',
);
/** In English, first words of a clause that are none; most others end as below. */
const FIRST_WORDS = words(
  'a an the this that these those it its he his she her they their we our you your there here what when where who which why how in on at by for ' +
    'from to of with without within after before since until during between among as if because although though while and or but so then both ' +
    'all any each every some many most several few much more less none only about around over under above below near into through across ' +
    'against per not now today later once never always often built made located founded opened known named called born people visitors guests ' +
    "bread water entry access admission work given said it’s it's there’s that’s is are was were has have had does do did can could will would may",
);
const FIRST_ENDINGS = /(?:s|ing|ed|ion|ment|ness|ity|ance|ence|ly|ship|age)$/u;

/** In German, what tells that a noun follows. */
const DETERMINERS = words(
  'der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines dieser diese dieses diesen diesem jeder jede ' +
    'jedes jeden jedem jener jene jenes welcher welche welches mein meine sein seine seinen seinem seiner seines ihr ihre ihren ihrem ihrer ihres ' +
    'unser unsere unseren euer alle allen aller viele vielen vieler mehrere mehreren einige einigen wenige beide beiden zum zur im am beim vom ins ' +
    'ans aufs ums fürs durchs etwa rund ca circa pro je mehr weniger genug viel wenig etwas manche zwei drei vier fünf sechs sieben acht neun zehn',
);
/** They end as adjectives do, and a name may follow. */
const NO_ADJECTIVES = words(
  'in an von zwischen unter über hinter neben gegen wegen seiten waren wurden haben hatten werden sind heißen nennen kennen leiten betreuen ' +
    'führen bauten gehörten stammen kamen lebten arbeiten wohnen wie sie er es oder aber dagegen deren dessen namens einschließlich ihnen sowie ' +
    'wurde hatte konnte sollte musste wollte leitete betreute führte baute gründete entwarf besitzt bewachte hütete stiftete malte schrieb eröffnete ' +
    'verkaufte kaufte erfand nannte hieß außer seit bei',
);
const ADJECTIVE = /(?:e|er|es|en|em)$/u;
const NOUN_ENDINGS =
  /(?:ung|heit|keit|schaft|tion|tät|nis|tum|chen|ungen|heiten|keiten|schaften|tionen|nisse|ment|ismus|enz|anz|zeit|haus|jahr|tag|zahl)e?[sn]?$/u;
/** Nouns that often stand without a word before them. */
const BARE_NOUNS = words(
  'ende anfang mitte jahr jahre jahren uhr beispiel angaben teil ort stadt land holz stein steinen wasser strom öl gas glas eisen stahl gold silber ' +
    'papier brot geld menschen leute leuten kinder kindern personen tage tagen wochen monate monaten stunden minuten sekunden deutsch englisch ' +
    'norden süden osten westen montag rot grün blau gelb schwarz weiß besucher besuchern gäste gästen mitglieder mitgliedern frauen männer ' +
    'männern ziegel ziegeln ton kohle licht luft bücher büchern bilder bildern zimmer zimmern räume räumen höhe länge breite tiefe alter gewicht ' +
    'preis dauer fläche baujahr eigentümer besitzer leiter leiterin wärter wärterin gründer gründerin betreuung wartung öffnung dach keller',
);
/** First words of a clause in German that are no nouns. */
const GERMAN_FIRST = words(
  'er sie es wir ihr ich du man dies dort hier heute damals später seitdem danach davor dabei dazu darin daran außerdem jedoch nein ja wer was wann wo wie ' +
    'warum weil wenn als ob da seit bis nach vor mit ohne für gegen um bei von aus zu in an auf über unter neben zwischen durch pro laut gemäß insgesamt',
);
const FINITE = words('ist war hat hatte wird wurde kann konnte soll sollte muss musste bleibt blieb gilt galt kam ging leitet');

/** Each as the words of one name that stand side by side. */
export function readNames(sentence: string, language: Language): NamePart[][] {
  const found = [...sentence.matchAll(WORD)].map(
    ({ 0: text, index }): NamePart => ({ text, start: index, end: index + text.length }),
  );
  const names: NamePart[][] = [];
  for (let i = 0; i < found.length; i++) {
    const run = runFrom(found, i, sentence);
    if (run.length === 0) continue;
    const start = run[0]?.start ?? 0;
    const isFirst = CLAUSE_START.test(sentence.slice(Math.max(0, start - LOOK_BACK), start).trimEnd());
    const next = /^ ?\p{Ll}/u.test(sentence.slice(run.at(-1)?.end)) ? found[i + run.length]?.text : undefined;
    const isLabel = isFirst && /^[*_\s]*:/.test(sentence.slice(run.at(-1)?.end));
    if (!isLabel) names.push(namesOf(run, { isFirst, before: found[i - 1]?.text, next, language }));
    i += run.length - 1;
  }
  return names.filter((parts) => parts.length > 0);
}

/** Capitalised words from there on, with nothing but a space or a hyphen between them. */
function runFrom(found: readonly NamePart[], from: number, sentence: string): NamePart[] {
  const run: NamePart[] = [];
  for (const part of found.slice(from)) {
    const last = run.at(-1);
    const isBeside = last === undefined || /^[ \u00a0-]$/.test(sentence.slice(last.end, part.start));
    if (!isBeside || !(CAPITAL.test(part.text) || IDENTIFIER.test(part.text))) return run;
    run.push(part);
  }
  return run;
}

interface Around {
  readonly isFirst: boolean;
  readonly before: string | undefined;
  readonly next: string | undefined;
  readonly language: Language;
}

function namesOf(run: readonly NamePart[], around: Around): NamePart[] {
  const plain = (part: NamePart) => part.text.toLowerCase();
  const isTitled = run.length > 1 && COMMON.has(plain(run[0] as NamePart)) && !around.isFirst;
  const named = run.filter((part) => part.text.length >= LEAST_LETTERS && !COMMON.has(plain(part)));
  if (around.language === 'de') return germanNames(run, named, isTitled, around);
  const [first, ...rest] = named;
  if (first === undefined || !around.isFirst || first !== run[0]) return named;
  if (FIRST_WORDS.has(plain(first))) return rest;
  // One word before a verb may be a name, as it may be any noun.
  const isNoun = named.length === 1 && (around.next === undefined || FIRST_ENDINGS.test(plain(first)));
  return isNoun && !IDENTIFIER.test(first.text) ? [] : named;
}

function germanNames(run: readonly NamePart[], named: readonly NamePart[], isTitled: boolean, around: Around): NamePart[] {
  const { before = '', isFirst, next = '' } = around;
  const isNoun = ({ text }: NamePart) => NOUN_ENDINGS.test(text) || BARE_NOUNS.has(text.toLowerCase());
  if (isTitled) return [...named];
  // "Eine Karte" begins a clause, "eine Karte" does not: what the word tells of is a noun either way.
  const opening = isFirst && DETERMINERS.has(run[0]?.text.toLowerCase() ?? '') ? run[0] : undefined;
  const noun = opening !== undefined ? run[1] : !isFirst && isDeterminer(before) ? run[0] : undefined;
  const own = named.filter((part) => part !== opening && part !== noun);
  if (run.length > 1)
    return own.filter((part) => !isNoun(part) && !(isFirst && part === run[0] && GERMAN_FIRST.has(part.text.toLowerCase())));
  const [single] = own;
  if (single === undefined || isNoun(single)) return [];
  if (IDENTIFIER.test(single.text)) return [single];
  return isFirst && (!FINITE.has(next) || GERMAN_FIRST.has(single.text.toLowerCase())) ? [] : [single];
}

function isDeterminer(before: string): boolean {
  const word = before.toLowerCase();
  if (DETERMINERS.has(word) || /^\p{N}/u.test(before)) return true;
  return /^\p{Ll}/u.test(before) && ADJECTIVE.test(word) && !NO_ADJECTIVES.has(word);
}
