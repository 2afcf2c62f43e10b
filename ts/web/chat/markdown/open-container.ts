/**
 * A list or a table that is still being written. Its items and rows but the last one are complete: they stay as they are drawn, and the
 * text of the last one alone is read again.
 */
import type { Token } from './parser.ts';

export interface OpenContainer {
  /** `bullet_list_open`, `ordered_list_open` or `table_open`. */
  kind: string;
  /** Where items and rows are added. */
  element: HTMLElement;
  /** What has to stand before a row for it to be read as one. */
  prefix: string;
  /** Its items are paragraphs. */
  isLoose: boolean;
}

export interface Part {
  tokens: Token[];
  /** Line of its source. */
  line: number;
}

export interface Parts {
  open: Token[];
  parts: Part[];
  close: Token[];
}

/** Undefined for a block that has no parts that stand for themselves. */
export function partsOf(block: Token[]): Parts | undefined {
  const [first] = block;
  if (first?.type === 'bullet_list_open' || first?.type === 'ordered_list_open') return partsAt(block, 'list_item_open', 1);
  return first?.type === 'table_open' ? partsAt(block, 'tr_open', 2) : undefined;
}

/** The head of a table has a row, too: parts begin behind it. */
function partsAt(block: Token[], type: string, level: number): Parts | undefined {
  const from = Math.max(
    0,
    block.findIndex((token) => token.type === 'tbody_open'),
  );
  const begins = block.flatMap((token, index) => (index >= from && token.type === type && token.level === level ? [index] : []));
  const [firstAt] = begins;
  const end = block.findLastIndex((token) => token.type === type.replace('_open', '_close') && token.level === level) + 1;
  if (firstAt === undefined || end === 0) return undefined;
  const parts = begins.map((at, index) => ({
    tokens: block.slice(at, begins[index + 1] ?? end),
    line: block[at]?.map?.[0] ?? 0,
  }));
  return { open: block.slice(0, firstAt), parts, close: block.slice(end) };
}

/** Makes an item loose or tight, as those before it are. */
export function loosen(tokens: readonly Token[], isLoose: boolean): void {
  for (const token of tokens) {
    if ((token.type === 'paragraph_open' || token.type === 'paragraph_close') && token.level === 2) token.hidden = !isLoose;
  }
}

export function isLooseList(tokens: readonly Token[]): boolean {
  return tokens.some(({ type, level, hidden }) => type === 'paragraph_open' && level === 2 && !hidden);
}
