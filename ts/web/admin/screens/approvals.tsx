import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';

type Approval = Answer<'GET /api/v1/security/approvals'>['data'][number];
const STATES = ['pending', 'approved', 'denied', 'used'] as const;
type State = (typeof STATES)[number];

const TONES: Record<Approval['state'], Tone> = {
  pending: 'accent',
  approved: 'good',
  denied: 'danger',
  used: 'neutral',
  expired: 'neutral',
};

export const Screen = listScreen({
  title: 'approvals',
  detail: 'approvals_detail',
  load: (page, { state = '' }) =>
    call('GET /api/v1/security/approvals', { query: { ...page, ...(state !== '' && { state: state as State }) } }),
  keyOf: ({ id }) => id,
  nameOf: ({ tool }) => tool,
  everyMs: 5_000,
  filters: [{ name: 'state', label: 'state', options: () => STATES.map((value) => ({ value, text: t(`approval_${value}`) })) }],
  empty: { icon: 'shield', title: 'no_approvals' },
  columns: [
    {
      head: 'tool',
      cell: ({ tool, effect, owner }) => (
        <div class="two-lines">
          <code class="breakable">{tool}</code>
          <span class="small quiet">
            {t(`effect_${effect}`)} · {owner}
          </span>
        </div>
      ),
    },
    // Whole: what is approved is what stands here.
    { head: 'arguments', cell: ({ arguments: given }) => <code class="breakable small">{JSON.stringify(given, null, 1)}</code> },
    { head: 'asked_by', cell: ({ asked_by: by }) => t(`asked_by_${by}`) },
    {
      head: 'state',
      cell: ({ state, reason }) => (
        <div class="two-lines">
          <span>
            <Badge tone={TONES[state]}>{t(`approval_${state}`)}</Badge>
          </span>
          {reason !== null && <span class="small quiet">{reason}</span>}
        </div>
      ),
    },
    { head: 'expires', cell: ({ expires_at: at }) => formatTime(at) },
  ],
  // A question of a server is answered where the call was made.
  buttons: ({ id, state, tool, asked_by: by }) =>
    state !== 'pending' || by === 'server'
      ? []
      : [
          {
            text: t('approve_call'),
            label: t('approve_named', { name: tool }),
            run: () => decide(id, 'approve'),
            done: t('approval_done'),
          },
          {
            text: t('deny_call'),
            label: t('deny_named', { name: tool }),
            isDangerous: true,
            run: () => decide(id, 'deny'),
            done: t('call_denied'),
          },
        ],
});

function decide(id: string, decision: 'approve' | 'deny'): Promise<unknown> {
  return call('POST /api/v1/security/approvals/{id}', { params: { id }, body: { decision } });
}
