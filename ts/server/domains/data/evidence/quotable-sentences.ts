/**
 * What of a passage can be quoted inside an answer: sentences, rows of tables and single lines, each written on one line. What would change the
 * answer around it is left out: code that is cut off, pictures, addresses of links, HTML, and numbers in brackets, which would pass for citations.
 */

export interface QuotableSentence {
  readonly text: string;
  /** What stands before it in the passage, for what it refers to. */
  readonly before: string;
}

/** Characters of a quotation. A longer sentence is offered in pieces. */
export const MOST_QUOTED = 500;
const PIECE_STEP = 100;
/** Of a long sentence; the rest of a longer one is not offered. */
const MAX_PIECES = 40;
const LEAST_QUOTED = 20;
/** A character of Chinese or Japanese says as much as several letters. */
const LEAST_RUN_QUOTED = 8;
/** Shorter lines were not broken because they were full. */
const LEAST_WIDTH = 50;
const FULL_SHARE = 0.75;

const LIST_ITEM = /^\s*(?:[-*+•▪]|\d{1,3}[.)])\s/;
const CELL_END = / \| /;
/** A line of code that goes on in the next one. */
const OPEN_CODE = /[\\{}|]\s*$|&&\s*$/;
const PICTURE = '![';
const UNQUOTABLE = /\[\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*\]|[\p{Cc}\u202a-\u202e\u2066-\u2069\u{fffd}]/u;
/** Of a link, the words are quoted. */
const LINK = /(?<!!)\[([^[\]\n]{1,300})\]\([^()\s]{0,500}\)/g;
const MARKUP = /<[a-z/!]|[{}\\]/i;
const QUESTION = /[?？؟][\p{P}\s]{0,10}$/u;
/** Passages overlap, so one may begin in the middle of a sentence. */
const CUT_BEGINNING = /^\s*\p{Ll}/u;
const RUN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;
/** Letters, digits and spaces among all characters; code has fewer. */
const LEAST_PROSE = 0.75;
const LEAST_WORDS = 3;

/** It asks, and says nothing. */
function isQuestion(sentence: string): boolean {
  return QUESTION.test(sentence);
}

/** @param headings of the passage: they say what it is about, and nothing about it. */
export function quotableSentences(passage: string, headings: ReadonlySet<string>): QuotableSentence[] {
  const found: QuotableSentence[] = [];
  let before = '';
  for (const unit of passage.split(/\n[ \t]*\n/).flatMap(unitsOf)) {
    if (headings.has(unit) || unit.includes(PICTURE)) continue;
    for (const sentence of sentencesOf(unit)) {
      const isCut = found.length === 0 && before === '' && CUT_BEGINNING.test(sentence);
      const text = `${isCut ? '…' : ''}${sentence}`;
      const pieces = isQuestion(text) ? [] : piecesOf(text).filter(isQuotable);
      for (const piece of pieces) found.push({ text: piece, before });
      before = text;
    }
  }
  return found;
}

/** Lines of a block that were broken because they were full are one text again; other lines, as rows of tables and commands, stay alone. */
function unitsOf(block: string): string[] {
  const lines = block.split('\n');
  if (lines.some((line) => OPEN_CODE.test(line))) return [];
  const width = Math.max(...lines.map((line) => line.length));
  const units: string[] = [];
  for (const [i, line] of lines.entries()) {
    const goesOn = i > 0 && continues(lines[i - 1] ?? '', line, width);
    const text = line.replace(/\s+/g, ' ').trim();
    if (goesOn) units.push(`${units.pop() ?? ''} ${text}`);
    else units.push(text.replace(LIST_ITEM, ''));
  }
  return units.map((unit) => unit.replace(LINK, '$1'));
}

function continues(line: string, next: string, width: number): boolean {
  const word = firstWord(next);
  const isRow = LIST_ITEM.test(next) || word === firstWord(line) || CELL_END.test(line);
  return !isRow && width >= LEAST_WIDTH && line.length + 1 + word.length >= FULL_SHARE * width;
}

function firstWord(line: string): string {
  return /\S*/.exec(line.trimStart())?.[0] ?? '';
}

/** A sentence that is too long, from several places on, between words. */
function piecesOf(sentence: string): string[] {
  if (sentence.length <= MOST_QUOTED) return [sentence];
  const pieces: string[] = [];
  for (let at = 0; pieces.length < MAX_PIECES; ) {
    const isLast = sentence.length - at < MOST_QUOTED;
    const end = isLast ? sentence.length : spaceBefore(sentence, at + MOST_QUOTED - 2);
    pieces.push(`${at > 0 ? '…' : ''}${sentence.slice(at, end).trim()}${isLast ? '' : '…'}`);
    if (isLast) return pieces;
    at = spaceBefore(sentence, at + PIECE_STEP);
  }
  return pieces;
}

/** A place between words at or a little before `at`; inside a word that is longer, but never inside a character. */
function spaceBefore(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at);
  if (space > at - PIECE_STEP / 2) return space;
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

function isQuotable(text: string): boolean {
  if (text.length < (RUN.test(text) ? LEAST_RUN_QUOTED : LEAST_QUOTED) || UNQUOTABLE.test(text)) return false;
  const plain = text.replace(/`[^`]*`/g, ' ');
  if (plain.includes('`') || MARKUP.test(plain)) return false;
  const nPlain = plain.match(/[\p{L}\p{N}\p{M}\s]/gu)?.length ?? 0;
  const nWords = plain.match(/\p{L}{2,}/gu)?.length ?? 0;
  return nPlain >= LEAST_PROSE * Array.from(plain).length && (nWords >= LEAST_WORDS || RUN.test(plain));
}

/** Abbreviations, by the languages that they are of, behind which a sentence goes on. */
const ABBREVIATIONS = [
  'Dr Mr Mrs Ms Prof St Sr Jr Lt Gen Col Sen Rep Gov Capt Sgt Rev Hon No vs cf approx Inc Ltd Co Corp Bros Mt Ft',
  'Jan Feb Mar Apr Aug Sep Sept Oct Nov Dec',
  'Nr ca bzw usw etc vgl ggf evtl sog Abs Art Bd Aufl Mio Mrd Tsd Hr Fr Str Okt Dez',
  'M Mme Mlle env p pp fig',
  'Sra Srta Ud Uds núm pág',
  'г гг в вв св ул им см ср др тыс млн млрд стр проф акад рис табл',
].flatMap((line) => line.split(' '));

/** A letter alone is an initial, two with stops are `e.g.` and `z. B.`; a number of three digits at most is that of a day or a king. */
const GOES_ON = new RegExp(
  String.raw`(?:^|[\s(\[„“"'«\u00a0-])(?:\p{L}|\p{L}\.\s?\p{L}|\d{1,3}|${ABBREVIATIONS.join('|')})\.\s*$`,
  'u',
);
/** The end of a segment, which is all that an abbreviation can be told by. */
const TAIL = 16;

let segmenter: Intl.Segmenter | undefined;

/**
 * Cuts a text into sentences as Unicode does, without the places where a full stop ends an abbreviation, an initial or the number of a day: half a
 * sentence quotes nothing. In their order, each without the white space around it.
 */
export function sentencesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'sentence' });
  const sentences: string[] = [];
  let open = '';
  for (const { segment } of segmenter.segment(text)) {
    open += segment;
    if (GOES_ON.test(open.slice(-TAIL))) continue;
    sentences.push(open.trim());
    open = '';
  }
  if (open.trim() !== '') sentences.push(open.trim());
  return sentences.filter((sentence) => sentence !== '');
}
