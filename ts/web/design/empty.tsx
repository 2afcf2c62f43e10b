/** What stands where a list has nothing, and what to do about it. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <strong>{title}</strong>
      {children}
    </div>
  );
}
