/** An answer as its message keeps it: nothing that the database or the limits of a message would refuse, since the answer is there already. */

import { MAX_JSON_LENGTH, MAX_MODEL_LENGTH, type MessageInput } from '../../conversations/index.ts';
import type { ConversationAnswer } from './open-conversation.ts';

/** Where all facts together are too long, the first of these goes first. */
const LONG_FACTS = ['reasoning', 'tool_calls'] as const;

type Stored = Pick<MessageInput, 'content' | 'model' | 'metadata' | 'citations'>;

export function storedAnswer({ content, model, facts, citations, cutBy }: ConversationAnswer): Stored {
  const metadata: Record<string, unknown> = { ...withoutNul(facts), ...(cutBy !== undefined && { incomplete: cutBy }) };
  for (const name of LONG_FACTS) if (isTooLong(metadata)) delete metadata[name];
  return {
    content: content.replaceAll('\0', '\uFFFD'),
    model: model.slice(0, MAX_MODEL_LENGTH),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(citations !== undefined && citations.length > 0 && !isTooLong(citations) && { citations: withoutNul(citations) }),
  };
}

function isTooLong(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_JSON_LENGTH;
}

/** PostgreSQL keeps no NUL in JSON either, escaped or not. */
function withoutNul<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? each.replaceAll('\0', '\uFFFD').toWellFormed() : each,
  ) as T;
}
