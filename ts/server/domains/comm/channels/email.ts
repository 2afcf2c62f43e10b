/** Mail over the SMTP server of an account. */
import { once } from 'node:events';
import { createConnection, type NetConnectOpts, type Socket } from 'node:net';
import Type from 'typebox';
import { Mailer } from '../../../platform/mail/mailer.ts';
import type { Channel, Outcome } from './channel.ts';

interface EmailSettings {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly from: string;
  readonly tls?: 'starttls' | 'tls' | 'none';
}

const ADDRESS = /^[^\s@<>"(),:;\\[\]]{1,64}@[A-Za-z0-9.-]{1,190}$/;
const DEFAULT_SUBJECT = 'Message';
/** Failures of nodemailer before any text was handed over. */
const BEFORE_THE_TEXT = new Set(['ETLS', 'EAUTH']);

export const email: Channel = {
  settings: Type.Object(
    {
      host: Type.String({ pattern: '^[A-Za-z0-9.-]{1,253}$' }),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      user: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      from: Type.String({ maxLength: 300, pattern: '^[^\\s@<>]+@[A-Za-z0-9.-]+$' }),
      tls: Type.Optional(Type.Enum(['starttls', 'tls', 'none'])),
    },
    { additionalProperties: false },
  ),
  keyMeaning: 'the password of `user`',
  needsKey: false,
  isIdempotent: false,
  takesFiles: true,
  makesCalls: false,
  recipientFault: (_, to) => (ADDRESS.test(to) ? undefined : 'It is no mail address.'),
  // It is judged as a host is, and as plain HTTP where it is in the clear; what is spoken there is SMTP.
  address: (settings) => {
    const { host, port, tls } = settings as unknown as EmailSettings;
    return new URL(`${tls === 'none' ? 'http' : 'https'}://${host}:${port}`);
  },
  send: async ({ settings, key, policy, signal }, { id, to, subject = DEFAULT_SUBJECT, text, attachments }) => {
    const { host, port, user = '', from, tls = 'starttls' } = settings as unknown as EmailSettings;
    let connection: Socket;
    try {
      connection = await connect({ host, port, lookup: policy.lookupFor(email.address(settings, key) as URL), signal });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { kind: 'retry', reason: `the mail server cannot be reached: ${code ?? message}` };
    }
    const mailer = new Mailer({ host, port, security: tls, username: user, password: key, from, caFile: '', connection });
    try {
      const messageId = `<${id}@${from.split('@')[1] ?? 'svc'}>`;
      const files = attachments.map(({ name, content }) => ({ filename: name, content }));
      await mailer.send({ to, subject, text, messageId, attachments: files });
      return { kind: 'sent', reference: messageId };
    } catch (error) {
      return failureOf(error);
    } finally {
      mailer.close();
      connection.destroy();
    }
  },
};

/** The address is judged as the connection is made, so that a name leads nowhere else a moment later. */
async function connect(options: NetConnectOpts): Promise<Socket> {
  const socket = createConnection(options);
  await once(socket, 'connect');
  return socket;
}

/** An answer of the server is one. Without an answer only what failed before the text was handed over is known to have brought nothing. */
function failureOf(error: unknown): Outcome {
  const { responseCode, code = '' } = error as { responseCode?: number; code?: string };
  if (responseCode !== undefined) {
    const reason = `the mail server answered ${responseCode}`;
    return { kind: responseCode >= 500 ? 'refused' : 'retry', reason };
  }
  if (BEFORE_THE_TEXT.has(code)) return { kind: 'retry', reason: `the mail server cannot be signed in to: ${code}` };
  return { kind: 'unknown', reason: 'the connection ended before the mail server answered' };
}
