/** From lines to headings, paragraphs and table rows. */
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';
import type { HeadingSizes } from './heading-sizes.ts';
import type { PageLine } from './page-line.ts';

/** In font sizes: lines further apart are of different paragraphs. */
const PARAGRAPH_GAP = 1.7;

export class LineBlocks {
  readonly #blocks: BlockList;
  readonly #sizes: HeadingSizes;
  readonly #table: TableRows;
  #lines: string[] = [];
  #last: PageLine | undefined;
  #level: number | undefined;

  constructor(blocks: BlockList, sizes: HeadingSizes) {
    this.#blocks = blocks;
    this.#sizes = sizes;
    this.#table = new TableRows(blocks);
  }

  add(line: PageLine): void {
    if (line.cells.length > 1) this.#tableRow(line);
    else this.#textLine(line);
    this.#last = line;
  }

  /** No block goes from one page to another, so that each has its page. */
  endPage(): void {
    this.#endText();
    this.#table.end();
    this.#last = undefined;
  }

  #tableRow(line: PageLine): void {
    this.#endText();
    this.#blocks.place = { page: line.page };
    this.#table.add(line.cells);
  }

  #textLine(line: PageLine): void {
    if ((this.#last?.cells.length ?? 1) > 1) this.#table.end();
    const level = this.#sizes.levelOf(line);
    if (this.#lines.length > 0 && (level !== this.#level || this.#isApart(line))) this.#endText();
    this.#blocks.place = { page: line.page };
    this.#level = level;
    this.#lines.push(line.cells[0] ?? '');
  }

  #isApart(line: PageLine): boolean {
    const last = this.#last;
    if (last === undefined || line.isFirst) return true;
    const gap = line.y - last.y;
    return gap < 0 || gap > Math.max(line.size, last.size) * PARAGRAPH_GAP;
  }

  #endText(): void {
    const text = joinLines(this.#lines.splice(0));
    if (text === '') return;
    if (this.#level === undefined) this.#blocks.paragraph(text);
    else this.#blocks.heading(text, this.#level);
  }
}

/** A word that was parted at the end of a line is one again; other lines are joined by a space, but for scripts that write none. */
function joinLines(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    if (text === '') text = line;
    else if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line)) text = text.slice(0, -1) + line;
    else if (
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。]$/u.test(text) &&
      /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(line)
    )
      text += line;
    else text += ` ${line}`;
  }
  // The dots of a table of contents.
  return text.replace(/(?:\s?\.){5,}/g, ' … ');
}
