/** What an account keeps for its pages on the server, so that it holds in every browser. A node without accounts keeps it in this one. */
import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { who } from './session.ts';

const STORED_AT = 'svc.knowledge-fallback';
const NAME = 'knowledge_fallback';

/** Whether the model goes on by itself where the documents of a knowledge base say nothing. */
export const usesOwnKnowledge = signal(false);

const hasAccount = (): boolean => who.value?.user != null;

/** Throws Refusal. */
export async function loadAccountSettings(): Promise<void> {
  const kept = hasAccount() ? (await call('GET /api/v1/users/me/settings'))[NAME] : localStorage.getItem(STORED_AT);
  usesOwnKnowledge.value = kept === 'model';
}

/** Throws Refusal, and then all is as before. */
export async function keepOwnKnowledge(isUsed: boolean): Promise<void> {
  const before = usesOwnKnowledge.value;
  const value = isUsed ? 'model' : 'none';
  usesOwnKnowledge.value = isUsed;
  try {
    if (!hasAccount()) return localStorage.setItem(STORED_AT, value);
    // What other pages and clients keep there stays.
    const others = await call('GET /api/v1/users/me/settings');
    await call('PUT /api/v1/users/me/settings', { body: { ...others, [NAME]: value } });
  } catch (error) {
    usesOwnKnowledge.value = before;
    throw error;
  }
}
