/** `svc comm`: accounts of a running node, and messages over them. */
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Answer, Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type NewAccount = Body<'POST /api/v1/comm/accounts'>;
type Call = Answer<'GET /api/v1/comm/calls/{id}'>;
type Message = Answer<'GET /api/v1/comm/messages/{id}'>;

const account = { name: 'ACCOUNT', help: 'its id, as `svc comm accounts` shows it' };
const message = { name: 'MESSAGE', help: 'its id, as `svc comm send` printed it' };
const call = { name: 'CALL', help: 'its id, as `svc call start` printed it' };
const CALL_EXAMPLE = 'call_0199a3b2-0000-7000-8000-000000000000';
/** So long is waited for each key. */
const DIGIT_SECONDS = 10;
const EXAMPLE = 'acc_0199a3b2-0000-7000-8000-000000000000';
const MESSAGE_EXAMPLE = 'msg_0199a3b2-0000-7000-8000-000000000000';

export const commAccounts = listCommand({
  words: ['comm', 'accounts'],
  summary: 'List the accounts over which messages are sent',
  examples: ['svc comm accounts'],
  route: 'GET /api/v1/comm/accounts',
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    KIND: ({ kind }) => kind,
    STATE: ({ enabled }) => (enabled ? 'on' : 'off'),
    KEY: ({ key_present: isThere }) => (isThere ? 'set' : '-'),
    RECIPIENTS: ({ allowed_recipients: allowed }) => allowed.join(' '),
    MODELS: ({ model_may_send: may }) => (may ? 'may send' : 'by approval'),
  },
  empty: 'no accounts',
});

export const commAdd = serverCommand({
  words: ['comm', 'add'],
  summary: 'Add an account, which a JSON file describes',
  positionals: [{ name: 'FILE', help: '`{kind, name, settings, allowed_recipients, limits, model_may_send}`' }],
  options: { 'key-stdin': { kind: 'flag', help: 'read its key from standard input, one line' } },
  examples: ['svc comm add mail.json --key-stdin < password.txt'],
  async run({ positionals: [file = ''], options: { 'key-stdin': isTyped }, client, terminal }) {
    const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw usageError(`${file} cannot be read: ${cause.code}`, 'name a JSON file that describes the account');
    });
    const key = isTyped === true ? { key: (await readAll(process.stdin)).trim() } : {};
    const added = await client.call('POST /api/v1/comm/accounts', { body: { ...(JSON.parse(text) as NewAccount), ...key } });
    terminal.result(added, printable(`${added.name} is ${added.id}`));
    return 'ok';
  },
});

export const commTest = requestCommand({
  words: ['comm', 'test'],
  summary: 'Send a test message over an account',
  positionals: [account, { name: 'TO', help: 'the recipient; empty for hooks' }],
  examples: [`svc comm test ${EXAMPLE} ann@example.org`],
  route: 'POST /api/v1/comm/accounts/{id}/test',
  given: ({ positionals: [id = '', to = ''] }) => ({ params: { id }, body: to === '' ? {} : { to } }),
  text: shown,
});

export const commEnable = switchCommand('enable', 'Let an account send', true);
export const commDisable = switchCommand('disable', 'Let an account send no more', false);

function switchCommand(verb: string, summary: string, enabled: boolean) {
  return requestCommand({
    words: ['comm', verb],
    summary,
    positionals: [account],
    examples: [`svc comm ${verb} ${EXAMPLE}`],
    route: 'PATCH /api/v1/comm/accounts/{id}',
    given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled } }),
    text: ({ name }) => printable(`${name} is ${enabled ? 'on' : 'off'}`),
  });
}

export const commSend = requestCommand({
  words: ['comm', 'send'],
  summary: 'Send a message over an account, once',
  positionals: [account, { name: 'TO', help: 'the recipient; empty for hooks' }, { name: 'TEXT', help: 'of the message' }],
  options: {
    subject: { kind: 'text', value: 'TEXT', help: 'of a mail' },
    file: { kind: 'text', value: 'ID', help: 'a stored file of yours, which goes with a mail' },
    key: { kind: 'text', value: 'KEY', help: 'the same key gives the first message, and sends no second one' },
  },
  examples: [`svc comm send ${EXAMPLE} ann@example.org "The backup is done"`],
  route: 'POST /api/v1/comm/messages',
  given: ({ positionals: [id = '', to = '', text = ''], options: { subject, file, key } }) => ({
    body: {
      account_id: id,
      text,
      ...(to !== '' && { to }),
      ...(subject !== undefined && { subject }),
      ...(file !== undefined && { file_ids: [file] }),
      ...(key !== undefined && { idempotency_key: key }),
    },
  }),
  text: ({ message_id: id, state, approval_id: approval }) =>
    id === null ? `it waits for the approval ${approval}` : `${id} is ${state}`,
});

