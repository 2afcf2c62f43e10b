/** Ids that sort by the time of their making: UUIDs of version 7 (RFC 9562, section 5.7), as text. */
import { randomBytes } from 'node:crypto';

const TIME_ORDERED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let lastMs = 0;
/** Counts the ids of one millisecond, in the 12 bits that follow the time. */
let sequence = 0;

/** Later ids of this process are greater, also within a millisecond and when the clock is set back. */
export function newTimeOrderedId(nowMs = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (sequence < 0xfff) {
    sequence += 1;
  } else {
    lastMs += 1;
    sequence = 0;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const random = randomBytes(8);
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
  const tail = random.toString('hex');
  const count = sequence.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

export function isTimeOrderedId(text: string): boolean {
  return TIME_ORDERED_ID.test(text);
}
