/** Questions that could not be sent, kept in the browser until the server is there again. They are sent by the account that wrote them alone. */
import { computed, signal } from '@preact/signals';
import { accountId } from '../../session/session.ts';
import type { Question } from '../composer/question.ts';
import { conversation, messages, nextId } from '../thread/shown-thread.ts';

const STORED_AT = 'svc.outbox';

interface Waiting {
  /** Which tab sends it. */
  tab: string;
  account: string;
  question: Question;
  /** The server has it, and its answer is still to be asked for. */
  isPlaced?: boolean;
}

export const TAB = crypto.getRandomValues(new Uint32Array(2)).join('-');
const waiting = signal<readonly Waiting[]>(read());
/** Why the last try failed, where the server was there. */
export const heldBy = signal<unknown>(undefined);

/** What waits in the conversation that is shown. */
export const waitingHere = computed(() => {
  const shown = conversation.value?.id ?? nextId.value;
  return waiting.value
    .filter(({ account, question }) => account === accountId() && question.conversationId === shown)
    .map(({ question }) => question)
    .filter(({ id }) => !messages.value.has(id));
});

export function keepForLater(question: Question): void {
  const account = accountId();
  if (account === undefined || read().some((each) => each.question.id === question.id)) return;
  write([...read(), { tab: TAB, account, question }]);
}

/** The oldest one that this tab sends. */
export function nextWaiting(): Pick<Waiting, 'question' | 'isPlaced'> | undefined {
  return read().find(({ tab, account }) => tab === TAB && account === accountId());
}

export function notePlaced(id: string): void {
  write(read().map((each) => (each.question.id === id ? { ...each, isPlaced: true } : each)));
}

export function dropWaiting(id: string): void {
  write(read().filter(({ question }) => question.id !== id));
}

/** Takes over what tabs left that are no more. */
export function adoptWaiting(isAlive: (tab: string) => boolean): void {
  write(read().map((each) => (isAlive(each.tab) ? each : { ...each, tab: TAB })));
}

/** Another tab wrote. */
export function onStorage({ key }: StorageEvent): void {
  if (key === STORED_AT || key === null) waiting.value = read();
}

function write(all: readonly Waiting[]): void {
  if (all.length === 0) localStorage.removeItem(STORED_AT);
  else localStorage.setItem(STORED_AT, JSON.stringify(all));
  waiting.value = all;
}

function read(): Waiting[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AT) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isWaiting) : [];
  } catch {
    return [];
  }
}

function isWaiting(value: unknown): value is Waiting {
  const { tab, account, question } = (value ?? {}) as Partial<Waiting>;
  const isWhole = typeof question?.id === 'string' && typeof question.text === 'string';
  return typeof tab === 'string' && typeof account === 'string' && isWhole;
}
