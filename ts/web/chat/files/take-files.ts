/** Files that are chosen, dropped onto the page or pasted into the message. */
import { signal } from '@preact/signals';
import { attachFiles } from './attached-files.ts';

/** Something is being dragged over the page. */
export const isDropping = signal(false);

export function chooseFiles(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.addEventListener('change', () => attachFiles([...(input.files ?? [])]));
  input.click();
}

/** Windows that take files themselves stop the event. */
export function startTakingFiles(): void {
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    isDropping.value = document.querySelector('dialog[open]') === null;
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) isDropping.value = false;
  });
  addEventListener('drop', (event) => {
    isDropping.value = false;
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    if (document.querySelector('dialog[open]') === null) attachFiles(files);
  });
}

export function takePasted(event: ClipboardEvent): void {
  const files = [...(event.clipboardData?.files ?? [])];
  if (files.length === 0) return;
  event.preventDefault();
  attachFiles(files);
}
