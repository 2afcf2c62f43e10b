/** Questions that could not be sent, kept in the browser until the server is there again. */
import { computed, signal } from '@preact/signals';
import type { Question } from '../composer/question.ts';
import { conversation, nextId } from '../thread/shown-thread.ts';

const STORED_AT = 'svc.outbox';

interface Waiting {
  /** Which tab sends it. */
  tab: string;
  question: Question;
}

export const TAB = crypto.getRandomValues(new Uint32Array(2)).join('-');
const waiting = signal<readonly Waiting[]>(read());

/** Of the conversation that is shown. */
export const waitingHere = computed(() => {
  const shown = conversation.value?.id ?? nextId.value;
  return waiting.value.map(({ question }) => question).filter(({ conversationId }) => conversationId === shown);
});

export function keepForLater(question: Question): void {
  if (read().some((each) => each.question.id === question.id)) return;
  write([...read(), { tab: TAB, question }]);
}

/** The oldest one that this tab sends. */
export function nextWaiting(): Question | undefined {
  return read().find(({ tab }) => tab === TAB)?.question;
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
  const { tab, question } = (value ?? {}) as Partial<Waiting>;
  return typeof tab === 'string' && typeof question?.id === 'string' && typeof question.text === 'string';
}
