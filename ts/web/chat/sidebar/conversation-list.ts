/** The caller's conversations, those written to last first, as far as they have been listed. */
import { signal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { tellTabs } from '../offline/tabs.ts';
import type { Conversation, WholeConversation } from '../thread/message.ts';

const PAGE = 60;

export const conversations = signal<readonly Conversation[]>([]);
export const hasMore = signal(false);
/** The list shows what was archived, in the place of the others. */
export const isArchiveShown = signal(false);
let next: string | undefined;

interface ConversationChanges {
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  folder?: string | null;
}

export async function loadConversations(): Promise<void> {
  next = undefined;
  conversations.value = [];
  await Promise.all([loadMore(), loadPinned()]);
}

/** They are shown first, however long ago they were written to. */
async function loadPinned(): Promise<void> {
  merge((await list({ pinned: true })).data);
}

function list(query: { limit?: number; after?: string; pinned?: boolean; folder?: string }) {
  return call('GET /api/v1/edge/conversations', { query: { archived: isArchiveShown.value, ...query } });
}

export async function showArchive(isShown: boolean): Promise<void> {
  isArchiveShown.value = isShown;
  await loadConversations();
}

export async function loadMore(): Promise<void> {
  const page = await list({ limit: PAGE, ...(next === undefined ? {} : { after: next }) });
  merge(page.data);
  next = page.next;
  hasMore.value = next !== undefined;
}

/** What changed while nobody looked. Of a longer list, what lies deeper than a page stays as it is. */
export async function refreshConversations(): Promise<void> {
  const before = conversations.value;
  const [page, pinned] = await Promise.all([list({ limit: PAGE }), list({ pinned: true })]);
  const found = new Set([...page.data, ...pinned.data].map(({ id }) => id));
  const end = page.next === undefined ? '' : (page.data.at(-1)?.updated_at ?? '');
  // What was erased, archived or unpinned elsewhere is missing where it would stand. What changed here meanwhile is another object.
  const isGone = (each: Conversation): boolean =>
    before.includes(each) && !found.has(each.id) && (each.pinned || each.updated_at > end);
  conversations.value = conversations.value.filter((each) => !isGone(each));
  merge([...pinned.data, ...page.data]);
}

/** All of a folder, which may lie deeper in the list than it has been read. */
export async function loadFolder(folder: string): Promise<void> {
  merge((await list({ folder })).data);
}

export function upsertConversation(changed: WholeConversation): void {
  hearConversation(changed);
  tellTabs({ kind: 'changed', conversation: changed });
}

/** Another tab has changed them. */
export function hearConversation(changed: Conversation): void {
  if (changed.temporary) return;
  if (changed.archived === isArchiveShown.value) merge([changed]);
  else forgetConversation(changed.id);
}

export function forgetConversation(id: string | undefined): void {
  conversations.value = id === undefined ? [] : conversations.value.filter((each) => each.id !== id);
}

function merge(changed: readonly Conversation[]): void {
  const byId = new Map(conversations.value.map((each) => [each.id, each]));
  for (const each of changed) byId.set(each.id, each);
  conversations.value = [...byId.values()].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
}

/** Throws Refusal. */
export async function changeConversation(id: string, changes: ConversationChanges): Promise<WholeConversation> {
  const changed = await call('PATCH /api/v1/edge/conversations', { body: { id, ...changes } });
  upsertConversation(changed);
  return changed;
}

export async function eraseConversation(id: string): Promise<void> {
  await call('DELETE /api/v1/edge/conversations', { query: { id } });
  forgetConversation(id);
  tellTabs({ kind: 'erased', id });
}

/** Returns how many there were. */
export async function eraseAll(): Promise<number> {
  const { deleted } = await call('DELETE /api/v1/edge/conversations');
  forgetConversation(undefined);
  hasMore.value = false;
  tellTabs({ kind: 'erased', id: undefined });
  return deleted;
}
