/** Stores a question in its conversation, which it may begin. */
import { call } from '../../api/call.ts';
import type { Question } from '../composer/question.ts';
import { upsertConversation } from '../sidebar/conversation-list.ts';
import { addKnowledge } from './change-conversation.ts';
import type { Conversation, WholeConversation } from './message.ts';
import { conversation, leafId, nextId } from './shown-thread.ts';
import { appendMessage } from './stored-messages.ts';

/** The question is stored once, however often it is tried. True: its conversation is open, and it can be answered. Throws Refusal. */
export async function placeQuestion(question: Question): Promise<boolean> {
  const isOpen = (): boolean => (conversation.value?.id ?? nextId.value) === question.conversationId;
  const target = question.begins === undefined ? { id: question.conversationId } : await begin(question, isOpen);
  const { id, text: content, metadata, knowledge } = question;
  if (knowledge !== undefined) await addKnowledge(target.id, knowledge);
  const parentId = question.parentId === undefined && isOpen() ? (leafId.value ?? null) : question.parentId;
  await appendMessage(target, {
    id,
    role: 'user',
    content,
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, unknown> }),
  });
  return isOpen();
}

/** One that began with its files has nothing else yet. */
async function named(
  found: WholeConversation,
  { temporary, ...begins }: NonNullable<Question['begins']>,
): Promise<WholeConversation> {
  const isKept = found.temporary && !temporary;
  if (found.message_count > 0 || (!isKept && found.title !== '')) return found;
  const body = { id: found.id, ...begins, ...(isKept ? { temporary: false as const } : {}) };
  return await call('PATCH /api/v1/edge/conversations', { body });
}

async function begin({ conversationId: id, begins }: Question, isOpen: () => boolean): Promise<Conversation> {
  const found = await call('POST /api/v1/edge/conversations', { body: { id, ...begins } });
  const made = begins === undefined ? found : await named(found, begins);
  if (isOpen()) conversation.value = made;
  upsertConversation(made);
  return made;
}
