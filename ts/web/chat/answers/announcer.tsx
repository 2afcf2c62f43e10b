/**
 * What screen readers hear of an answer: each block once, when it is complete. The text itself is no live region, since every
 * token would interrupt the one before.
 */
import { signal } from '@preact/signals';

const MAX_BLOCKS = 20;
const blocks = signal<readonly { id: number; text: string }[]>([]);
let lastId = 0;

export function announce(text: string): void {
  const trimmed = text.trim();
  if (trimmed === '') return;
  lastId++;
  blocks.value = [...blocks.value.slice(1 - MAX_BLOCKS), { id: lastId, text: trimmed }];
}

export function Announcer() {
  return (
    <div class="unseen" role="log" aria-live="polite" aria-relevant="additions">
      {blocks.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
