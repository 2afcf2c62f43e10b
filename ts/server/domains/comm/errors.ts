/** Refusals of the comm module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const commErrors = defineErrors('comm', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  recipient_not_allowed: [
    400,
    'The account sends nothing to that recipient.',
    'Choose one of `allowed_recipients`, or have an administrator add it.',
  ],
  unsafe_address: [
    400,
    'The server of the account lies inside the network, or is reached without encryption, and its host is not named.',
    'Have the operator name its host in comm.allowed_hosts.',
  ],
  account_cannot: [
    400,
    'The account makes no such thing: some send messages, some make calls.',
    'Look at `can`: `svc comm accounts`.',
  ],
  attachment_refused: [
    400,
    'The account takes no files, the caller has no such file, or they are larger than 10 MiB together.',
    'Leave `file_ids` out, or name stored files of your own.',
  ],
  account_not_found: [404, 'There is no such account that the caller may use.', 'List them: `svc comm accounts`.'],
  call_not_found: [404, 'There is no such call of the caller.', 'Look at what POST /api/v1/comm/calls/start answered.'],
  message_not_found: [404, 'There is no such message of the caller.', 'Look at what POST /api/v1/comm/messages answered.'],
  account_exists: [409, 'The tenant has an account of that name.', 'Choose another name, or change that one.'],
  account_disabled: [409, 'The account is switched off.', 'Have an administrator switch it on.'],
  account_key_elsewhere: [
    409,
    'The key of the account was given to another node, and is sealed for that one.',
    'Send from that node, or give the key to this one.',
  ],
  idempotency_key_reused: [409, 'The key was used for another message.', 'Use a new key for a new message.'],
  message_not_resendable: [
    409,
    'The message was sent, is on its way, or its text is erased.',
    'Send a new one, where it was not sent.',
  ],
  calls_busy: [429, 'The node makes as many calls as it may at a time.', 'Start it later.'],
  send_limit_exceeded: [
    429,
    'The account has sent as many messages in a day as it may.',
    'Wait, or have an administrator raise the limit.',
  ],
});

export const commError = commErrors.error;
