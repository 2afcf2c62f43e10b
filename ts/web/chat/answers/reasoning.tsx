/** What the model thought before it answered, folded. */
import { t } from '../../i18n/language.ts';

export function Reasoning({ text, isLive = false }: { text: string; isLive?: boolean }) {
  if (text === '') return null;
  return (
    <details class="folded">
      <summary>{isLive ? t('thinking') : t('reasoning')}</summary>
      <div class="folded-text">{text}</div>
    </details>
  );
}
