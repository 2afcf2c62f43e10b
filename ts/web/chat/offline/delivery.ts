/** Sends what waits in the outbox when the server is there again: at once when the browser says so, else by trying now and then. */
import { effect } from '@preact/signals';
import { Refusal } from '../../../client/refusal.ts';
import { call } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { accountId } from '../../session/session.ts';
import { complete } from '../answers/completion.ts';
import { isWriting } from '../compare/compare.ts';
import { readPreferences } from '../composer/preferences.ts';
import type { Question } from '../composer/question.ts';
import { restoreDraft } from '../composer/restore-draft.ts';
import { answerQuestion } from '../composer/send.ts';
import { type Message, newId } from '../thread/message.ts';
import { placeQuestion } from '../thread/place-question.ts';
import { conversation, failure, leafId, messages } from '../thread/shown-thread.ts';
import { listMessages } from '../thread/stored-messages.ts';
import { pathTo } from '../thread/thread-tree.ts';
import { turnOf } from '../thread/turns.ts';
import { adoptWaiting, dropWaiting, heldBy, nextWaiting, notePlaced, onStorage, TAB } from './outbox.ts';

const TRY_EVERY_MS = 5_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
const LOCK = 'svc.tab.';

let isSending = false;
let pauseMs = 0;
let notBefore = 0;

export function startDelivery(): void {
  addEventListener('storage', onStorage);
  addEventListener('online', () => {
    notBefore = 0;
    void sendWaiting();
  });
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
  if (isSending || performance.now() < notBefore || nextWaiting() === undefined) return;
  isSending = true;
  try {
    while (nextWaiting() !== undefined && !isWriting.value && navigator.onLine && (await isStillOwn())) {
      const next = nextWaiting();
      if (next === undefined) break;
      await sendOne(next);
      pauseMs = 0;
      heldBy.value = undefined;
    }
  } catch (error) {
    holdBack(error);
  } finally {
    isSending = false;
  }
}

/** Another tab may have signed in as somebody else meanwhile. Throws Refusal. */
async function isStillOwn(): Promise<boolean> {
  const { user } = await call('GET /api/v1/auth/whoami');
  return (user?.id ?? '') === accountId();
}

/** A server that is away is tried again in a moment; one that refuses for now, more and more rarely. */
function holdBack(error: unknown): void {
  const isAway = error instanceof Refusal && error.code === 'unreachable';
  heldBy.value = isAway ? undefined : error;
  pauseMs = isAway ? 0 : Math.min(2 * Math.max(pauseMs, TRY_EVERY_MS), LONGEST_PAUSE_MS);
  notBefore = performance.now() + pauseMs;
}

/** Throws Refusal where it is to be tried again later. */
async function sendOne({ question, isPlaced = false }: NonNullable<ReturnType<typeof nextWaiting>>): Promise<void> {
  if (!isPlaced && !(await place(question))) return;
  try {
    await answerPlaced(question, isPlaced);
  } catch (error) {
    // Its conversation offers to try again; what a model says would be the same.
    if (mayPass(error) && (error as Refusal).status !== 500) throw error;
  }
  dropWaiting(question.id);
}

/** False: the server heard of it and refuses it, as it would again. No text is lost by that. */
async function place(question: Question): Promise<boolean> {
  try {
    await placeQuestion(question);
    notePlaced(question.id);
    return true;
  } catch (error) {
    if (mayPass(error)) throw error;
    dropWaiting(question.id);
    restoreDraft(question);
    showToast(t('waiting_refused', { reason: explain(error) }));
    return false;
  }
}

/** Throws Refusal. */
async function answerPlaced(question: Question, isOlder: boolean): Promise<void> {
  const { id, conversationId } = question;
  if (conversation.value?.id !== conversationId || !messages.value.has(id)) return answerAway(question);
  // The reader may have seen to it, or have gone on elsewhere.
  if (isOlder && (isAnswered(messages.value, id) || leafId.value !== id)) return;
  await answerQuestion(id);
  if (failure.value !== undefined && !isAnswered(messages.value, id)) throw failure.value;
}

/** The server is away, busy, at its limit, or asks who this is. */
function mayPass(error: unknown): boolean {
  return error instanceof Refusal && (error.status === 0 || error.status === 401 || error.status === 429 || error.status >= 500);
}

/** Resolves when it is answered. Throws Refusal. */
async function answerAway({ id, conversationId }: Question): Promise<void> {
  const messages = await listMessages(conversationId);
  // It is there, since the question is: the request tells its model and its instructions.
  const { model, metadata } = await call('POST /api/v1/edge/conversations', { body: { id: conversationId } });
  const question = messages.get(id);
  if (question === undefined || isAnswered(messages, id)) return;
  const storage = { conversationId, id: newId(), parentId: id, prefix: '' };
  const { signal } = new AbortController();
  const preferences = readPreferences(metadata);
  const turns = pathTo(messages, id).map(turnOf);
  for await (const _ of complete({ model: model ?? '', turns, preferences, storage, signal })) {
    // Nobody looks on.
  }
}

/** Has a question answered whose conversation is not open: the server stores the answer. */
function isAnswered(messages: ReadonlyMap<string, Message>, id: string): boolean {
  return [...messages.values()].some(({ parent_id }) => parent_id === id);
}
