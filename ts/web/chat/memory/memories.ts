/** One's memories as the server has them, and which of them went along with the answers of this page. */
import { signal } from '@preact/signals';
import type { Body } from '../../../client/client.ts';
import { type Answer, call } from '../../api/call.ts';
import { saveFile } from '../../design/save-file.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';

export type Memory = Answer<'GET /api/v1/memory/memories'>['data'][number];
export type NewMemory = Body<'POST /api/v1/memory/memories'>;
export type MemorySettings = Body<'PUT /api/v1/memory/settings'>;
export type Dream = Answer<'GET /api/v1/memory/dreams'>['data'][number];

export interface Recalled {
  readonly id: string;
  readonly text: string;
}

const PAGE = 200;
/** The server takes no longer text. */
export const MAX_TEXT = 1_000;

/** Memories that went along, by the id of the answer. The map goes with the page: what is forgotten must stay nowhere. */
export const recalled = signal<ReadonlyMap<string, readonly Recalled[]>>(new Map());

export function noteRecalled(answerId: string, memories: readonly Recalled[]): void {
  if (memories.length > 0) recalled.value = new Map(recalled.value).set(answerId, memories);
}

/** All that are current, newest first, or the best first of those that are about the words. */
export async function findMemories(words: string): Promise<Memory[]> {
  if (words.trim() !== '') return (await call('POST /api/v1/memory/memories/search', { body: { query: words, max: 50 } })).data;
  const found: Memory[] = [];
  for (let after: string | undefined; ; ) {
    const query = { limit: PAGE, ...(after !== undefined && { after }) };
    const { data, next } = await call('GET /api/v1/memory/memories', { query });
    found.push(...data);
    if (next === undefined) return found;
    after = next;
  }
}

/** Says in a toast what came of it. */
export async function remember(memory: NewMemory): Promise<void> {
  try {
    await call('POST /api/v1/memory/memories', { body: memory });
    showToast(t('memory_kept'));
  } catch (error) {
    showToast(explain(error));
  }
}

export async function exportMemories(): Promise<void> {
  saveFile('memories.json', 'application/json', JSON.stringify(await findMemories(''), undefined, 2));
}

/** The last dream about one's own memories that is over and changed something; undefined: there is none. */
export async function lastDream(): Promise<Dream | undefined> {
  const { data } = await call('GET /api/v1/memory/dreams', { query: { limit: 20 } });
  return data.find(({ owner, state, dry_run: isDry }) => owner === 'me' && state === 'done' && !isDry);
}
