/** Two models side by side on one question: the second one's answer is a branch beside the first one's. */
import { computed, signal } from '@preact/signals';
import { complete, follow } from '../answers/completion.ts';
import { LiveAnswer } from '../answers/live-answer.ts';
import { chatModels, chosenModel } from '../composer/models.ts';
import { turnsTo } from '../thread/answer-question.ts';
import { changeOpen } from '../thread/change-conversation.ts';
import { type Conversation, newId } from '../thread/message.ts';
import { conversation, leafId, live, messages, onLeave, preferences } from '../thread/shown-thread.ts';
import { writeAnswer } from '../thread/write-answer.ts';

/** Answers to one question that are shown beside each other until the reader goes on with one. */
export interface AnswerPair {
  questionId: string;
  leftId: string;
  rightId: string;
}

const asked = signal<string | undefined>(undefined);
/** Undefined: one model answers. */
export const rivalModel = computed(() => chatModels.value.find(({ id }) => id === asked.value && id !== chosenModel.value)?.id);
export const rival = signal<LiveAnswer | undefined>(undefined);
export const rivalFailure = signal<unknown>(undefined);
export const pair = signal<AnswerPair | undefined>(undefined);
export const isWriting = computed(() => live.value !== undefined || rival.value !== undefined);

export function chooseRival(id: string | undefined): void {
  asked.value = id;
}

onLeave(() => {
  rival.value?.abort.abort();
  rival.value = undefined;
  pair.value = undefined;
  rivalFailure.value = undefined;
});

/** Begins when the first model's answer has begun, and ends when it is stored. */
export async function answerBeside(questionId: string): Promise<void> {
  const target = conversation.value;
  const model = rivalModel.value;
  const first = live.value;
  pair.value = undefined;
  if (target === undefined || model === undefined || first === undefined) return;
  const writing = new LiveAnswer(newId(), questionId);
  pair.value = { questionId, leftId: first.id, rightId: writing.id };
  const storage = { conversationId: target.id, id: writing.id, parentId: questionId, prefix: '' };
  const input = { model, turns: turnsTo(questionId), preferences: preferences.value, storage, signal: writing.abort.signal };
  await writeAnswer(target, writing, complete(input), { live: rival, failure: rivalFailure });
}

/** Two answers to one question that were being written when the page was loaded anew. */
export async function attachPair(target: Conversation, left: LiveAnswer, right: LiveAnswer): Promise<void> {
  pair.value = { questionId: left.parentId, leftId: left.id, rightId: right.id };
  await Promise.all([
    writeAnswer(target, left, follow(left.stream, left.abort.signal)),
    writeAnswer(target, right, follow(right.stream, right.abort.signal), { live: rival, failure: rivalFailure }),
  ]);
  if (pair.value?.leftId === left.id && messages.value.has(left.id)) leafId.value = left.id;
}

/** The conversation goes on with this one; the other stays as a branch. */
export async function goOnWith(id: string): Promise<void> {
  pair.value = undefined;
  if (!messages.value.has(id)) return;
  leafId.value = id;
  await changeOpen({ current_message_id: id });
}
