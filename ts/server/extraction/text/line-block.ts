/** Source code, SQL, YAML and other texts whose lines stay as they are: blocks end at blank lines, where they are long enough. */
import type { BlockList } from '../block-list.ts';

const MIN_LINES = 8;
const MAX_LINES = 60;

export function readLines(text: string, blocks: BlockList): void {
  let lines: string[] = [];
  const flush = () => {
    blocks.code(lines.join('\n'));
    lines = [];
  };
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const isBlank = line.trim() === '';
    if ((isBlank && lines.length >= MIN_LINES) || lines.length >= MAX_LINES) flush();
    if (!isBlank || lines.length > 0) lines.push(line);
  }
  flush();
}
