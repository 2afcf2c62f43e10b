/** Dates, days of the week and times of a text, in whatever form they are written. */

/** What is known of a date. */
interface DateParts {
  readonly year?: number | undefined;
  readonly month?: number | undefined;
  readonly day?: number | undefined;
}

export interface DateClaim {
  readonly kind: 'date' | 'weekday' | 'time';
  readonly start: number;
  readonly end: number;
  /** Of a date, its readings. */
  readonly dates: readonly DateParts[];
  /** From Monday, 0 to 6; of a time, minutes of the day, in both halves of it where nothing tells which. */
  readonly values: readonly number[];
}

const MONTHS = [
  'january|januar|jänner|janvier|enero|gennaio|janeiro|januari|январ[яье]',
  'february|februar|février|febrero|febbraio|fevereiro|februari|феврал[яье]',
  'march|märz|mars|marzo|março|maart|марта?е?',
  'april|avril|abril|aprile|апрел[яье]',
  'may|mai|mayo|maggio|maio|mei|ма[яйе]',
  'june|juni|juin|junio|giugno|junho|июн[яье]',
  'july|juli|juillet|julio|luglio|julho|июл[яье]',
  'august|août|agosto|augustus|августа?е?',
  'september|septembre|septiembre|settembre|setembro|сентябр[яье]',
  'october|oktober|octobre|octubre|ottobre|outubro|октябр[яье]',
  'november|novembre|noviembre|novembro|ноябр[яье]',
  'december|dezember|décembre|diciembre|dicembre|dezembro|декабр[яье]',
].map((names) => names.split('|'));
/** Beside a day or a year alone. */
const SHORT = 'jan feb mar apr may jun jul aug sep oct nov dec mär mai okt dez sept'.split(' ');
const SHORT_MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 3, 5, 10, 12, 9];
const LONG = MONTHS.flat().join('|');
const MONTH = `(?<month>${LONG}|(?:${SHORT.join('|')})(?=[.\\s]))\\.?`;
const EDGE = '(?<![\\p{L}\\p{N}])';
const YEAR = '(?<year>\\d{4})(?![\\p{N}])';

/** In this order: what one has taken is no part of another. */
const PATTERNS = [
  `${EDGE}(?<year>\\d{4})-(?<m>\\d{2})-(?<day>\\d{2})(?!\\d)`,
  `${EDGE}(?<day>\\d{1,2})(?<slash>[./])\\s?(?<m>\\d{1,2})[./]\\s?${YEAR}`,
  `(?<!\\d)(?<year>\\d{4})\\s?年(?:\\s?(?<m>\\d{1,2})\\s?月(?:\\s?(?<day>\\d{1,2})\\s?日)?)?`,
  `(?<!\\d)(?<m>\\d{1,2})\\s?月\\s?(?<day>\\d{1,2})\\s?日`,
  `${EDGE}(?<day>\\d{1,2})(?:st|nd|rd|th|er|\\.)?\\s+(?:of\\s+|de\\s+)?${MONTH}(?:,?\\s+(?:of\\s+|de\\s+)?${YEAR})?(?!\\p{L})`,
  `${EDGE}${MONTH}\\s+(?:the\\s+)?(?<day>\\d{1,2})(?:st|nd|rd|th)?(?![\\d:.]\\d|\\d|\\p{L})(?:,?\\s+${YEAR})?`,
  `${EDGE}${MONTH},?\\s+(?:of\\s+|de\\s+|des Jahres\\s+)?${YEAR}`,
  `${EDGE}(?<month>${LONG})(?!\\p{L})`,
].map((source) => new RegExp(source, 'giu'));

