/** Asks for a file of conversations and sends it as it is. */

import { signal } from '@preact/signals';
import type { Answer } from '../../api/call.ts';
import { request } from '../../api/call.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { loadConversations } from './conversation-list.ts';

export type ImportResult = Answer<'POST /api/v1/edge/conversations/import'>;

/** Of an import that left something out, until the reader has seen why. */
export const importResult = signal<ImportResult | undefined>(undefined);

export function importConversations(): void {
  const input = document.createElement('input');
  input.type = 'file';
  // An archive is let in to be told what it is.
  input.accept = '.json,application/json,.zip,application/zip';
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) void send(file).catch((error: unknown) => showToast(explain(error)));
  });
  input.click();
}

async function send(file: File): Promise<void> {
  if (await isArchive(file)) return showToast(t('import_archive'));
  showToast(t('importing', { name: file.name }));
  const response = await request('POST /api/v1/edge/conversations/import', { body: file });
  const result = (await response.json()) as ImportResult;
  if (result.failed.length > 0) importResult.value = result;
  else showToast(importSummary(result));
  await loadConversations();
}

export function importSummary({ imported, skipped, failed }: ImportResult): string {
  return t('imported', { imported, skipped, failed: failed.length });
}

/** Whatever it is called, a ZIP archive begins so (APPNOTE.TXT, section 4.3.7). */
async function isArchive(file: File): Promise<boolean> {
  return (await file.slice(0, 4).text()) === 'PK\x03\x04';
}