export const commMessages = listCommand({
  words: ['comm', 'messages'],
  summary: 'List messages with what became of each, newest first',
  options: { limit: { kind: 'integer', value: 'ROWS', min: 1, max: 1000, help: '100 by default' } },
  examples: ['svc comm messages --limit 20'],
  route: 'GET /api/v1/comm/messages',
  given: ({ options: { limit } }) => ({ query: limit === undefined ? {} : { limit } }),
  columns: {
    ID: ({ id }) => id,
    TO: ({ to }) => to,
    STATE: ({ state }) => state,
    REASON: ({ reason }) => reason ?? '-',
    CHANGED: ({ updated_at: at }) => at,
  },
  empty: 'no messages',
});

export const commShow = requestCommand({
  words: ['comm', 'show'],
  summary: 'Show what became of a message; fails where it was not sent',
  positionals: [message],
  examples: [`svc comm show ${MESSAGE_EXAMPLE}`],
  route: 'GET /api/v1/comm/messages/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: shown,
  exit: ({ state }) => (state === 'failed' || state === 'outcome_unknown' ? 'failed' : 'ok'),
});

export const commResend = requestCommand({
  words: ['comm', 'resend'],
  summary: 'Send a message again whose outcome nobody knows',
  positionals: [message],
  examples: [`svc comm resend ${MESSAGE_EXAMPLE}`],
  route: 'POST /api/v1/comm/messages/{id}/resend',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: shown,
});

export const commRemove = requestCommand({
  words: ['comm', 'rm'],
  summary: 'Remove an account',
  positionals: [account],
  examples: [`svc comm rm ${EXAMPLE}`],
  route: 'DELETE /api/v1/comm/accounts/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is removed`,
});

export const callStart = requestCommand({
  words: ['call', 'start'],
  summary: 'Call a telephone over an account of the kind sip',
  positionals: [account, { name: 'TO', help: 'the number' }],
  options: {
    say: { kind: 'text', value: 'TEXT', help: 'what is read aloud when somebody answers' },
    file: { kind: 'text', value: 'ID', help: 'a stored WAV file of yours, played first' },
    digits: { kind: 'integer', value: 'NUMBER', min: 1, max: 32, help: 'collect so many keys' },
    record: { kind: 'flag', help: 'record what is said behind the text and a tone' },
  },
  examples: [`svc call start ${EXAMPLE} +491701234567 --say "The pump has stopped. Press 1." --digits 1`],
  route: 'POST /api/v1/comm/calls/start',
  given: ({ positionals: [id = '', to = ''], options: { say, file, digits, record } }) => ({
    body: {
      account_id: id,
      to,
      ...(say !== undefined && { say }),
      ...(file !== undefined && { file_id: file }),
      ...(digits !== undefined && { digits: { max: digits, timeout_seconds: DIGIT_SECONDS } }),
      ...(record === true && { record }),
    },
  }),
  text: ({ call_id: id, state, approval_id: approval }) =>
    id === null ? `it waits for the approval ${approval}` : `${id} is ${state}`,
});

export const callList = listCommand({
  words: ['call', 'list'],
  summary: 'List calls with their ends, newest first',
  options: { limit: { kind: 'integer', value: 'ROWS', min: 1, max: 1000, help: '100 by default' } },
  examples: ['svc call list --limit 20'],
  route: 'GET /api/v1/comm/calls',
  given: ({ options: { limit } }) => ({ query: limit === undefined ? {} : { limit } }),
  columns: {
    ID: ({ id }) => id,
    TO: ({ to }) => to,
    STATE: ({ state }) => state,
    SIP: ({ sip_status: status }) => String(status ?? '-'),
    SECONDS: ({ talked_seconds: seconds }) => seconds.toFixed(1),
    CHANGED: ({ updated_at: at }) => at,
  },
  empty: 'no calls',
});

export const callShow = requestCommand({
  words: ['call', 'show'],
  summary: 'Show how a call goes, or went',
  positionals: [call],
  examples: [`svc call show ${CALL_EXAMPLE}`],
  route: 'GET /api/v1/comm/calls/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: calledText,
});

export const callHangup = requestCommand({
  words: ['call', 'hangup'],
  summary: 'Hang a call up',
  positionals: [call],
  examples: [`svc call hangup ${CALL_EXAMPLE}`],
  route: 'POST /api/v1/comm/calls/{id}/hangup',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: calledText,
});

function calledText({ id, to, state, sip_status: status, digits, recording_file_id: file, reason }: Call): string {
  const more = [
    ...(status === null ? [] : [`SIP ${status}`]),
    ...(reason === null ? [] : [reason]),
    ...(digits === null || digits === '' ? [] : [`keys ${digits}`]),
    ...(file === null ? [] : [`recorded as ${file}`]),
  ];
  return printable(`${id} to ${to} is ${state}${more.length === 0 ? '' : `: ${more.join(', ')}`}`);
}

function shown({ id, to, state, reason }: Message): string {
  return printable(`${id} to ${to} is ${state}${reason === null ? '' : `: ${reason}`}`);
}
