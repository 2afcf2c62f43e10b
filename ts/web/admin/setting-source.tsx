/** Where the value of a setting comes from; of a member of a section that does not name it, from which setting. */
import { Badge } from '../design/badge.tsx';
import { t } from '../i18n/language.ts';
import type { Setting } from './setting-dialog.tsx';

export function SettingSource({ setting: { origin, inherited_from: inherited } }: { setting: Setting }) {
  if (inherited !== null) return <code class="quiet">{inherited}</code>;
  return origin === 'default' ? <span class="quiet">{t('by_default')}</span> : <Badge tone="accent">{origin}</Badge>;
}
