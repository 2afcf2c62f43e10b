/** Has a question answered whose conversation is not open: the server stores the answer. */
import { call } from '../../api/call.ts';
import { complete } from '../answers/completion.ts';
import { readPreferences } from '../composer/preferences.ts';
import type { Question } from '../composer/question.ts';
import { type Message, newId } from '../thread/message.ts';
import { listMessages } from '../thread/stored-messages.ts';
import { pathTo } from '../thread/thread-tree.ts';
import { turnOf } from '../thread/turns.ts';

/** Resolves when it is answered. Throws Refusal. */
export async function answerAway({ id, conversationId }: Question): Promise<void> {
  const messages = await listMessages(conversationId);
  // It is there, since the question is: the request tells its model and its instructions.
  const { model, metadata } = await call('POST /api/v1/edge/conversations', { body: { id: conversationId } });
  const question = messages.get(id);
  if (question === undefined || isAnswered(messages, id)) return;
  const storage = { conversationId, id: newId(), parentId: id, prefix: '' };
  const { signal } = new AbortController();
  const preferences = readPreferences(metadata);
  const turns = pathTo(messages, id).map(turnOf);
  for await (const _ of complete({ model: model ?? '', turns, preferences, storage, signal })) {
    // Nobody looks on.
  }
}

export function isAnswered(messages: ReadonlyMap<string, Message>, id: string): boolean {
  return [...messages.values()].some(({ parent_id }) => parent_id === id);
}
