/** Shows where a link of a message leads before it is followed. */
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../i18n/language.ts';
import { linkAddress } from '../dialogs.ts';

export function LeaveDialog() {
  const address = linkAddress.value;
  if (address === undefined) return null;
  const close = (): void => {
    linkAddress.value = undefined;
  };
  const follow = (): void => {
    close();
    window.open(address, '_blank', 'noopener,noreferrer');
  };
  const isMail = address.startsWith('mailto:');
  return (
    <Dialog title={isMail ? t('leave_mail') : t('leave_title', { host: new URL(address).host })} onClose={close}>
      <p class="small quiet">{t('leave_detail')}</p>
      <code class="address">{address}</code>
      <div class="buttons">
        <Button look="plain" icon="copy" onClick={() => copyText(address)}>
          {t('copy_address')}
        </Button>
        <Button look="main" icon="link" data-first onClick={follow}>
          {t('open')}
        </Button>
      </div>
    </Dialog>
  );
}
