/** Asks for answers in the open conversation: the first, another one, the rest of one. */
import { type ChatTurn, complete } from '../answers/completion.ts';
import { LiveAnswer } from '../answers/live-answer.ts';
import { chosenModel } from '../composer/models.ts';
import { factsOf, type Message, newId } from './message.ts';
import { conversation, live, messages, path, preferences } from './shown-thread.ts';
import { pathTo } from './thread-tree.ts';
import { turnOf } from './turns.ts';
import { endStream, writeAnswer } from './write-answer.ts';

const CONTINUE = 'Continue exactly where your last message stops. Do not repeat any of it.';

export async function answer(parentId: string, text = '', turns = turnsTo(parentId)): Promise<void> {
  const target = conversation.value;
  if (target === undefined || live.value !== undefined) return;
  const model = chosenModel.value ?? target.model ?? '';
  const writing = new LiveAnswer(newId(), parentId, text);
  const storage = { conversationId: target.id, id: writing.id, parentId, prefix: text };
  const { signal } = writing.abort;
  await writeAnswer(target, writing, complete({ model, turns, preferences: preferences.value, storage, signal }));
}

export function turnsTo(id: string): ChatTurn[] {
  return pathTo(messages.value, id).map(turnOf);
}

/** Another answer to the question that a message answers. */
export async function regenerate(message: Message): Promise<void> {
  if (message.parent_id !== null) await answer(message.parent_id);
}

/** Answers the question that has no answer yet, after a failure. */
export async function answerLast(): Promise<void> {
  const last = path.value.at(-1);
  if (last?.role === 'user') await answer(last.id);
}

/** The same answer, written further, as a branch beside it. */
export async function continueAnswer(message: Message): Promise<void> {
  if (message.parent_id === null) return;
  const turns = turnsTo(message.id);
  await answer(message.parent_id, message.content, [...turns, { role: 'user', content: CONTINUE }]);
}

export function stop(): void {
  stopAnswer(live.value);
}

/** Ends the answer for every page that shows it. */
export function stopAnswer(writing: LiveAnswer | undefined): void {
  if (writing === undefined) return;
  writing.isStopped = true;
  endStream(writing.stream).catch(() => {
    writing.abort.abort();
    // It may have begun meanwhile, and then it goes on without its page.
    endStream(writing.stream).catch(() => undefined);
  });
}

export function lastAnswer(): Message | undefined {
  return path.value.findLast(({ role }) => role === 'assistant');
}

export function isCutShort(message: Message): boolean {
  const { ended, finish_reason } = factsOf(message);
  return ended !== undefined || finish_reason === 'length';
}
