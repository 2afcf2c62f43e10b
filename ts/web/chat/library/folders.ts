/** Folders of the caller's conversations. */
import { signal } from '@preact/signals';
import { type Answer, call } from '../../api/call.ts';
import { changeConversation, loadConversations } from '../sidebar/conversation-list.ts';

export type Folder = Answer<'GET /api/v1/edge/conversations/folders'>['data'][number];

export const folders = signal<readonly Folder[]>([]);

export async function loadFolders(): Promise<void> {
  folders.value = (await call('GET /api/v1/edge/conversations/folders')).data;
}

/** Null: out of its folder. Throws Refusal. */
export async function moveConversation(id: string, folder: string | null): Promise<void> {
  await changeConversation(id, { folder });
  await loadFolders();
}

/** Null: its conversations stand in no folder any more. Throws Refusal. */
export async function renameFolder(folder: string, name: string | null): Promise<void> {
  await call('PATCH /api/v1/edge/conversations/folders', { body: { folder, name } });
  await Promise.all([loadFolders(), loadConversations()]);
}
