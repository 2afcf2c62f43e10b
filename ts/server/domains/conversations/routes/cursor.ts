/** Where a page of a list ended, as text for the client to hand back. */
import type { Conversation } from '../conversation.ts';
import { conversationError } from '../errors.ts';
import type { ConversationCursor } from '../store/conversation-store.ts';

const CURSOR = /^(\d{1,16})\.([A-Za-z0-9_-]{1,64})$/;

export function cursorText({ updatedAt, id }: Pick<Conversation, 'updatedAt' | 'id'>): string {
  return `${updatedAt}.${id}`;
}

/** Throws ConversationError `invalid_request`. */
export function readCursor(text: string): ConversationCursor {
  const [, time, id] = CURSOR.exec(text) ?? [];
  const updatedAt = Number(time);
  if (id !== undefined && Number.isSafeInteger(updatedAt)) return { updatedAt, id };
  throw conversationError('invalid_request', '`after` is not the `next` of a page before; leave it out to begin anew.');
}
