/** Asks for a file of conversations and sends it as it is; of an archive, the files in it that hold conversations. */

import { signal } from '@preact/signals';
import type { Answer } from '../../api/call.ts';
import { request } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { filesOfArchive, isArchive } from './archive.ts';
import { loadConversations } from './conversation-list.ts';

export type ImportResult = Answer<'POST /api/v1/edge/conversations/import'>;

/** What an import left out, until the reader has seen why. */
export const importResult = signal<ImportResult | undefined>(undefined);

export function importConversations(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '.json,application/json,.zip,application/zip';
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) void send(file).catch((error: unknown) => showToast(explain(error)));
  });
  input.click();
}

/** ChatGPT's export has one of these, or several where it is large. */
const CONVERSATION_FILES = /(^|\/)conversations(-\d+)?\.json$/;

async function send(file: File): Promise<void> {
  showToast(t('importing', { name: file.name }));
  const parts = (await isArchive(file)) ? await filesOfArchive(file, CONVERSATION_FILES).catch(() => []) : [file];
  if (parts.length === 0) return showToast(t('import_archive'));
  const total: ImportResult = { imported: 0, skipped: 0, messages: 0, failed: [] };
  for (const part of parts) {
    const response = await request('POST /api/v1/edge/conversations/import', { body: part });
    const { imported, skipped, messages, failed } = (await response.json()) as ImportResult;
    total.imported += imported;
    total.skipped += skipped;
    total.messages += messages;
    total.failed.push(...failed);
  }
  if (total.failed.length > 0) importResult.value = total;
  else showToast(importSummary(total));
  await loadConversations();
}

export function importSummary({ imported, skipped, failed }: ImportResult): string {
  return t('imported', { imported, skipped, failed: failed.length });
}
