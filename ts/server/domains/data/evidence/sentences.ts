/**
 * Cuts a text into sentences as Unicode does, without the places where a full stop ends an abbreviation, an initial or the number of a day:
 * half a sentence quotes nothing.
 */

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

/** In their order, each without the white space around it. */
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
