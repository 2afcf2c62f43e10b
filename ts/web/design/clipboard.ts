/** Copies text and says so. Browsers offer the clipboard to pages of TLS and of the machine itself only. */
import { t } from '../i18n/language.ts';
import { showToast } from './toasts.tsx';

export async function copyText(text: string): Promise<void> {
  try {
    await copy(text);
    showToast(t('copied'));
  } catch {
    showToast(t('copy_failed'));
  }
}

async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  // Deprecated, and the only way on a page of plain HTTP.
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('the browser refused to copy');
}
