/** What a new installation needs, until it has it: an administrator, a model, a key. */
import { call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Icon } from '../design/icon.tsx';
import { t } from '../i18n/language.ts';

export function FirstSteps({ hasAccounts }: { hasAccounts: boolean }) {
  const models = useData(() => call('GET /v1/models'));
  const keys = useData(async () => (hasAccounts ? (await call('GET /api/v1/identity/keys')).data.length : 0), [hasAccounts]);
  const usage = useData(
    async () => (hasAccounts ? (await call('GET /api/v1/metering/usage', { query: { by: 'key', limit: 200 } })).data : []),
    [hasAccounts],
  );
  if (models.data === undefined || (keys.data === undefined && keys.error === undefined)) return null;
  // A model that its author calls a demonstration is none to work with.
  const hasModel = models.data.data.some(({ capabilities, note }) => capabilities.includes('chat') && note === undefined);
  const steps = [
    { isDone: hasAccounts, text: t('step_account'), address: '/login' },
    { isDone: hasModel, text: t('step_model'), address: '#models' },
    { isDone: (keys.data ?? 0) > 0, text: t('step_key'), address: '#keys' },
    // Requests of the pages themselves have no key.
    { isDone: (usage.data ?? []).some(({ id }) => id !== ''), text: t('step_call'), address: '/docs' },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <section class="card stack first-steps" aria-label={t('first_steps')}>
      <h2>{t('first_steps')}</h2>
      <ol>
        {steps.map(({ isDone, text, address }) => (
          <li key={address} class={isDone ? 'done' : ''}>
            <Icon name={isDone ? 'check' : 'right'} />
            {isDone ? (
              <span>
                {text} <span class="unseen">{t('step_done')}</span>
              </span>
            ) : (
              <a href={address}>{text}</a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
