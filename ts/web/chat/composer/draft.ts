/** What is being written, kept in the tab so that a reload loses nothing. */
import { signal } from '@preact/signals';

const STORED_AT = 'svc.draft';

export const draft = signal(sessionStorage.getItem(STORED_AT) ?? '');

export function setDraft(text: string): void {
  draft.value = text;
  sessionStorage.setItem(STORED_AT, text);
}
