/** Finds what a person would read aloud of a drawn answer: no code, no citation marks, no buttons; links by their names, tables cell by cell. */

/** A piece is one request: the first is one sentence, so that it is heard soon; the others are longer, and there are fewer pauses. */
const PIECE_LENGTH = 300;
const SILENT = 'pre, button, svg, .block-bar, .citation-chip, .katex, .unseen';
/** Each of them is said apart from what is before and behind it. */
const BLOCKS = 'p, li, blockquote, h1, h2, h3, h4, h5, h6, table, div, dd, dt, br, hr';
const ADDRESS = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/?#:]\S*)?$/i;
const HAS_WORDS = /[\p{L}\p{N}]/u;
const ENDS_SENTENCE = /[.!?…:;,)\]"”»。！？]$/u;

/** @param root a drawn answer. @param language BCP 47, which decides where sentences end. */
export function spokenPieces(root: Element, language: string): string[] {
  const sentences = spokenBlocks(root).flatMap((block) => sentencesOf(block, language));
  const pieces: string[] = [];
  for (const sentence of sentences) {
    const last = pieces.at(-1);
    const isJoined = pieces.length > 1 && last !== undefined && last.length + sentence.length < PIECE_LENGTH;
    if (isJoined) pieces[pieces.length - 1] = `${last} ${sentence}`;
    else pieces.push(sentence);
  }
  return pieces;
}

function spokenBlocks(root: Element): string[] {
  const blocks: string[] = [''];
  const say = (text: string): void => {
    blocks[blocks.length - 1] += text;
  };
  const visit = (node: Node): void => {
    if (node instanceof Text) say(node.data);
    if (!(node instanceof Element) || node.matches(SILENT)) return;
    if (node instanceof HTMLTableElement) blocks.push(...rowsOf(node), '');
    else if (node instanceof HTMLImageElement) say(node.alt);
    else if (node instanceof HTMLAnchorElement) say(linkText(node));
    else {
      const isBlock = node.matches(BLOCKS);
      if (isBlock) blocks.push('');
      for (const child of node.childNodes) visit(child);
      if (isBlock) blocks.push('');
    }
  };
  for (const child of root.childNodes) visit(child);
  // A citation mark leaves a space before the end of its sentence.
  return blocks
    .map((text) =>
      text
        .replace(/\s+/g, ' ')
        .replace(/ (?=[.,;:!?])/g, '')
        .trim(),
    )
    .filter((text) => HAS_WORDS.test(text));
}

/** An address is the host alone. */
function linkText(link: HTMLAnchorElement): string {
  const text = textOf(link);
  return ADDRESS.exec(text)?.[1] ?? text;
}

/** Each row with the heads of its columns. */
function rowsOf(table: HTMLTableElement): string[] {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(textOf);
  const rows = [...table.rows].filter((row) => row.parentElement !== table.tHead);
  return rows.map((row) =>
    [...row.cells]
      .map((cell, i) => [heads[i] ?? '', textOf(cell)].filter((text) => HAS_WORDS.test(text)).join(': '))
      .filter((text) => text !== '')
      .join(', '),
  );
}

function textOf(element: Element): string {
  const copy = element.cloneNode(true) as Element;
  for (const silent of copy.querySelectorAll(SILENT)) silent.remove();
  return (copy.textContent ?? '').trim();
}

function sentencesOf(block: string, language: string): string[] {
  const whole = ENDS_SENTENCE.test(block) ? block : `${block}.`;
  const segments = new Intl.Segmenter(language, { granularity: 'sentence' }).segment(whole);
  return [...segments].map(({ segment }) => segment.trim()).filter((text) => HAS_WORDS.test(text));
}
