/** A sentence that stays where it is. What went wrong is read out at once. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface NoticeProps {
  tone?: 'info' | 'warn' | 'danger';
  children: ComponentChildren;
}

export function Notice({ tone = 'info', children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon name={tone === 'info' ? 'info' : 'alert'} />
      <div class="grow">{children}</div>
    </div>
  );
}
