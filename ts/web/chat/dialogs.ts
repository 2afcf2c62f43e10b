/** Which window of the page is open. */
import { signal } from '@preact/signals';
import type { Conversation } from './thread/message.ts';

type DialogName = 'palette' | 'shortcuts' | 'preferences' | 'knowledge' | 'prompts' | 'artifacts' | 'memory' | 'goals';
export type FolderTask = { move: Conversation } | { rename: string };

export const openDialog = signal<DialogName | undefined>(undefined);
/** The address that a link of a message leads to, while the reader is asked. */
export const linkAddress = signal<string | undefined>(undefined);
export const folderDialog = signal<FolderTask | undefined>(undefined);
/** The conversation whose links are shown. */
export const shareDialog = signal<Conversation | undefined>(undefined);
export interface KeptFile {
  name: string;
  conversationId: string;
  fileId: string;
}

/** The file of a conversation that goes into a knowledge base, while the reader is asked into which. */
export const keptFile = signal<KeptFile | undefined>(undefined);
export const isSidebarOpen = signal(false);
