/** Sends what waits in the outbox when the server is there again: at once when the browser says so, else by trying now and then. */
import { effect } from '@preact/signals';
import { Refusal } from '../../api/refusal.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { isWriting } from '../compare/compare.ts';
import type { Question } from '../composer/question.ts';
import { answerQuestion } from '../composer/send.ts';
import { placeQuestion } from '../thread/place-question.ts';
import { answerAway } from './answer-away.ts';
import { adoptWaiting, dropWaiting, nextWaiting, onStorage, TAB } from './outbox.ts';

const TRY_EVERY_MS = 5_000;
const LOCK = 'svc.tab.';

let isSending = false;

export function startDelivery(): void {
  addEventListener('storage', onStorage);
  addEventListener('online', () => void sendWaiting());
  setInterval(() => void sendWaiting(), TRY_EVERY_MS);
  effect(() => {
    if (!isWriting.value) queueMicrotask(() => void sendWaiting());
  });
  void adopt().then(sendWaiting);
}

/** Each tab holds a lock for its life; plain HTTP has no locks, and then every new tab takes over. */
async function adopt(): Promise<void> {
  if (navigator.locks === undefined) return adoptWaiting(() => false);
  void navigator.locks.request(`${LOCK}${TAB}`, () => new Promise(() => {}));
  const { held = [] } = await navigator.locks.query();
  const names = new Set(held.map(({ name }) => name));
  adoptWaiting((tab) => names.has(`${LOCK}${tab}`));
}

async function sendWaiting(): Promise<void> {
  if (isSending) return;
  isSending = true;
  try {
    for (let question = nextWaiting(); question !== undefined && !isWriting.value && navigator.onLine; question = nextWaiting())
      await sendOne(question);
  } catch {
    // The server is still away; the next try is in a moment.
  } finally {
    isSending = false;
  }
}

/** Throws Refusal `unreachable`. */
async function sendOne(question: Question): Promise<void> {
  try {
    const isOpen = await placeQuestion(question);
    dropWaiting(question.id);
    if (isOpen) await answerQuestion(question.id);
    else await answerAway(question);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unreachable') throw error;
    // The server heard of it and refuses it: it would do so again.
    dropWaiting(question.id);
    showToast(t('waiting_refused', { reason: explain(error) }));
  }
}
