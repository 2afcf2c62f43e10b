/** The conversation that is open: its messages, the branch that is shown, and the answer that is being written. */
import { computed, signal } from '@preact/signals';
import type { LiveAnswer } from '../answers/live-answer.ts';
import { NO_PREFERENCES, type Preferences } from '../composer/preferences.ts';
import type { SharedThread } from '../sharing/shared-thread.ts';
import { type Message, newId, type WholeConversation } from './message.ts';
import { latestLeaf, pathTo } from './thread-tree.ts';

export const conversation = signal<WholeConversation | undefined>(undefined);
export const messages = signal<ReadonlyMap<string, Message>>(new Map());
export const leafId = signal<string | undefined>(undefined);
export const live = signal<LiveAnswer | undefined>(undefined);
export const failure = signal<unknown>(undefined);
export const preferences = signal<Preferences>(NO_PREFERENCES);
export const isLoading = signal(false);
/** Whether the next conversation is temporary. */
export const isTemporary = signal(false);
/** The id that the next conversation will have, so that one that is begun again is begun once. */
export const nextId = signal(newId());
/** Somebody else's, which can be read and copied. */
export const shared = signal<SharedThread | undefined>(undefined);
/** A message that the reader wants to see, until it is shown. */
export const sought = signal<string | undefined>(undefined);
export const path = computed(() => pathTo(messages.value, leafId.value));

let nShown = 0;
const whenLeft: (() => void)[] = [];

/** Runs for what belongs to the shown conversation and is kept elsewhere. */
export function onLeave(run: () => void): void {
  whenLeft.push(run);
}

/** Says whether what is shown now is still shown, so that an answer to an earlier question of another conversation changes nothing. */
export function currentVisit(): () => boolean {
  const own = nShown;
  return () => own === nShown;
}

export function beginNew(): void {
  leave();
  setThread([], undefined);
  conversation.value = undefined;
  nextId.value = newId();
  isTemporary.value = false;
  preferences.value = NO_PREFERENCES;
}

export function showShared(thread: SharedThread): void {
  leave();
  conversation.value = undefined;
  shared.value = thread;
  setThread(thread.messages, thread.messages.at(-1)?.id);
}

export function setThread(all: readonly Message[], leaf: string | undefined): void {
  messages.value = new Map(all.map((message) => [message.id, message]));
  leafId.value = leaf;
}

/** Shows the branch of the message that is sought, once it is there. */
export function showSought(): void {
  const id = sought.value;
  if (id === undefined || !messages.value.has(id) || path.value.some((message) => message.id === id)) return;
  leafId.value = latestLeaf(messages.value, id);
}

/** An answer that is being written goes on at the server, which stores it. */
export function leave(): void {
  nShown++;
  sought.value = undefined;
  shared.value = undefined;
  for (const run of whenLeft) run();
  live.value?.abort.abort();
  live.value = undefined;
  failure.value = undefined;
  isLoading.value = false;
}
