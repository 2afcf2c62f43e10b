import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { FileButton } from '../../design/file-button.tsx';
import { Menu } from '../../design/menu.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';

const LOOKS = ['main', 'plain', 'danger', 'bare'] as const;
const ignore = (): void => {};

export function ButtonSamples({ onDialog }: { onDialog(): void }) {
  return (
    <section class="card stack" aria-label={t('sample_buttons')}>
      <h2>{t('sample_buttons')}</h2>
      {LOOKS.map((look) => (
        <div class="row" key={look}>
          <Button look={look}>{t(`look_${look}`)}</Button>
          <Button look={look} icon="plus">
            {t('sample_with_icon')}
          </Button>
          <Button look={look} size="small">
            {t('sample_small')}
          </Button>
          <Button look={look} icon="settings" label={t('sample_icon', { look: t(`look_${look}`) })} />
          <Button look={look} busy>
            {t('sample_busy')}
          </Button>
          <Button look={look} disabled>
            {t('sample_disabled')}
          </Button>
        </div>
      ))}
      <div class="row">
        <Button aria-pressed icon="ghost">
          {t('sample_pressed')}
        </Button>
        <Menu
          items={[
            { text: t('edit'), icon: 'edit', run: ignore },
            { text: t('sample_chosen'), isChosen: true, run: ignore },
            { text: t('sample_another'), isChosen: false, run: ignore },
            { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: ignore },
          ]}
          look="plain"
          icon="more"
        >
          {t('sample_menu')}
        </Menu>
        <FileButton text={t('choose_file')} accept="*/*" onFile={ignore} />
        <FileButton text={t('sample_busy')} accept="*/*" busy onFile={ignore} />
        <Button look="plain" onClick={onDialog}>
          {t('sample_dialog')}
        </Button>
        <Button look="plain" onClick={() => void confirmed(t('sample_confirm'), t('sample_confirm_detail'), t('delete'))}>
          {t('sample_confirm')}
        </Button>
        <Button look="plain" onClick={() => showToast(t('saved'))}>
          {t('sample_toast')}
        </Button>
      </div>
    </section>
  );
}
