/** A piece of a document that is found and cited as one. */
export interface Passage {
  /** Counted from 0 within its document. */
  readonly seq: number;
  /** Of the stored text, from `start` to before `end`, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Headings that it stands below, outermost first, joined by ` > `. */
  readonly heading?: string;
  readonly page?: number;
  readonly sheet?: string;
  readonly slide?: number;
}

/** What stands before the passage where it is embedded and indexed, so that it is found by its title and headings as well. */
export function passagePrefix(
  title: string | undefined,
  { heading, page, sheet, slide }: Omit<Passage, 'seq' | 'start' | 'end' | 'text'>,
): string {
  const place = [
    page === undefined ? '' : `page ${page}`,
    sheet === undefined ? '' : `sheet ${sheet}`,
    slide === undefined ? '' : `slide ${slide}`,
  ];
  const parts = [title ?? '', heading ?? '', ...place].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join(' | ')}\n`;
}
