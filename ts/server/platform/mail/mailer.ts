/** Sends e-mail through the operator's SMTP server. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Transporter } from 'nodemailer';

interface MailOptions {
  host: string;
  port: number;
  /** `starttls`: upgraded before anything is said, or not sent at all; `tls`: from the first byte; `none`: in the clear. */
  security: 'starttls' | 'tls' | 'none';
  /** Empty: without signing in. */
  username: string;
  password: string;
  from: string;
  /** PEM of certificates that are trusted beside the system's; empty: none. */
  caFile: string;
  /** A connection to the server that is open already; absent: one is opened. */
  connection?: Socket;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** It has its angle brackets; absent: a new one is made. */
  messageId?: string;
  attachments?: { filename: string; content: Buffer }[];
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

export class Mailer {
  readonly #options: MailOptions;
  #transport: Transporter | undefined;

  /** Does no I/O. */
  constructor(options: MailOptions) {
    this.#options = options;
  }

  /** Rejects when the server does not take the message; what is said holds no password. */
  async send(mail: Mail): Promise<void> {
    this.#transport ??= await transportOf(this.#options);
    // An address is one recipient, whatever characters it holds.
    await this.#transport.sendMail({ ...mail, to: { name: '', address: mail.to }, from: this.#options.from });
  }

  close(): void {
    this.#transport?.close();
    this.#transport = undefined;
  }
}

/** The library is loaded with the first message. Rejects when the file of certificates cannot be read. */
async function transportOf({ host, port, security, username, password, caFile, connection }: MailOptions): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username !== '' && { auth: { user: username, pass: password } }),
    ...(connection !== undefined && { connection }),
    ...(caFile !== '' && { tls: { ca: readFileSync(caFile) } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A message is text of our own: nothing in it may name a file or an address to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
