/** Which sizes of type are those of headings: larger than that of most of the text. */
import type { PageLine } from './page-line.ts';

const MIN_RATIO = 1.15;
const MAX_HEADING_LENGTH = 200;
const MAX_LEVELS = 6;

export class HeadingSizes {
  /** From the largest; index 0 is level 1. */
  readonly #sizes: readonly number[];

  constructor(lines: readonly PageLine[]) {
    const lengths = new Map<number, number>();
    for (const { size, cells } of lines) {
      const rounded = roundSize(size);
      lengths.set(rounded, (lengths.get(rounded) ?? 0) + cells.reduce((sum, cell) => sum + cell.length, 0));
    }
    const body = [...lengths].sort(([, p], [, q]) => q - p)[0]?.[0] ?? 0;
    this.#sizes = [...lengths.keys()]
      .filter((size) => size >= body * MIN_RATIO)
      .sort((p, q) => q - p)
      .slice(0, MAX_LEVELS);
  }

  /** Undefined: the line is no heading. */
  levelOf({ size, cells }: PageLine): number | undefined {
    const [text = ''] = cells;
    if (cells.length > 1 || text.length > MAX_HEADING_LENGTH || !/[\p{L}\p{N}]/u.test(text)) return undefined;
    const index = this.#sizes.indexOf(roundSize(size));
    return index === -1 ? undefined : index + 1;
  }
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}
