/**
 * The rules say what a text states, as far as rules of a few lines can tell in English and German: the attribute that it gives a value to, where that has one value
 * at a time, and the words by which the same statement is told again. Texts that no rule fits state nothing that could contradict another.
 */
import { createHash } from 'node:crypto';
import { redactText } from '../../platform/log/redact.ts';
import { stem } from '../retrieval/index.ts';

interface Statement {
  /** The subject and what is said of it; undefined: nothing that has one value at a time. */
  readonly attribute: string | undefined;
  readonly value: string | undefined;
}

interface Rule {
  readonly attribute: string;
  /** Groups: `who` says something of `value`; `what` is a part of the attribute. */
  readonly pattern: RegExp;
}

const NOW = '(?:(?:now|currently|today|jetzt|nun|inzwischen|aktuell|mittlerweile) )?';
const VALUE = '(?<value>[^.!?;\\n]{1,80})';
const WHO = '(?<who>[^.!?;\\n]{1,60}?)';

/** Nouns of which somebody has one. What stands before them is a part of what is meant. */
const NOUNS = [
  'name|vorname|nachname|surname|nickname|spitzname|birthday|geburtstag|birthdate|geburtsdatum|age|alter',
  'address|adresse|anschrift|hometown|home town|heimatstadt|wohnort|postcode|zip code|postleitzahl',
  'phone number|mobile number|telefonnummer|handynummer|email|e-mail|email address|e-mail-adresse|mailadresse',
  'job|beruf|employer|arbeitgeber|boss|chef|chefin|manager|vorgesetzter|team lead|teamleiter',
  'wife|husband|ehefrau|ehemann|fiancée|verlobte|verlobter|mother tongue|native language|muttersprache',
  'blood type|blood group|blutgruppe|shoe size|schuhgröße|height|körpergröße',
  'deadline|abgabetermin|frist|due date|start date|starttermin|budget|owner|eigentümer|status|version|color|colour|farbe',
  'doctor|hausarzt|dentist|zahnarzt|landlord|vermieter|license plate|licence plate|kennzeichen|seat|office|büro',
].join('|');
const FAVOURITE =
  "(?:(?:my|mein|meine|his|her|sein|seine|ihr|ihre|[\\p{L}-]{1,30}'s) )?(?:favou?rite|preferred|bevorzugte[rs]?) [^.!?;\\n]{1,40}?";
const GERMAN_FAVOURITE = '[^.!?;\\n]{0,40}?lieblings[\\p{L}-]{2,30}';

const IS = '(?:is|are|was changed to|changed to|has changed to|ist|sind|lautet|heißt|wurde auf|beträgt)';

const RULES: readonly Rule[] = [
  ['residence', `^${WHO} ${NOW}(?:lives?|living|resides?|wohnt|wohne|lebt|lebe) ${NOW}(?:in|at) ${VALUE}$`],
  ['residence', `^${WHO} (?:has |have |'ve )?${NOW}(?:just )?(?:moved|relocated) to ${VALUE}$`],
  ['residence', `^${WHO} (?:bin|ist) ${NOW}nach ${VALUE} (?:gezogen|umgezogen)$`],
  ['employer', `^${WHO} ${NOW}(?:works?|working|arbeitet|arbeite) ${NOW}(?:at|for|bei|für) ${VALUE}$`],
  ['employer', `^${WHO} (?:has |have )?${NOW}(?:joined|switched to) ${VALUE}$`],
  ['job', `^${WHO} ${NOW}(?:works?|working|arbeitet|arbeite) ${NOW}(?:as|als) ${VALUE}$`],
  ['age', `^${WHO} (?:am|is|bin|ist) ${NOW}(?<value>\\d{1,3})(?: years old| jahre alt)$`],
  ['spouse', `^${WHO} (?:am|is|bin|ist) ${NOW}(?:married to|mit) (?<value>[^.!?;\\n]{1,60}?)(?: verheiratet)?$`],
  ['name', `^${WHO} (?:am called|is called|heiße|heißt) ${VALUE}$`],
  ['', `^(?<what>${FAVOURITE}) ${IS} ${NOW}${VALUE}$`],
  ['', `^(?<what>${GERMAN_FAVOURITE}) ${IS} ${NOW}${VALUE}$`],
  [
    '',
    `^(?<what>[^.!?;\\n]{0,60}?(?<![\\p{L}-])(?:${NOUNS})(?: (?:of|for|von|für|des|der) [^.!?;\\n]{1,40}?)?) ${IS} ${NOW}${VALUE}$`,
  ],
].map(([attribute = '', pattern = '']) => ({ attribute, pattern: new RegExp(pattern, 'iu') }));

