/** Documents in parts that each fit into a row. */
import type { Block } from '../../../extraction/extracted-document.ts';
import { PART_CHARACTERS } from '../limits.ts';

/** Never cuts a surrogate pair. */
export function textParts(text: string): string[] {
  const clean = text.replaceAll('\0', '').toWellFormed();
  const parts: string[] = [];
  for (let at = 0; at < clean.length; ) {
    const end = Math.min(clean.length, at + PART_CHARACTERS);
    const whole = /[\udc00-\udfff]/.test(clean.charAt(end)) ? end - 1 : end;
    parts.push(clean.slice(at, whole));
    at = whole;
  }
  return parts;
}

export function blockParts(blocks: readonly Block[]): string[] {
  const parts: string[] = [];
  let open: object[] = [];
  let size = 0;
  for (const block of blocks) {
    open.push({ ...block, text: block.text.replaceAll('\0', '').toWellFormed() });
    size += block.text.length;
    if (size < PART_CHARACTERS) continue;
    parts.push(JSON.stringify(open));
    open = [];
    size = 0;
  }
  return open.length > 0 ? [...parts, JSON.stringify(open)] : parts;
}
