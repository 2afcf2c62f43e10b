/** Markdown: headings, paragraphs, fenced code and tables. Marks inside a line stay, since they do not keep words from being found. */
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX_HEADING = /^ {0,3}(#{1,6})[ \t](.*)$/;
/** Signs at the end of a heading's line, which close it (CommonMark section 4.2). */
const CLOSING_SIGNS = /(?<![ \t])[ \t]+#+$/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;

export class MarkdownReader {
  title: string | undefined;
  readonly #blocks: BlockList;
  readonly #table: TableRows;
  #paragraph: string[] = [];
  #code: string[] = [];
  #fence: string | undefined;
  #isInTable = false;

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
    this.#table = new TableRows(blocks);
  }

  read(text: string): void {
    const lines = text.replace(/\r\n?/g, '\n').split('\n');
    for (let i = frontMatterEnd(lines); i < lines.length; i++) this.#line(lines[i] ?? '', lines[i + 1] ?? '');
    this.#endCode();
    this.#endParagraph();
    this.#endTable();
  }

  #line(line: string, next: string): void {
    if (this.#fence !== undefined) {
      this.#codeLine(line);
      return;
    }
    const fence = FENCE.exec(line)?.[1];
    const heading = ATX_HEADING.exec(line);
    if (fence !== undefined) this.#beginCode(fence);
    else if (heading !== null) this.#heading((heading[2] ?? '').trim().replace(CLOSING_SIGNS, ''), heading[1]?.length ?? 1);
    else if (this.#isInTable || (line.includes('|') && TABLE_RULE.test(next) && next.includes('-'))) this.#tableLine(line);
    else if (line.trim() === '') this.#endParagraph();
    else if (this.#paragraph.length > 0 && /^ {0,3}(=+|-+)[ \t]*$/.test(line)) this.#underlined(line);
    else this.#paragraph.push(line);
  }

  #heading(text: string, level: number): void {
    this.#endParagraph();
    if (level === 1) this.title ??= text;
    this.#blocks.heading(text, level);
  }

  /** A heading whose line is underlined (CommonMark section 4.3). */
  #underlined(line: string): void {
    const text = this.#paragraph.join(' ');
    this.#paragraph = [];
    this.#heading(text, line.includes('=') ? 1 : 2);
  }

  #beginCode(fence: string): void {
    this.#endParagraph();
    this.#endTable();
    this.#fence = fence;
  }

  #codeLine(line: string): void {
    const closing = FENCE.exec(line)?.[1];
    if (closing?.startsWith(this.#fence ?? '') && line.trim() === closing) this.#endCode();
    else this.#code.push(line);
  }

  #endCode(): void {
    this.#blocks.code(this.#code.join('\n'));
    this.#code = [];
    this.#fence = undefined;
  }

  #tableLine(line: string): void {
    this.#endParagraph();
    if (!line.includes('|')) {
      this.#endTable();
      if (line.trim() !== '') this.#paragraph.push(line);
      return;
    }
    if (!TABLE_RULE.test(line)) this.#table.add(cellsOf(line), !this.#isInTable);
    this.#isInTable = true;
  }

  #endTable(): void {
    this.#table.end();
    this.#isInTable = false;
  }

  #endParagraph(): void {
    if (this.#paragraph.length > 0) this.#blocks.paragraph(this.#paragraph.join('\n'));
    this.#paragraph = [];
  }
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|'));
}

/** YAML between two lines of dashes at the top says things about the document, and is no text of it. */
function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== '---') return 0;
  const end = lines.slice(0, 200).findIndex((line, i) => i > 0 && line.trim() === '---');
  return end + 1;
}
