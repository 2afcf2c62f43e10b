/** The kinds of accounts. */
import type { Channel } from './channel.ts';
import { matrix, slack, teams, telegram } from './chat-services.ts';
import { email } from './email.ts';
import { sms, webhook } from './plain-services.ts';
import { sip } from './sip.ts';

export const CHANNELS = { email, matrix, telegram, slack, teams, sms, webhook, sip } as const satisfies Record<string, Channel>;
export type AccountKind = keyof typeof CHANNELS;
export const ACCOUNT_KINDS = Object.keys(CHANNELS) as AccountKind[];
