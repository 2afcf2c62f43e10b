/** Which cell styles of a workbook show a number as a date: a cell holds nothing but the number of days since 1900 or 1904. */
import type { PackageParts } from './package-parts.ts';

const DAY_MS = 86_400_000;
/** Day 0 of both calendars. That of 1900 has a 29 February 1900, which there was not; days before it are one off, as in Excel itself. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const MAX_DAYS = 2_958_465;

export class NumberFormats {
  readonly #dateStyles: ReadonlySet<number>;
  readonly #epoch: number;

  private constructor(dateStyles: ReadonlySet<number>, is1904: boolean) {
    this.#dateStyles = dateStyles;
    this.#epoch = is1904 ? EPOCH_1904 : EPOCH_1900;
  }

  static async read(parts: PackageParts, name: string | undefined, is1904: boolean): Promise<NumberFormats> {
    const dateFormats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
    const dateStyles = new Set<number>();
    let isInCellFormats = false;
    let nStyles = 0;
    await parts.readOptional(name, {
      open: (element, attributes) => {
        if (element === 'numFmt' && isDateCode(attributes['formatCode'] ?? '')) dateFormats.add(Number(attributes['numFmtId']));
        else if (element === 'cellXfs') isInCellFormats = true;
        else if (element === 'xf' && isInCellFormats) {
          if (dateFormats.has(Number(attributes['numFmtId']))) dateStyles.add(nStyles);
          nStyles++;
        }
      },
      close: (element) => {
        if (element === 'cellXfs') isInCellFormats = false;
      },
    });
    return new NumberFormats(dateStyles, is1904);
  }

  /** A date as ISO 8601 writes it, without a time of midnight; other numbers as they are. */
  show(value: string, style: number): string {
    const days = Number(value);
    if (!this.#dateStyles.has(style) || !(days >= 0 && days <= MAX_DAYS)) return value;
    const iso = new Date(this.#epoch + Math.round(days * DAY_MS)).toISOString();
    if (days < 1) return iso.slice(11, 19);
    return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 19).replace('T', ' ');
  }
}

/** Letters for years, months, days, hours or seconds, outside of quoted text, colours and conditions. */
function isDateCode(code: string): boolean {
  return /[ymdhs]/i.test(code.slice(0, 500).replace(/"[^"]*"|\[[^[\]]*\]|\\./g, '')) && !/general/i.test(code);
}
