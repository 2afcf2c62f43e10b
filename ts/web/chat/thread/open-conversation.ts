/** Opens a conversation, and follows what other tabs and devices do to it. */
import { type Answer, call } from '../../api/call.ts';
import { follow } from '../answers/completion.ts';
import { LiveAnswer } from '../answers/live-answer.ts';
import { attachPair } from '../compare/compare.ts';
import { chosenModel } from '../composer/models.ts';
import { readPreferences } from '../composer/preferences.ts';
import { loadRenderer } from '../markdown/renderer.ts';
import type { Conversation, WholeConversation } from './message.ts';
import {
  conversation,
  currentVisit,
  isLoading,
  isTemporary,
  leafId,
  leave,
  live,
  messages,
  preferences,
  setThread,
  showSought,
} from './shown-thread.ts';
import { lastSeq, listMessages } from './stored-messages.ts';
import { writeAnswer } from './write-answer.ts';

type RunningStream = Answer<'GET /api/v1/edge/conversations/streams'>['data'][number];

/** Throws Refusal. */
export async function openConversation(id: string): Promise<void> {
  leave();
  const isShown = currentVisit();
  isLoading.value = true;
  loadRenderer();
  try {
    // Asked for before the messages: an answer that ends in between is among them then.
    const { data: streams } = await call('GET /api/v1/edge/conversations/streams', { query: { id } });
    const found = await listMessages(id, undefined, isShown);
    // A conversation has no route of its own: to begin one that is there already answers it as it is.
    const current = await call('POST /api/v1/edge/conversations', { body: { id } });
    if (!isShown()) return;
    conversation.value = current;
    setThread([...found.values()], current.current_message_id ?? undefined);
    showSought();
    isTemporary.value = current.temporary;
    preferences.value = readPreferences(current.metadata);
    if (current.model !== null) chosenModel.value = current.model;
    void attach(
      current,
      streams.filter(({ id, state }) => state === 'running' && !found.has(id)),
    );
  } finally {
    if (isShown()) isLoading.value = false;
  }
}

/** Another tab has asked something in this conversation. */
export function showAnswerOf(conversationId: unknown): void {
  const id = conversation.value?.id;
  // What cannot be loaded now is loaded when the reader comes back to it.
  if (id !== undefined && conversationId === id && live.value === undefined) void openConversation(id).catch(() => undefined);
}

/** What another tab or device did to the open conversation. While an answer is written here, its end brings the news. */
export async function catchUp(changed: WholeConversation): Promise<void> {
  const isShown = currentVisit();
  if (conversation.value?.id !== changed.id || changed.version <= conversation.value.version) return;
  if (live.value !== undefined) return;
  conversation.value = changed;
  const last = lastSeq();
  const found = changed.message_count > last ? await listMessages(changed.id, last, isShown) : new Map();
  if (!isShown() || live.value !== undefined) return;
  if (found.size > 0) messages.value = new Map([...messages.value, ...found]);
  const leaf = changed.current_message_id;
  if (leaf !== null && messages.value.has(leaf)) leafId.value = leaf;
}

/** Shows an answer, or two to one question, that is being written for another page, or was for this one before it was loaded anew. */
async function attach(target: Conversation, running: readonly RunningStream[]): Promise<void> {
  const last = running.at(-1);
  if (last === undefined || live.value !== undefined) return;
  const other = running.find(({ id, parent_id }) => id !== last.id && parent_id !== null && parent_id === last.parent_id);
  if (other !== undefined) {
    // Which of two began first is chance; the conversation's own model stands on the left.
    const [left, right] = last.model === chosenModel.value ? [last, other] : [other, last];
    await attachPair(target, resumed(left), resumed(right));
    return;
  }
  const writing = resumed(last);
  await writeAnswer(target, writing, follow(last.stream, writing.abort.signal));
}

function resumed({ id, stream, parent_id, prefix }: RunningStream): LiveAnswer {
  const writing = new LiveAnswer(id, parent_id ?? leafId.value ?? '', prefix);
  writing.isResumable = true;
  writing.stream = stream;
  return writing;
}
