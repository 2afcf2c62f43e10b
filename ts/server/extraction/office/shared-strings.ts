/** The texts that the cells of a workbook share. Readings of Japanese words (`rPh`) are left out. */

import type { ExtractionLimits } from '../extraction-limits.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import type { PackageParts } from './package-parts.ts';

export async function readSharedStrings(
  parts: PackageParts,
  name: string | undefined,
  limits: ExtractionLimits,
): Promise<string[]> {
  const strings: string[] = [];
  let pieces: string[] = [];
  let nReadings = 0;
  let isText = false;
  let length = 0;
  await parts.readOptional(name, {
    open: (element) => {
      if (element === 'rPh') nReadings++;
      else if (element === 't') isText = true;
    },
    text: (text) => {
      if (!isText || nReadings > 0) return;
      pieces.push(text);
      length += text.length;
      if (length > limits.maxTextLength)
        throw new ExtractionRefusal('too_much_text', `The workbook has more than ${limits.maxTextLength} characters.`);
    },
    close: (element) => {
      if (element === 'rPh') nReadings--;
      else if (element === 't') isText = false;
      else if (element === 'si') strings.push(pieces.splice(0).join(''));
    },
  });
  pieces = [];
  return strings;
}
