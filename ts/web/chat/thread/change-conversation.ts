/** Changes what is kept with the open conversation: its title, its preferences, the branch that it goes on with. */
import { call } from '../../api/call.ts';
import { chooseModel } from '../composer/models.ts';
import { givenPreferences, NO_PREFERENCES, type Preferences, readPreferences } from '../composer/preferences.ts';
import { upsertConversation } from '../sidebar/conversation-list.ts';
import type { Message } from './message.ts';
import { conversation, leafId, messages, preferences } from './shown-thread.ts';
import { latestLeaf, siblingsOf } from './thread-tree.ts';

/** Throws Refusal. */
export async function changeOpen(changes: {
  title?: string;
  model?: string;
  current_message_id?: string;
  metadata?: Record<string, unknown>;
}): Promise<void> {
  const current = conversation.value;
  if (current === undefined) return;
  const changed = await call('PATCH /api/v1/edge/conversations', { body: { id: current.id, ...changes } });
  if (conversation.value?.id === changed.id) conversation.value = changed;
  upsertConversation(changed);
}

export async function showBranch(message: Message, step: -1 | 1): Promise<void> {
  const siblings = siblingsOf(messages.value, message);
  const next = siblings[siblings.findIndex(({ id }) => id === message.id) + step];
  const current = conversation.value;
  if (next === undefined || current === undefined) return;
  leafId.value = latestLeaf(messages.value, next.id);
  await changeOpen({ current_message_id: leafId.value });
}

export async function keepPreferences(given: Preferences): Promise<void> {
  preferences.value = given;
  await changeOpen({ metadata: { ...keptMetadata(), ...givenPreferences(given) } });
}

/** The change holds from now on, here and where the open conversation is opened again. Throws Refusal. */
export async function keepModel(id: string): Promise<void> {
  chooseModel(id);
  if (conversation.value !== undefined && conversation.value.model !== id) await changeOpen({ model: id });
}

/** Answers of the conversation are looked up in these bases, too, whether it is open or not. Throws Refusal. */
export async function addKnowledge(id: string, names: readonly string[]): Promise<void> {
  if (conversation.value?.id === id) return keepPreferences(withKnowledge(preferences.value, names));
  // One that was erased is refused here, and not begun anew below.
  await call('GET /api/v1/edge/conversations/messages', { query: { id, limit: 1 } });
  const { metadata } = await call('POST /api/v1/edge/conversations', { body: { id } });
  const given = withKnowledge(readPreferences(metadata), names);
  const changed = { ...keptMetadata(metadata), ...givenPreferences(given) };
  upsertConversation(await call('PATCH /api/v1/edge/conversations', { body: { id, metadata: changed } }));
}

export function withKnowledge(given: Preferences, names: readonly string[]): Preferences {
  return { ...given, knowledge: [...new Set([...given.knowledge, ...names])] };
}

/** What other clients keep there stays. */
function keptMetadata(metadata = conversation.value?.metadata): Record<string, unknown> {
  const names = Object.keys(NO_PREFERENCES);
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([name]) => !names.includes(name)));
}
