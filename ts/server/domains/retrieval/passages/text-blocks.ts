/** Blocks of plain text and of Markdown. Files of other kinds are extracted elsewhere. */
import type { Block } from '../../../extraction/extracted-document.ts';
import type { ExtractedDocument } from './document-text.ts';

export type TextFormat = 'text' | 'markdown';

export function readText(text: string, format: TextFormat): ExtractedDocument {
  const blocks = format === 'markdown' ? markdownBlocks(text) : plainBlocks(text);
  const title = format === 'markdown' ? blocks.find(({ type, level }) => type === 'heading' && level === 1)?.text : undefined;
  return { kind: format, blocks, ...(title === undefined ? {} : { title: title.slice(0, 200).toWellFormed() }) };
}

/** Told by the end of a file's name. */
export function formatOf(source: string): TextFormat {
  return /\.(?:md|markdown|mdx)$/i.test(source) ? 'markdown' : 'text';
}

function plainBlocks(text: string): Block[] {
  return text.split(/\n[ \t\r]*\n/).map((part) => ({ type: 'paragraph', text: part }));
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/;
const CLOSING_SIGNS = /(?<!#)#+$/;
/** Longer lines are no headings: a passage never cuts a heading. */
const MAX_HEADING_LINE = 1_000;

function markdownBlocks(text: string): Block[] {
  const reader = new MarkdownReader();
  for (const line of text.split('\n')) reader.take(line.replace(/\r$/, ''));
  reader.end();
  return reader.blocks;
}

/** Line by line: fences first, since what they hold is no markup. */
class MarkdownReader {
  readonly blocks: Block[] = [];
  #lines: string[] = [];
  #fence: string | undefined;

  take(line: string): void {
    if (this.#fence !== undefined) {
      this.#takeCode(line, this.#fence);
      return;
    }
    const fence = FENCE.exec(line)?.[1];
    const heading = line.length <= MAX_HEADING_LINE ? HEADING.exec(line) : null;
    if (fence !== undefined) {
      this.end();
      this.#fence = fence;
    } else if (heading !== null) {
      this.end();
      this.blocks.push({
        type: 'heading',
        level: heading[1]?.length ?? 1,
        text: (heading[2] ?? '').trim().replace(CLOSING_SIGNS, '').trimEnd(),
      });
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      this.end();
      if (!/^[\s|:-]+$/.test(line)) this.blocks.push({ type: 'table-row', text: line.trim() });
    } else if (line.trim() === '') this.end();
    else this.#lines.push(line);
  }

  /** Ends the open paragraph, or a fence that was never closed. */
  end(): void {
    if (this.#lines.length > 0)
      this.blocks.push({ type: this.#fence === undefined ? 'paragraph' : 'code', text: this.#lines.join('\n') });
    this.#lines = [];
    this.#fence = undefined;
  }

  #takeCode(line: string, fence: string): void {
    if (
      line
        .trimEnd()
        .replace(/^ {0,3}/, '')
        .startsWith(fence) &&
      /^[`~\s]+$/.test(line)
    )
      this.end();
    else this.#lines.push(line);
  }
}
