/** What an empty conversation shows. */
import { Icon } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';
import { hasRole, who } from '../../session/session.ts';
import { areModelsKnown, chatModels } from '../composer/models.ts';
import { isTemporary } from './shown-thread.ts';

export function Welcome() {
  const name = who.value?.user?.username;
  return (
    <div class="welcome">
      <h1>{name === undefined ? t('welcome') : t('welcome_name', { name })}</h1>
      <p class="quiet">{isTemporary.value ? t('temporary_detail') : t('welcome_detail')}</p>
      {areModelsKnown.value && chatModels.value.length === 0 && (
        <p class="row">
          <Icon name="cube" />
          {hasRole('admin') ? <a href="/admin#models">{t('get_a_model')}</a> : t('no_chat_model')}
        </p>
      )}
    </div>
  );
}
