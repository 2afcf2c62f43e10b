/** Messages of a prompt that was ready before it was known that passages belong into it. */

import type { Text } from '../../../../native/llama-shapes.ts';
import { type QueuedBytes, takeQueuedBytes } from '../../../../platform/http/body/queued-bytes.ts';
import { invalid } from '../../errors.ts';
import type { Members } from '../members.ts';

/** More than any context takes as text, and little enough to be read in one turn of the event loop. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Text that was queued is taken out of its queue. Throws CompletionError `invalid_request`. */
export function promptMessages(text: Text): Members[] {
  if (typeof text === 'string') return JSON.parse(text) as Members[];
  const sizeBytes = 'sizeBytes' in text ? text.sizeBytes : 'length' in text ? text.length : Number.POSITIVE_INFINITY;
  if (sizeBytes > MOST_BYTES)
    throw invalid(
      'messages',
      `messages have ${sizeBytes} bytes, and in a conversation with files at most ${MOST_BYTES} are answered; send fewer, or leave conversation_id out.`,
    );
  const bytes = text instanceof Uint8Array ? Buffer.from(text) : takeQueuedBytes(text as QueuedBytes);
  return JSON.parse(bytes.toString()) as Members[];
}