const WEEKDAYS = [
  'mondays?|montags?|lundis?|lunes|lunedì|maandag|понедельник\\p{L}*',
  'tuesdays?|dienstags?|mardis?|martes|martedì|dinsdag|вторник\\p{L}*',
  'wednesdays?|mittwochs?|mercredis?|miércoles|mercoledì|woensdag|сред[ауыe]',
  'thursdays?|donnerstags?|jeudis?|jueves|giovedì|donderdag|четверг\\p{L}*',
  'fridays?|freitags?|vendredis?|viernes|venerdì|vrijdag|пятниц\\p{L}*',
  'saturdays?|samstags?|sonnabends?|samedis?|sábados?|sabato|zaterdag|суббот\\p{L}*',
  'sundays?|sonntags?|dimanches?|domingos?|domenica|zondag|воскресень\\p{L}*',
];
const WEEKDAY = new RegExp(`${EDGE}(?:${WEEKDAYS.map((names) => `(${names})`).join('|')})(?!\\p{L})`, 'giu');
const RANGE = /^\s*(?:[-–—]|to|through|till|until|bis|à|a|al|до|по)\s*$/iu;
const TIME =
  /(?<![\p{N}.,:])(?<hour>\d{1,2})(?:[:.](?<minute>\d{2})(?=\s*(?:uhr|h\b|[ap]\.?m))|:(?<clock>\d{2}))?(?!\d)(?:\s*(?<half>[ap])\.?m\.?(?!\p{L})|\s*(?<mark>uhr|o['’]clock))?/giu;

const DAY_MINUTES = 24 * 60;

/** @param takeRest gets the text in which all that was read is blank. */
export function readDates(text: string, takeRest: (rest: string) => void = () => {}): DateClaim[] {
  let rest = text;
  const claims: DateClaim[] = [];
  const take = (claim: DateClaim) => {
    claims.push(claim);
    rest = rest.slice(0, claim.start) + ' '.repeat(claim.end - claim.start) + rest.slice(claim.end);
  };
  for (const pattern of PATTERNS)
    for (const { 0: match, index, groups = {} } of [...rest.matchAll(pattern)]) {
      const dates = readingsOf(match, groups);
      if (dates.length > 0) take({ kind: 'date', start: index, end: index + match.length, dates, values: [] });
    }
  for (const claim of readWeekdays(rest)) take(claim);
  for (const { 0: match, index, groups = {} } of [...rest.matchAll(TIME)]) {
    const values = minutesOf(groups);
    if (values.length > 0) take({ kind: 'time', start: index, end: index + match.trimEnd().length, dates: [], values });
  }
  takeRest(rest);
  return claims;
}

type Groups = Readonly<Record<string, string | undefined>>;

function readingsOf(match: string, { year, month, m, day, slash }: Groups): DateParts[] {
  // "may" and "march" are verbs, too.
  if (month !== undefined && /^\p{Ll}/u.test(month) && /^(?:may|march|mars|mai|mei)$/.test(match)) return [];
  const number = month === undefined ? Number(m) : monthOf(month);
  const parts = { year: toNumber(year), month: Number.isNaN(number) ? undefined : number, day: toNumber(day) };
  const both = slash === '/' ? [parts, { ...parts, month: parts.day, day: parts.month }] : [parts];
  return both.filter(
    (each) => (each.month ?? 1) >= 1 && (each.month ?? 1) <= 12 && (each.day ?? 1) >= 1 && (each.day ?? 1) <= 31,
  );
}

const LONG_MONTHS = MONTHS.map((names) => new RegExp(`^(?:${names.join('|')})$`, 'iu'));

function monthOf(name: string): number {
  const at = LONG_MONTHS.findIndex((names) => names.test(name));
  return at >= 0 ? at + 1 : (SHORT_MONTHS[SHORT.indexOf(name.toLowerCase())] ?? Number.NaN);
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

/** "Monday to Friday" names the days between as well. */
function readWeekdays(text: string): DateClaim[] {
  const found = [...text.matchAll(WEEKDAY)].map(({ 0: match, index, ...groups }) => {
    const day = WEEKDAYS.findIndex((_, i) => (groups as Record<number, string | undefined>)[i + 1] !== undefined);
    return { start: index, end: index + match.length, day };
  });
  return found.map(({ start, end, day }, i): DateClaim => {
    const next = found[i + 1];
    const isRange = next !== undefined && RANGE.test(text.slice(end, next.start));
    const nDays = isRange ? (next.day - day + 7) % 7 : 0;
    const values = Array.from({ length: nDays + 1 }, (_, more) => (day + more) % 7);
    return { kind: 'weekday', start, end, dates: [], values };
  });
}

function minutesOf({ hour, minute, clock, half, mark }: Groups): number[] {
  const minutes = minute ?? clock;
  if (minutes === undefined && half === undefined && mark === undefined) return [];
  const [h, m] = [Number(hour), Number(minutes ?? 0)];
  if (h > 24 || m > 59) return [];
  const at = 60 * h + m;
  if (half !== undefined) return [((h % 12) + (half.toLowerCase() === 'p' ? 12 : 0)) * 60 + m];
  return h <= 12 ? [at % DAY_MINUTES, (at + DAY_MINUTES / 2) % DAY_MINUTES] : [at % DAY_MINUTES];
}

/** Whether nothing that both say differs; what `known` leaves out must stand elsewhere. */
export function agrees(claimed: DateParts, known: DateParts, standsElsewhere: (value: number) => boolean): boolean {
  const sameOrElsewhere = (value: number | undefined, other: number | undefined) =>
    value === undefined || (other === undefined ? standsElsewhere(value) : value === other);
  if (claimed.month !== undefined && claimed.month !== known.month) return false;
  return sameOrElsewhere(claimed.year, known.year) && sameOrElsewhere(claimed.day, known.day);
}
