/** Accounts over which messages and calls go out, and what became of each. */
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { t } from '../../i18n/language.ts';
import { listScreen, type RowAction } from '../list-screen.tsx';
import { AccountDialog } from '../messages/account-dialog.tsx';
import { SendDialog } from '../messages/send-dialog.tsx';
import { SentLists } from '../messages/sent-lists.tsx';

type Account = Answer<'GET /api/v1/comm/accounts'>['data'][number];

export const Screen = listScreen<Account>({
  title: 'messages',
  detail: 'messages_detail',
  load: () => call('GET /api/v1/comm/accounts'),
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  empty: { icon: 'send', title: 'no_message_accounts', detail: 'no_message_accounts_detail' },
  main: {
    text: 'add_message_account',
    icon: 'plus',
    window: ({ close, reload }) => <AccountDialog onClose={close} onSaved={reload} />,
  },
  label: 'message_accounts',
  below: ({ rows }) => <SentLists accounts={rows} />,
  columns: [
    {
      head: 'message_account',
      cell: ({ name, kind }) => (
        <div class="two-lines">
          <span>{name}</span>
          <span class="small quiet">{kind}</span>
        </div>
      ),
    },
    {
      head: 'state',
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'neutral'}>{t(enabled ? 'message_account_on' : 'message_account_off')}</Badge>
      ),
    },
    {
      head: 'message_recipients',
      cell: ({ allowed_recipients: allowed }) => (
        <span class="breakable small">{allowed.length === 0 ? t('message_recipients_none') : allowed.join(', ')}</span>
      ),
    },
    {
      head: 'message_models',
      cell: ({ model_may_send: may }) => t(may ? 'message_models_may' : 'message_models_ask'),
    },
    {
      head: 'message_repetition',
      cell: ({ can }) => (can.calls ? '–' : t(can.idempotent ? 'message_repetition_known' : 'message_repetition_unknown')),
    },
  ],
  menu: (account) => {
    const { id, name, enabled, can, model_may_send: mayModels } = account;
    const change = (body: { enabled?: boolean; model_may_send?: boolean }) =>
      call('PATCH /api/v1/comm/accounts/{id}', { params: { id }, body });
    const test: RowAction<Account> = {
      text: t('message_test'),
      icon: 'send',
      window: ({ close }) => <SendDialog account={account} onClose={close} />,
    };
    return [
      ...(can.calls ? [] : [test]),
      {
        text: t(enabled ? 'message_switch_off' : 'message_switch_on'),
        icon: enabled ? 'stop' : 'play',
        run: () => change({ enabled: !enabled }),
      },
      {
        text: t(mayModels ? 'message_models_forbid' : 'message_models_allow'),
        icon: 'shield',
        run: () => change({ model_may_send: !mayModels }),
      },
      {
        text: t('remove'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('remove_message_account'), t('remove_message_account_detail', { name }), t('remove')],
        run: () => call('DELETE /api/v1/comm/accounts/{id}', { params: { id } }),
      },
    ];
  },
});