/** The person whose memory it is. */
const SELF = /^(?:i|i'm|i've|me|myself|ich|mich|mir|the user|user|der nutzer|die nutzerin)$/i;
const OWN = /^(?:my|mein|meine|meinen|the|der|die|das) /i;
const NEGATED = /(?<!\p{L})(?:not|no longer|never|isn't|aren't|don't|doesn't|nicht|nie|kein|keine|keinen|niemals)(?!\p{L})/iu;
/** Words that stand behind a value and are no part of it. */
const BEHIND = /,? (?:now|today|anymore|jetzt|nun|(?:since|seit|as of|ab|because|weil) .*)$|(?<![\s.,!])[\s.,!]+$/iu;
const BEFORE =
  /^(?:(?:yesterday|today|gestern|heute|now|jetzt|actually|übrigens|by the way),? |(?:remember|note|merke dir|denk daran),? (?:that |dass )?|(?:from now on|ab jetzt),? )/iu;

export function readStatement(text: string, subject: string | undefined): Statement {
  const plain = plainText(text);
  const rule = NEGATED.test(plain) ? undefined : RULES.find(({ pattern }) => pattern.test(plain));
  const groups = rule?.pattern.exec(plain)?.groups;
  if (rule === undefined || groups === undefined) return { attribute: undefined, value: undefined };
  const who = self(groups['who'] ?? '');
  const what = (groups['what'] ?? rule.attribute).replace(OWN, '');
  const of = self(subject ?? '');
  const attribute = [of, who === of ? '' : who, what].map((part) => wordsOf(part).join(' ')).join('|');
  return { attribute, value: wordsOf(shortened(groups['value'] ?? '')).join(' ') };
}

/** Whether both say the same in other words. */
export function saysTheSame(one: StatedText, other: StatedText): boolean {
  if (NEGATED.test(one.text) !== NEGATED.test(other.text)) return false;
  return one.textHash === other.textHash || meaningOf(one.text, one.subject) === meaningOf(other.text, other.subject);
}

/** The same for texts that say the same in other words. */
export function meaningOf(text: string, subject: string | undefined): string {
  const { attribute, value } = readStatement(text, subject);
  return JSON.stringify([NEGATED.test(text), attribute === undefined ? wordingOf(text, subject) : [attribute, value]]);
}

/** A sentence that gives away a password; what looks like a key or a token by itself is known to the log already. */
const SECRET_SAID = new RegExp(
  '(?<!\\p{L})(?:password|passcode|passphrase|passwort|kennwort|zugangscode|api[- ]?key|(?:access|secret|private) key|pin(?:[- ]?(?:code|number|nummer))?|cvv|cvc)' +
    '(?: (?:for|of|to|für|von|zum|zur|des|der) [^.!?;\\n]{1,40}?)? ?(?:is|are|was|ist|war|lautet|heißt|=|:) ?\\S',
  'iu',
);

export function holdsSecret(text: string): boolean {
  return redactText(text) !== text || SECRET_SAID.test(text);
}

/** Whether each name and number of the statement stands in the span, and both deny or neither does. */
export function isGrounded(statement: string, span: string): boolean {
  if (NEGATED.test(statement) !== NEGATED.test(span)) return false;
  const said = new Set(wordsOf(span));
  const words = statement.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  const named = words.filter((word) => /^\p{Lu}|\p{N}/u.test(word));
  return named.every((name) => EMPTY.has(name.toLowerCase()) || wordsOf(name).every((word) => said.has(word)));
}

interface StatedText {
  readonly text: string;
  readonly subject: string | undefined;
  readonly textHash: string;
}

