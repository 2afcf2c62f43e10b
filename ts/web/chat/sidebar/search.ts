/** Search as one types: the answer to the latest text alone counts. */
import { signal } from '@preact/signals';
import { type Answer, call } from '../../api/call.ts';

export type Hit = Answer<'GET /api/v1/edge/conversations/search'>['data'][number];

const PAUSE_MS = 120;

export const searchText = signal('');
/** Undefined: nothing is searched for. */
export const hits = signal<readonly Hit[] | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;
let running = new AbortController();

export function search(text: string): void {
  searchText.value = text;
  clearTimeout(timer);
  running.abort();
  if (text.trim() === '') {
    hits.value = undefined;
    return;
  }
  timer = setTimeout(() => void find(text), PAUSE_MS);
}

async function find(text: string): Promise<void> {
  running = new AbortController();
  const { signal: stopped } = running;
  try {
    const { data } = await call('GET /api/v1/edge/conversations/search', { query: { q: text.slice(0, 200) }, signal: stopped });
    hits.value = data;
  } catch {
    if (!stopped.aborted) hits.value = [];
  }
}
