/** Messages of a conversation as the server has them. */
import { call, request } from '../../api/call.ts';
import { upsertConversation } from '../sidebar/conversation-list.ts';
import type { Conversation, Message } from './message.ts';
import { conversation, leafId, messages } from './shown-thread.ts';

export interface NewMessage {
  id: string;
  role: 'user' | 'assistant';
  content: string;
  parent_id?: string | null;
  model?: string;
  citations?: unknown[];
  metadata?: Record<string, unknown>;
}

/** Lists messages by id, in their order: those behind the one that `after` counts. Throws Refusal. */
export async function listMessages(id: string, after?: number, isWanted = () => true): Promise<Map<string, Message>> {
  const found = new Map<string, Message>();
  let next = after;
  do {
    const page = await call('GET /api/v1/edge/conversations/messages', {
      query: { id, after: next },
    });
    for (const message of page.data) found.set(message.id, message);
    next = page.next;
  } while (next !== undefined && isWanted());
  return found;
}

/** Throws Refusal. */
export async function appendMessage(target: Pick<Conversation, 'id'>, message: NewMessage): Promise<Message> {
  const response = await request('POST /api/v1/edge/conversations/messages', {
    body: { conversation_id: target.id, ...message },
  });
  const stored = (await response.json()) as Message;
  showMessages(target, [stored]);
  return stored;
}

/** Messages that were stored just now, the last of them at the end of the shown branch. */
export function showMessages(target: Pick<Conversation, 'id'>, stored: readonly Message[]): void {
  const last = stored.at(-1);
  const shown = conversation.value;
  if (shown?.id !== target.id || last === undefined) return;
  const known = new Map(messages.value);
  for (const message of stored) known.set(message.id, message);
  const version = shown.version + known.size - messages.value.size;
  messages.value = known;
  leafId.value = last.id;
  const changed = { ...shown, version, updated_at: last.ts, message_count: known.size, current_message_id: last.id };
  conversation.value = changed;
  upsertConversation(changed);
}

/** The last of the messages that are shown, as the server counts. */
export function lastSeq(): number {
  let last = 0;
  for (const { seq } of messages.value.values()) last = Math.max(last, seq);
  return last;
}
