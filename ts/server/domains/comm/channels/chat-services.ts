/** Matrix, Telegram, Slack and Teams, over the shared client. */
import Type from 'typebox';
import { type Channel, outcomeOf, postOnce } from './channel.ts';

const closed = { additionalProperties: false } as const;
const HttpsUrl = Type.String({ maxLength: 500, pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+/?$' });
const TELEGRAM_URL = 'https://api.telegram.org';

/** A transaction id makes a repetition the same event (Matrix client-server API, "Transaction identifiers"). */
export const matrix: Channel = {
  settings: Type.Object({ homeserver: HttpsUrl, user_id: Type.String({ pattern: '^@[^\\s:]{1,200}:[^\\s]{1,200}$' }) }, closed),
  keyMeaning: 'the access token of `user_id`',
  needsKey: true,
  isIdempotent: true,
  takesFiles: false,
  makesCalls: false,
  recipientFault: (_, to) =>
    /^![^\s:/]{1,200}:[A-Za-z0-9.:-]{1,200}$/.test(to)
      ? undefined
      : 'It is no id of a place in Matrix, such as !abc:example.org.',
  address: ({ homeserver }) => new URL(String(homeserver)),
  send: async (parts, { id, to, text }) => {
    const base = String(parts.settings['homeserver']).replace(/\/$/, '');
    const url = new URL(
      `${base}/_matrix/client/v3/rooms/${encodeURIComponent(to)}/send/m.room.message/${encodeURIComponent(id)}`,
    );
    const body = JSON.stringify({ msgtype: 'm.text', body: text });
    const answer = await postOnce(parts, { method: 'PUT', url, body, headers: { authorization: `Bearer ${parts.key}` } });
    const json = ('json' in answer ? answer.json : undefined) as { event_id?: unknown; retry_after_ms?: unknown } | undefined;
    const afterMs = typeof json?.retry_after_ms === 'number' ? json.retry_after_ms : undefined;
    return outcomeOf(answer, typeof json?.event_id === 'string' ? json.event_id : undefined, afterMs);
  },
};

export const telegram: Channel = {
  settings: Type.Object(
    {
      chat_ids: Type.Array(Type.String({ pattern: '^-?[0-9]{1,20}$|^@[A-Za-z0-9_]{1,64}$' }), { minItems: 1, maxItems: 1000 }),
      url: Type.Optional(HttpsUrl),
    },
    closed,
  ),
  keyMeaning: 'the token of the bot',
  needsKey: true,
  isIdempotent: false,
  takesFiles: false,
  makesCalls: false,
  recipientFault: ({ chat_ids: ids }, to) => ((ids as string[]).includes(to) ? undefined : 'It is none of `chat_ids`.'),
  address: ({ url }) => new URL(String(url ?? TELEGRAM_URL)),
  send: async (parts, { to, text }) => {
    const base = String(parts.settings['url'] ?? TELEGRAM_URL).replace(/\/$/, '');
    const url = new URL(`${base}/bot${parts.key}/sendMessage`);
    const answer = await postOnce(parts, { url, body: JSON.stringify({ chat_id: to, text }) });
    type Told = { ok?: boolean; parameters?: { retry_after?: number }; result?: { message_id?: number } };
    const json = ('json' in answer ? answer.json : undefined) as Told | undefined;
    const seconds = json?.parameters?.retry_after;
    return outcomeOf(answer, String(json?.result?.message_id ?? ''), seconds === undefined ? undefined : seconds * 1000);
  },
};

/** The key is the address of the hook, which leads to one place. */
function hook(body: (text: string) => object): Channel {
  return {
    settings: Type.Object({}, closed),
    keyMeaning: 'the address of the hook',
    needsKey: true,
    isIdempotent: false,
    takesFiles: false,
    makesCalls: false,
    recipientFault: (_, to) => (to === '' ? undefined : 'The hook leads to one place: leave `to` empty.'),
    address: (_, key) => (URL.canParse(key) ? new URL(key) : undefined),
    send: async (parts, { text }) =>
      outcomeOf(await postOnce(parts, { url: new URL(parts.key), body: JSON.stringify(body(text)) })),
  };
}

export const slack = hook((text) => ({ text }));

/** A message of the Workflows app is an Adaptive Card. */
export const teams = hook((text) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: { type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text, wrap: true }] },
    },
  ],
}));
