import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';

type Plugin = Answer<'GET /api/v1/edge/plugins'>['data'][number];

const TONES: Record<Plugin['state'], Tone> = {
  ready: 'good',
  changed: 'warn',
  disabled: 'neutral',
  invalid: 'danger',
  unavailable: 'neutral',
};

export const Screen = listScreen({
  title: 'plugins',
  detail: 'plugins_detail',
  load: () => call('GET /api/v1/edge/plugins'),
  keyOf: ({ id }) => id,
  nameOf: ({ id }) => id,
  // Somebody at the machine places them meanwhile.
  head: ({ reload }) => (
    <Button icon="refresh" onClick={() => void reload()}>
      {t('look_again')}
    </Button>
  ),
  empty: { icon: 'cube', title: 'no_plugins', detail: 'no_plugins_detail' },
  columns: [
    {
      head: 'plugin',
      cell: ({ id, name, version, license }) => (
        <div class="two-lines">
          <span>
            {name ?? id} {version}
          </span>
          <span class="small quiet">
            <code>{id}</code> {license}
          </span>
        </div>
      ),
    },
    {
      head: 'tools',
      cell: ({ tools }) => (
        <ul class="plain-list">
          {tools.map(({ name, description, effect }) => (
            <li key={name} class="breakable">
              <code>{name}</code> ({t(`effect_${effect}`)}) <span class="small quiet">{description}</span>
            </li>
          ))}
        </ul>
      ),
    },
    { head: 'plugin_hosts', cell: ({ hosts }) => <span class="breakable">{hosts.join(', ') || t('plugin_no_hosts')}</span> },
    {
      head: 'state',
      cell: ({ state, reason, hash }) => (
        <div class="two-lines">
          <span>
            <Badge tone={TONES[state]}>{t(`state_${state}`)}</Badge>
          </span>
          {reason !== undefined && <span class="small quiet">{reason}</span>}
          {hash !== null && <code class="small quiet breakable">{hash.slice(0, 16)}</code>}
        </div>
      ),
    },
  ],
  menu: ({ id, hash, enabled_hash: enabled, name = id, hosts }) => [
    ...(hash !== null && hash !== enabled
      ? [
          {
            text: t('enable'),
            icon: 'play' as const,
            question: [
              t('enable_plugin'),
              t('enable_plugin_detail', { name, hosts: hosts.join(', ') || t('plugin_no_hosts') }),
              t('enable'),
            ] as const,
            // What is enabled is what stands here: other files by then are refused.
            run: () => call('POST /api/v1/edge/plugins/{id}/enable', { params: { id }, body: { hash } }),
          },
        ]
      : []),
    ...(enabled !== null
      ? [
          {
            text: t('disable'),
            icon: 'stop' as const,
            run: () => call('POST /api/v1/edge/plugins/{id}/disable', { params: { id } }),
          },
        ]
      : []),
  ],
});
