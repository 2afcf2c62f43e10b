/** Messages out of a prompt that was ready before it was known that more belongs into it. */
import type { Text } from '../../native/llama-shapes.ts';
import { type QueuedBytes, takeQueuedBytes } from '../../platform/http/body/queued-bytes.ts';
import { type Members, messageText } from './compat/members.ts';
import { invalid } from './errors.ts';

/** More than any context takes as text, and little enough to be read in one turn of the event loop. */
const MOST_MESSAGE_BYTES = 4 * 1024 * 1024;

/** The value of a JSON text; what was queued is taken out of its queue. @param needed begins the refusal of longer ones: what reads them. */
export function parseText(text: Text, needed: string): unknown {
  if (typeof text === 'string') return JSON.parse(text);
  const sizeBytes = 'sizeBytes' in text ? text.sizeBytes : 'length' in text ? text.length : Number.POSITIVE_INFINITY;
  if (sizeBytes > MOST_MESSAGE_BYTES)
    throw invalid(
      'messages',
      `messages have ${sizeBytes} bytes, and ${needed} at most ${MOST_MESSAGE_BYTES} are answered; send fewer.`,
    );
  const bytes = text instanceof Uint8Array ? Buffer.from(text) : takeQueuedBytes(text as QueuedBytes);
  return JSON.parse(bytes.toString());
}

export function promptMessages(text: Text, needed: string): Members[] {
  return parseText(text, needed) as Members[];
}

/** The text of the last message of the user. */
export function lastQuestion(messages: readonly Members[]): string {
  return messageText(messages.findLast(({ role }) => role === 'user')?.['content']);
}

/** Texts of others for the model, one a line as JSON. No text can close the mark, since no line holds a `<`. */
export function dataLines(mark: string, rules: string, lines: readonly object[]): string {
  const quoted = lines.map((line) =>
    JSON.stringify(line).replace(
      /[<>\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
  return [`<${mark}>`, rules, ...quoted, `</${mark}>`].join('\n');
}

/** In front of the question, so that what was said before it stays as the model has it cached. */
export function withData(messages: readonly Members[], text: string): Members[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, i) => {
    if (i !== last) return message;
    const { content } = message;
    if (Array.isArray(content)) return { ...message, content: [{ type: 'text', text: `${text}\n\n` }, ...content] };
    return { ...message, content: `${text}\n\n${messageText(content)}` };
  });
}
