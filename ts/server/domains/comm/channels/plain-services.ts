/** Short messages by an HTTP form that is data, and webhooks that are signed. */
import { createHmac } from 'node:crypto';
import Type from 'typebox';
import { type Channel, outcomeOf, postOnce } from './channel.ts';

const closed = { additionalProperties: false } as const;
const Url = Type.String({ maxLength: 500, pattern: '^https?://[!-~]+$' });

/** `{to}`, `{text}` and `{key}` stand in the fields for what they say. */
export const sms: Channel = {
  settings: Type.Object(
    { url: Url, form: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 })) },
    closed,
  ),
  keyMeaning: 'what stands for {key} in the form',
  needsKey: false,
  isIdempotent: false,
  takesFiles: false,
  makesCalls: false,
  recipientFault: (_, to) => (/^\+[1-9][0-9]{5,14}$/.test(to) ? undefined : 'It is no number in the form +491701234567.'),
  address: ({ url }) => new URL(String(url)),
  send: async (parts, { to, text }) => {
    const values: Record<string, string> = { to, text, key: parts.key };
    const fields = Object.entries(parts.settings['form'] as Record<string, string>).map(
      ([name, field]) => [name, field.replace(/\{(to|text|key)\}/g, (_, of: string) => values[of] ?? '')] as [string, string],
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return outcomeOf(
      await postOnce(parts, {
        url: new URL(String(parts.settings['url'])),
        body: new URLSearchParams(fields).toString(),
        headers,
      }),
    );
  },
};

/** Standard Webhooks: `webhook-id` is the message's, by which a receiver knows a repetition. */
export const webhook: Channel = {
  settings: Type.Object({ url: Url }, closed),
  keyMeaning: 'the secret that signs, with or without whsec_ before it',
  needsKey: true,
  isIdempotent: true,
  takesFiles: false,
  makesCalls: false,
  recipientFault: (_, to) => (to.length <= 200 ? undefined : 'It is too long.'),
  address: ({ url }) => new URL(String(url)),
  send: async (parts, { id, to, subject, text }) => {
    const body = JSON.stringify({ id, to, subject, text });
    const timestamp = String(Math.floor(parts.now() / 1000));
    const secret = Buffer.from(parts.key.replace(/^whsec_/, ''), 'base64');
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
    return outcomeOf(await postOnce(parts, { url: new URL(String(parts.settings['url'])), body, headers }));
  },
};
