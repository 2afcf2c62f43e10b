import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { BackendDialog } from '../cloud/backend-dialog.tsx';
import { BackendKeyDialog } from '../cloud/backend-key-dialog.tsx';
import { BackendName } from '../cloud/backend-name.tsx';
import { BackendsElsewhere } from '../cloud/backends-elsewhere.tsx';
import { listScreen } from '../list-screen.tsx';

type Backend = Answer<'GET /api/v1/cloud/backends'>['data'][number];
type Line = Answer<'GET /api/v1/metering/usage'>['data'][number];

const TONES: Record<Backend['serving_state'], Tone> = {
  ok: 'good',
  checking: 'accent',
  backend_unhealthy: 'danger',
  disabled: 'neutral',
};

export const Screen = listScreen({
  title: 'backends',
  detail: 'backends_detail',
  load: () => call('GET /api/v1/cloud/backends'),
  beside: async () => {
    const from = new Date().toISOString().slice(0, 10);
    const [{ data: lines }, { data: elsewhere }] = await Promise.all([
      call('GET /api/v1/metering/usage', { query: { by: 'backend', from, limit: 1000 } }),
      call('GET /api/v1/cloud/backends/elsewhere'),
    ]);
    return { lines, elsewhere };
  },
  keyOf: ({ id }) => id,
  nameOf: ({ id }) => id,
  everyMs: 5000,
  empty: { icon: 'link', title: 'no_backends', detail: 'no_backends_detail' },
  main: { text: 'add_backend', icon: 'plus', window: ({ close, reload }) => <BackendDialog onClose={close} onSaved={reload} /> },
  columns: [
    { head: 'name', cell: (backend) => <BackendName backend={backend} /> },
    { head: 'state', cell: (backend) => <BackendState backend={backend} /> },
    { head: 'models', kind: 'number', cell: ({ models }) => formatNumber(models.length) },
    {
      head: 'backend_first_content',
      kind: 'number',
      cell: ({ first_content_ms: ms }) => (ms === null ? '–' : `${formatNumber(ms)} ms`),
    },
    {
      head: 'backend_today',
      kind: 'number',
      cell: ({ id }, beside) => costOf(beside?.lines.filter((line) => line.id === id) ?? []),
    },
  ],
  below: ({ reload }, beside) => <BackendsElsewhere backends={beside?.elsewhere ?? []} reload={reload} />,
  menu: ({ id, enabled }) => [
    {
      text: t('backend_set_key'),
      icon: 'key',
      window: ({ close, reload }) => <BackendKeyDialog id={id} onClose={close} onSaved={reload} />,
    },
    {
      text: t('backend_recheck'),
      icon: 'play',
      run: () => call('POST /api/v1/cloud/backends/{id}/recheck', { params: { id } }),
    },
    {
      text: enabled ? t('switch_backend_off') : t('switch_backend_on'),
      icon: enabled ? 'stop' : 'play',
      run: () => call('PATCH /api/v1/cloud/backends/{id}', { params: { id }, body: { enabled: !enabled } }),
    },
    {
      text: t('delete'),
      icon: 'trash',
      isDangerous: true,
      isApart: true,
      question: [t('delete_backend'), t('delete_backend_detail', { id }), t('delete')],
      run: () => call('DELETE /api/v1/cloud/backends/{id}', { params: { id } }),
    },
  ],
});

function BackendState({
  backend: { serving_state: state, serving_state_reason: reason, key_present: hasKey },
}: {
  backend: Backend;
}) {
  return (
    <div class="two-lines">
      <span>
        <Badge tone={TONES[state]}>{t(`backend_state_${state}`)}</Badge>
      </span>
      {!hasKey && <span class="small quiet">{t('backend_no_key')}</span>}
      {reason !== null && <span class="small quiet breakable">{reason.detail}</span>}
    </div>
  );
}

/** Tenants have lines of their own. What is not known is not shown as nothing. */
function costOf(lines: readonly Line[]): string {
  const known = lines.filter(({ cost_micros: micros }) => micros !== null);
  const isPartial = lines.some(({ cost_micros: micros, unpriced_requests: n }) => micros === null || n > 0);
  const [first] = known;
  if (first === undefined) return isPartial ? '?' : '–';
  const sum = known.reduce((total, { cost_micros: micros }) => total + (micros ?? 0), 0);
  return `${formatNumber(sum / 1e6, 4)} ${first.currency}${isPartial ? ' + ?' : ''}`;
}
