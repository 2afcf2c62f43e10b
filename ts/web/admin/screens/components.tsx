/** Every component in every state, to look at and to be checked by machine. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../i18n/language.ts';
import { ButtonSamples } from '../gallery/button-samples.tsx';
import { FieldSamples } from '../gallery/field-samples.tsx';
import { ListSamples } from '../gallery/list-samples.tsx';
import { MessageSamples } from '../gallery/message-samples.tsx';
import { ColourSamples, IconSamples } from '../gallery/token-samples.tsx';
import { ScreenFrame } from '../screen-frame.tsx';

export function Screen() {
  const [isOpen, setOpen] = useState(false);
  return (
    <ScreenFrame title={t('components')} detail={t('components_detail')}>
      <div class="gallery">
        <ButtonSamples onDialog={() => setOpen(true)} />
        <FieldSamples />
        <MessageSamples />
        <ListSamples />
        <ColourSamples />
        <IconSamples />
      </div>
      {isOpen && (
        <Dialog title={t('sample_dialog')} onClose={() => setOpen(false)}>
          <p>{t('sample_dialog_detail')}</p>
          <div class="buttons">
            <Button look="main" data-first onClick={() => setOpen(false)}>
              {t('close')}
            </Button>
          </div>
        </Dialog>
      )}
    </ScreenFrame>
  );
}
