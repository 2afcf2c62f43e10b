/** Asks for a file of conversations and sends it as it is. */

import type { Answer } from '../../api/call.ts';
import { request } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { loadConversations } from './conversation-list.ts';

export function importConversations(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '.json,application/json';
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) void send(file);
  });
  input.click();
}

async function send(file: File): Promise<void> {
  showToast(t('importing', { name: file.name }));
  try {
    const response = await request('POST /api/v1/edge/conversations/import', { body: file });
    const result = (await response.json()) as Answer<'POST /api/v1/edge/conversations/import'>;
    const { imported, skipped, failed } = result;
    showToast(t('imported', { imported, skipped, failed: failed.length }));
    await loadConversations();
  } catch (error) {
    showToast(explain(error));
  }
}
