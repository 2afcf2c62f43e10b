/** Lets the browser save what a route answers, or a text. */
import { addressOf } from '../../api/call.ts';

export function downloadConversations(format: 'json' | 'markdown', id?: string): void {
  save(addressOf('/api/v1/edge/conversations/export', { query: { format, id } }), '');
}

export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  save(address, name.replace(/[\\/:*?"<>|\p{Cc}]/gu, '_').slice(0, 120));
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function save(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
