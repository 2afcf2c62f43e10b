/** What an empty conversation shows. */
import { lazy } from '../../design/lazy.tsx';
import { t } from '../../i18n/language.ts';
import { hasRole, who } from '../../session/session.ts';
import { areModelsKnown, chatModels, isRealModelMissing } from '../composer/models.ts';
import { isTemporary } from './shown-thread.ts';

const FirstModels = lazy(async () => (await import('../composer/first-models.tsx')).FirstModels);

export function Welcome() {
  const name = who.value?.user?.username;
  return (
    <div class="welcome">
      <h1>{name === undefined ? t('welcome') : t('welcome_name', { name })}</h1>
      <p class="quiet">{isTemporary.value ? t('temporary_detail') : t('welcome_detail')}</p>
      {areModelsKnown.value && isRealModelMissing.value && (hasRole('admin') ? <FirstModels /> : <WhoCanHelp />)}
    </div>
  );
}

function WhoCanHelp() {
  return <p class="small quiet">{chatModels.value.length === 0 ? t('no_chat_model') : t('demonstration_alone')}</p>;
}
