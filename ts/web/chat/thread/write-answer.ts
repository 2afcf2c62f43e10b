/** Shows an answer while it comes, and sees to it that what was written is stored. */
import type { Signal } from '@preact/signals';
import { Refusal } from '../../../client/refusal.ts';
import { call } from '../../api/call.ts';
import type { Chunk } from '../answers/completion.ts';
import type { LiveAnswer } from '../answers/live-answer.ts';
import { tellOtherTabs } from '../offline/other-tabs.ts';
import type { AnswerFacts, Conversation } from './message.ts';
import { currentVisit, failure, leafId, live, messages } from './shown-thread.ts';
import { appendMessage, lastSeq, listMessages, type NewMessage, showMessages } from './stored-messages.ts';

/** How long the server may take to store the part of an answer whose connection broke. */
const STORING_MS = 300;

/** Where an answer that is being written is shown, and why it could not be. */
interface AnswerPlace {
  live: Signal<LiveAnswer | undefined>;
  failure: Signal<unknown>;
}

const MAIN: AnswerPlace = { live, failure };

export async function writeAnswer(
  target: Conversation,
  writing: LiveAnswer,
  chunks: AsyncIterable<readonly Chunk[]>,
  { live, failure }: AnswerPlace = MAIN,
): Promise<void> {
  const isShown = currentVisit();
  failure.value = undefined;
  if (writing.parentId !== '') leafId.value = writing.parentId;
  live.value = writing;
  let ended: AnswerFacts['ended'];
  try {
    for await (const together of chunks) {
      if (together.some(({ isResumable }) => isResumable === true)) tellOtherTabs(target.id);
      for (const chunk of together) writing.take(chunk);
    }
  } catch (error) {
    ended = writing.isStopped || isCancelled(error) ? 'stopped' : 'broken';
    if (ended === 'broken' && isShown()) failure.value = error;
  }
  writing.flush();
  // Who has left hears nothing; the server stores the answer.
  if (!isShown()) return;
  try {
    const isStored = await showNew(target, writing.id, isShown);
    if (!isStored && (ended === undefined || !writing.isEmpty)) await keepAnswer(target, writing, ended, isShown);
  } catch (error) {
    if (isShown()) failure.value = error instanceof Refusal ? error : Refusal.unreachable(error);
  } finally {
    if (live.value === writing) live.value = undefined;
  }
}

/** Ends an answer for every page that shows it. Resolves when the part that was generated is stored. */
export async function endStream(id: string): Promise<void> {
  await call('DELETE /api/v1/edge/conversations/streams/{id}', { params: { id } });
}

/** Another page has stopped the answer. */
function isCancelled(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'answer_cancelled';
}

/** False: the answer is not among the messages that are stored. */
async function showNew(target: Conversation, id: string, isShown: () => boolean): Promise<boolean> {
  const found = await listMessages(target.id, lastSeq());
  if (!isShown()) return found.has(id);
  showMessages(target, [...found.values()]);
  // It may have been there before, as another tab's news.
  if (messages.value.has(id)) leafId.value = id;
  return messages.value.has(id);
}

/** The server may be about to store a part: it has it, or this page writes what it has. */
async function keepAnswer(
  target: Conversation,
  writing: LiveAnswer,
  ended: AnswerFacts['ended'],
  isShown: () => boolean,
): Promise<void> {
  // Ending a stream that has ended changes nothing, and is answered once its part is stored. One that the page aborted was none.
  if (ended === 'stopped' && !writing.abort.signal.aborted) await endStream(writing.stream).catch(() => undefined);
  else await new Promise((resolve) => setTimeout(resolve, STORING_MS));
  if (!isShown() || (await showNew(target, writing.id, isShown))) return;
  try {
    await appendMessage(target, messageOf(writing, ended));
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'message_conflict') || !(await showNew(target, writing.id, isShown)))
      throw error;
  }
}

function messageOf(writing: LiveAnswer, ended: AnswerFacts['ended']): NewMessage {
  const facts: AnswerFacts = { ...writing.finalFacts(), ...(ended === undefined ? {} : { ended }) };
  return {
    id: writing.id,
    role: 'assistant',
    content: writing.text,
    parent_id: writing.parentId,
    metadata: facts as Record<string, unknown>,
    ...(writing.model === '' ? {} : { model: writing.model }),
    ...(writing.citations.length === 0 ? {} : { citations: writing.citations }),
  };
}
