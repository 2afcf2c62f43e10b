import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { InvitationDialog } from '../invitation-dialog.tsx';
import { listScreen } from '../list-screen.tsx';
import { roleName } from '../role-name.ts';

const TONES = { open: 'good', used_up: 'neutral', expired: 'warn' } as const;

export const Screen = listScreen({
  title: 'invitations',
  detail: 'invitations_detail',
  load: (query) => call('GET /api/v1/identity/invitations', { query }),
  keyOf: ({ id }) => id,
  empty: { icon: 'users', title: 'no_invitations' },
  main: {
    text: 'new_invitation',
    icon: 'plus',
    window: ({ close, reload }) => <InvitationDialog onClose={close} onMade={reload} />,
  },
  columns: [
    { head: 'note', cell: ({ note, id }) => (note === '' ? <code>{id}</code> : note) },
    { head: 'role', cell: ({ role }) => roleName(role) },
    { head: 'tenant', cell: ({ tenant }) => tenant },
    { head: 'state', cell: ({ state }) => <Badge tone={TONES[state]}>{t(`invitation_${state}`)}</Badge> },
    { head: 'uses', kind: 'number', cell: ({ uses, max_uses: most }) => `${uses}/${most}` },
    { head: 'expires', cell: ({ expires_at: at }) => formatTime(at) },
  ],
  buttons: ({ id, note }) => [
    {
      text: t('revoke'),
      label: t('revoke_named', { name: note || id }),
      isDangerous: true,
      question: [t('revoke_invitation'), t('revoke_invitation_detail', { name: note || id }), t('revoke')],
      run: () => call('DELETE /api/v1/identity/invitations/{id}', { params: { id } }),
    },
  ],
});
