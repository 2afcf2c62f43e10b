/** Sends a question: it is stored and answered, by two models where the reader compares them. What cannot be sent waits in the outbox. */
import { Refusal } from '../../../client/refusal.ts';
import { answerBeside, pair } from '../compare/compare.ts';
import { keepForLater } from '../offline/outbox.ts';
import { answer } from '../thread/answer-question.ts';
import { placeQuestion } from '../thread/place-question.ts';
import { conversation, failure, leafId, messages, nextId } from '../thread/shown-thread.ts';
import type { Question } from './question.ts';

/** Throws Refusal for a question that was refused; one that no server heard of is kept. */
export async function send(question: Question): Promise<void> {
  failure.value = undefined;
  try {
    if (!navigator.onLine) throw Refusal.unreachable(undefined);
    if (await placeQuestion(question)) await answerQuestion(question.id);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unreachable') return keepForLater(question);
    if ((conversation.value?.id ?? nextId.value) === question.conversationId) failure.value = error;
    throw error;
  }
}

export async function answerQuestion(id: string): Promise<void> {
  await Promise.all([answer(id), answerBeside(id)]);
  // The next question follows the first model's answer unless the reader chooses the other.
  const { leftId } = pair.value ?? {};
  if (leftId !== undefined && messages.value.has(leftId)) leafId.value = leftId;
}
