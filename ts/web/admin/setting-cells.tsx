/** Cells of a table of settings. */
import { Badge } from '../design/badge.tsx';
import { t } from '../i18n/language.ts';
import type { Setting } from './setting-dialog.tsx';

/** Where the value of a setting comes from; of a member of a section that does not name it, from which setting. */
export function SettingSource({ setting: { origin, inherited_from: inherited } }: { setting: Setting }) {
  if (inherited !== null) return <code class="quiet">{inherited}</code>;
  return origin === 'default' ? <span class="quiet">{t('by_default')}</span> : <Badge tone="accent">{origin}</Badge>;
}

/** What holds of a setting now, and what the next start uses where that is something else. */
export function SettingValue({ setting: { value, next, is_pending: isPending } }: { setting: Setting }) {
  return (
    <div class="two-lines">
      <code class="breakable">{textOf(value)}</code>
      {isPending && (
        <span class="small">
          <Badge tone="warn">{t('setting_after_restart')}</Badge> <code class="breakable">{textOf(next)}</code>
        </span>
      )}
    </div>
  );
}

function textOf(value: unknown): string {
  if (value === '') return '–';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
