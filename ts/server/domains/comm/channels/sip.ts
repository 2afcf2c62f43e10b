/** Telephones behind a SIP server. An account of this kind makes calls alone. */
import { type SipSettings, SipSettingsShape, sipAddress } from '../calls/phone.ts';
import type { Channel } from './channel.ts';

export const sip: Channel = {
  settings: SipSettingsShape,
  keyMeaning: 'the password of `user`',
  needsKey: true,
  isIdempotent: false,
  takesFiles: false,
  makesCalls: true,
  recipientFault: (_, to) => (/^[A-Za-z0-9+*#._-]{1,64}$/.test(to) ? undefined : 'It is no number and no name of a telephone.'),
  address: (settings) => sipAddress(settings as unknown as SipSettings),
  send: async () => ({ kind: 'refused', reason: 'the account makes calls alone' }),
};
