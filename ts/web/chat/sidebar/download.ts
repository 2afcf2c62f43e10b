/** Files that the chat gives its reader. */
import { addressOf } from '../../api/call.ts';
import { saveAddress, saveFile } from '../../design/save-file.ts';

export function downloadConversations(format: 'json' | 'markdown', id?: string): void {
  saveAddress(addressOf('/api/v1/edge/conversations/export', { query: { format, id } }));
}

export function downloadText(name: string, text: string): void {
  saveFile(name.replace(/[\\/:*?"<>|\p{Cc}]/gu, '_').slice(0, 120), 'text/plain', text);
}
