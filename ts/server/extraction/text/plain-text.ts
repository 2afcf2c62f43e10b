/** Text without structure: paragraphs are what blank lines part. */
import type { BlockList } from '../block-list.ts';

export function readPlainText(text: string, blocks: BlockList): void {
  for (const paragraph of splitParagraphs(text)) blocks.paragraph(paragraph);
}

function splitParagraphs(text: string): string[] {
  return text.replace(/\r\n?/g, '\n').split(/\n[^\S\n]*\n\s*/);
}
