/** Short sentences at the edge of the page, which go by themselves; screen readers hear them. */
import { signal } from '@preact/signals';
import { t } from '../i18n/language.ts';
import { Button } from './button.tsx';

interface Toast {
  id: number;
  text: string;
}

const SHOWN_MS = 6000;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function showToast(text: string): void {
  lastId++;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text }];
  setTimeout(() => dropToast(id), SHOWN_MS);
}

function dropToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** A page has it once. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          <Button size="small" icon="close" label={t('close')} onClick={() => dropToast(id)} />
        </div>
      ))}
    </div>
  );
}