/** The same for texts that differ in case, punctuation and words that say nothing. */
export function textHash(text: string, subject: string | undefined): string {
  const words = [wordsOf(self(subject ?? '')), wordsOf(plainText(text))];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

/** The same for texts of the same words in another order, with the same names and numbers in the same order. */
export function wordingOf(text: string, subject: string | undefined): readonly unknown[] {
  const plain = plainText(text);
  const sides = plain.replace(/^\S+/u, (first) => first.toLowerCase()).match(/\p{Lu}[\p{L}\p{M}-]*|\p{N}+/gu) ?? [];
  return [NEGATED.test(plain), wordsOf(self(subject ?? '')), sides.filter((side) => side !== 'I'), wordsOf(plain).sort()];
}

function plainText(text: string): string {
  const line = text.normalize('NFKC').replace(/\s+/g, ' ').replace(/[’‘]/g, "'").trim();
  return shortened(line.replace(BEFORE, '')).replace(/^ich? bin's /i, '');
}

function shortened(text: string): string {
  const once = text.replace(BEHIND, '');
  return once === text ? text : shortened(once);
}

function self(who: string): string {
  return SELF.test(who.trim()) ? '' : who.trim();
}

const EMPTY = new Set(
  "a an the is are am was be been to of my i i'm me that this really very user ein eine einen einem einer der die das dem den ist bin sind war ich mein meine meinen dass sehr wirklich".split(
    ' ',
  ),
);

/** Questions have these whatever they are about. */
const ASKING = new Set(
  [
    'what which who whom whose where when why how do does did have has had can could will would should it its there come comes kind',
    'in on at for from with by about',
    'was welche welcher welches welchen welchem wer wen wem wessen wo woher wohin wann warum wie wogegen womit habe hat hatte haben',
    'kann wird werde es gibt kommt heißt heiße im am an auf aus bei beim für mit nach von vom zu zum zur vor über',
  ].flatMap((line) => line.split(' ').map((word) => stem(folded(word)))),
);

/** Whether the text has a word that says what the question is about. */
export function sharesWord(question: string, text: string): boolean {
  const asked = new Set(wordsOf(question).filter((word) => !ASKING.has(word)));
  return wordsOf(text).some((word) => asked.has(word));
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+(?:['’][\p{L}]+)*/gu) ?? [];
  const said = words.filter((word) => !EMPTY.has(word));
  return (said.length === 0 ? words : said).map((word) => stem(folded(word)));
}

function folded(word: string): string {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss');
  return plain.replace(/^([a-z]{3,12}?)our(s|ite|ites)?$/, '$1or$2');
}

const DAY_MS = 86_400_000;
const RELATIVE: readonly (readonly [pattern: RegExp, days: number])[] = [
  [/(?<!\p{L})(?:the day before yesterday|vorgestern)(?!\p{L})/iu, 2],
  [/(?<!\p{L})(?:yesterday|gestern|last night|gestern abend)(?!\p{L})/iu, 1],
  [/(?<!\p{L})(?:last week|letzte woche|vorige woche)(?!\p{L})/iu, 7],
  [/(?<!\p{L})(?:last month|letzten monat|vorigen monat)(?!\p{L})/iu, 30],
  [/(?<!\p{L})(?:last year|letztes jahr|voriges jahr)(?!\p{L})/iu, 365],
];
const AGO =
  /(?<!\p{L})(?:(?<n>\d{1,3}) (?<unit>day|week|month|year)s? ago|vor (?<m>\d{1,3}) (?<einheit>tag|woche|monat|jahr)(?:e|en|n)?)(?!\p{L})/iu;
const UNIT_DAYS: Readonly<Record<string, number>> = {
  day: 1,
  tag: 1,
  week: 7,
  woche: 7,
  month: 30,
  monat: 30,
  year: 365,
  jahr: 365,
};
const SINCE = /(?<!\p{L})(?:since|seit|as of|ab dem) (?<year>\d{4})(?:-(?<month>\d{2})-(?<day>\d{2}))?(?!\p{N})/iu;

/** From when on it holds, by the text and the date of its message; undefined: the text does not say. */
export function statedDate(text: string, saidAt: number): number | undefined {
  const since = SINCE.exec(text)?.groups;
  if (since !== undefined) {
    const at = Date.UTC(Number(since['year']), Number(since['month'] ?? 1) - 1, Number(since['day'] ?? 1));
    if (at <= saidAt) return at;
  }
  const ago = AGO.exec(text)?.groups;
  const unit = (ago?.['unit'] ?? ago?.['einheit'])?.toLowerCase();
  if (unit !== undefined) return dayOf(saidAt - Number(ago?.['n'] ?? ago?.['m']) * (UNIT_DAYS[unit] ?? 0) * DAY_MS);
  const days = RELATIVE.find(([pattern]) => pattern.test(text))?.[1];
  return days === undefined ? undefined : dayOf(saidAt - days * DAY_MS);
}

function dayOf(at: number): number {
  return at - (at % DAY_MS);
}
