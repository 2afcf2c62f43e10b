/** Something that is shown once: it can be copied, and is gone when its window closes. */
import { t } from '../i18n/language.ts';
import { Button } from './button.tsx';
import { copyText } from './clipboard.ts';

export function Secret({ value }: { value: string }) {
  return (
    <div class="secret">
      <code data-testid="secret">{value}</code>
      <Button look="plain" size="small" icon="copy" data-first onClick={() => copyText(value)}>
        {t('copy')}
      </Button>
    </div>
  );
}
