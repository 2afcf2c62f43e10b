/** Lists the messages and calls that went out over the accounts, with what became of each. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { isOnItsWay, SentBadge } from '../../design/sent-badge.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { formatSeconds, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { type ListSpec, WindowList } from '../list-screen.tsx';

type Message = Answer<'GET /api/v1/comm/messages'>['data'][number];
type Call = Answer<'GET /api/v1/comm/calls'>['data'][number];
type Names = ReadonlyMap<string, string>;

const EVERY_MS = 5_000;

const VIEWS = ['sent_messages', 'sent_calls'] as const;

/** @param accounts records outlive their account, whose name is then unknown. */
export function SentLists({ accounts }: { accounts: readonly { id: string; name: string }[] }) {
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const [chosen, choose] = useState<string>(VIEWS[0]);
  const tabs = VIEWS.map((id) => ({ id, text: t(id) }));
  return (
    <>
      <Tabs label={t('sent_what')} tabs={tabs} chosen={chosen} onChoose={choose} />
      {chosen === 'sent_calls' ? (
        <WindowList key="calls" spec={callsOf(names)} label={t('sent_calls')} />
      ) : (
        <WindowList key="messages" spec={messagesOf(names)} label={t('sent_messages')} />
      )}
    </>
  );
}

function Recipient({ row, names }: { row: Pick<Message, 'to' | 'account_id'>; names: Names }) {
  return (
    <div class="two-lines">
      <span class="breakable">{row.to}</span>
      <span class="small quiet">{names.get(row.account_id) ?? '–'}</span>
    </div>
  );
}

function Became({ state, why }: { state: Message['state'] | Call['state']; why: string | null }) {
  return (
    <div class="two-lines">
      <span>
        <SentBadge state={state} />
      </span>
      {why !== null && <span class="small quiet breakable">{why}</span>}
    </div>
  );
}

const messagesOf = (names: Names): ListSpec<Message, undefined> => ({
  title: 'sent_messages',
  load: (query) => call('GET /api/v1/comm/messages', { query }),
  keyOf: ({ id }) => id,
  everyMs: EVERY_MS,
  empty: { icon: 'send', title: 'no_sent_messages' },
  columns: [
    { head: 'message_to', cell: (row) => <Recipient row={row} names={names} /> },
    { head: 'state', cell: ({ state, reason }) => <Became state={state} why={reason} /> },
    { head: 'time', cell: ({ updated_at: at }) => formatTime(at) },
  ],
  buttons: ({ id, to, state }) =>
    state !== 'outcome_unknown'
      ? []
      : [
          {
            text: t('message_resend'),
            label: t('message_resend_to', { to }),
            question: [t('message_resend'), t('message_resend_detail'), t('message_resend')],
            run: () => call('POST /api/v1/comm/messages/{id}/resend', { params: { id } }),
          },
        ],
});

const callsOf = (names: Names): ListSpec<Call, undefined> => ({
  title: 'sent_calls',
  load: (query) => call('GET /api/v1/comm/calls', { query }),
  keyOf: ({ id }) => id,
  everyMs: EVERY_MS,
  empty: { icon: 'send', title: 'no_sent_calls' },
  columns: [
    { head: 'message_to', cell: (row) => <Recipient row={row} names={names} /> },
    {
      head: 'state',
      cell: ({ state, reason, sip_status: status }) => (
        <Became state={state} why={reason ?? (status === null ? null : `SIP ${status}`)} />
      ),
    },
    { head: 'call_talked', cell: ({ talked_seconds: seconds }) => formatSeconds(seconds) },
    { head: 'call_keys', cell: ({ digits }) => (digits === null || digits === '' ? '–' : <code>{digits}</code>) },
    { head: 'call_heard', kind: 'long', cell: ({ transcript, recording_file_id: file }) => transcript ?? file ?? '–' },
    { head: 'time', cell: ({ updated_at: at }) => formatTime(at) },
  ],
  buttons: ({ id, to, state }) =>
    !isOnItsWay(state)
      ? []
      : [
          {
            text: t('call_hang_up'),
            label: t('call_hang_up_to', { to }),
            isDangerous: true,
            run: () => call('POST /api/v1/comm/calls/{id}/hangup', { params: { id } }),
          },
        ],
});
