/**
 * Reset tokens by e-mail. Whoever asks hears the same, as quickly, whether there is such an account or not: accounts are looked up and messages
 * sent afterwards, one at a time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../../platform/log/log.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import type { AuditSource } from '../audit/audit-entry.ts';
import type { Device } from '../credentials/device-cookie.ts';
import type { SessionStore } from '../credentials/session-store.ts';
import { identityError } from '../errors.ts';
import type { UserRow } from '../tables.ts';
import { nameKey } from './account-name.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import type { UserStore } from './user-store.ts';
import type { Users } from './users.ts';

interface ResetMailDeps {
  store: UserStore;
  users: Users;
  sessions: SessionStore;
  /** Undefined: no SMTP server is configured. */
  mailer: { send(mail: Mail): Promise<void> } | undefined;
  attempts: AttemptLimit;
  /** Empty: messages have no link. The Host of a request is no source of links: its sender chose it. */
  publicUrl: string;
  log: Log;
}

interface Asked {
  name: string;
  source: AuditSource;
  devices: readonly Device[];
}

const MAX_WAITING = 200;
const ATTEMPTS = 3;
const RETRY_MS = 2_000;
/** Before accounts are looked up, so that neither the answer nor the one after it takes longer where there is one. */
const DELAY_MS = { least: 200, most: 800 };

export class ResetMail {
  readonly #deps: ResetMailDeps;
  #waiting: Asked[] = [];
  #sending: Promise<void> | undefined;
  #stopped = new AbortController();

  constructor(deps: ResetMailDeps) {
    this.#deps = deps;
  }

  /** Throws `mail_not_configured`, `too_many_attempts` and `server_busy`, each whatever the name is. */
  request(name: string, source: AuditSource, devices: readonly Device[]): void {
    if (this.#deps.mailer === undefined) {
      throw identityError(
        'mail_not_configured',
        'This node sends no e-mail. Ask an administrator for a reset token (`svc user reset`).',
      );
    }
    // Which account it is, is not looked up yet: browsers that one account is known in have one window for all names, however many they are.
    const [device] = devices;
    const account = device === undefined ? `mail ${nameKey(name)}` : 'mail';
    this.#deps.attempts.countClient({ account, remoteAddress: source.remoteAddress, device: device?.userId });
    if (this.#waiting.length >= MAX_WAITING) {
      throw identityError('server_busy', 'Too many messages wait to be sent; retry shortly.', { retryAfterMs: 30_000 });
    }
    this.#waiting.push({ name, source, devices });
    this.#sending ??= this.#sendAll();
  }

  /** Requests that are not answered by a message yet are forgotten. */
  async stop(): Promise<void> {
    this.#waiting = [];
    this.#stopped.abort();
    await this.#sending;
    this.#stopped = new AbortController();
  }

  async #sendAll(): Promise<void> {
    await wait(DELAY_MS.least + Math.random() * (DELAY_MS.most - DELAY_MS.least), undefined, {
      signal: this.#stopped.signal,
    }).catch(() => {});
    for (let asked = this.#waiting.shift(); asked !== undefined; asked = this.#waiting.shift()) {
      await this.#answer(asked).catch((error: unknown) => this.#logFailure(error));
    }
    this.#sending = undefined;
  }

  async #answer({ name, source, devices }: Asked): Promise<void> {
    const { store, users, sessions, attempts } = this.#deps;
    const user = await store.findByName(nameKey(name));
    if (user === undefined || user.email === null || user.disabled === 1) return;
    // An account has a name and an address, and both together have one limit.
    const device = devices.find(({ userId }) => userId === user.id)?.id;
    const attempt = { account: `mail of ${user.id}`, remoteAddress: source.remoteAddress, device };
    if (await sessions.isSignedInFrom(user, source.remoteAddress)) attempts.know(attempt);
    attempts.countAccount(attempt);
    const { token } = await users.issueOwnReset(user, source);
    await this.#send({ to: user.email, subject: 'Set a new password', text: this.#textOf(user, token, source) });
  }

  async #send(mail: Mail): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#deps.mailer?.send(mail);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || this.#stopped.signal.aborted) throw error;
        await wait(RETRY_MS * attempt, undefined, { signal: this.#stopped.signal });
      }
    }
  }

  #textOf({ username }: UserRow, token: string, { remoteAddress }: AuditSource): string {
    const base = this.#deps.publicUrl.replace(/\/$/, '');
    // What stands behind # is not sent to servers, so that no log of a proxy has the token.
    const link =
      base === '' ? '' : `Open this address within an hour:\n\n${base}/login#reset=${token}\n\nOr use the token itself:\n\n`;
    return (
      `A new password was asked for, for the account ${username}${base === '' ? '' : ` at ${base}`}, from the address ${remoteAddress}.\n\n` +
      `${link}${token}\n\n` +
      'The token works once, for an hour. If it was not you, do nothing: the password stays as it is.\n'
    );
  }

  /** Neither the address nor the token belongs into a log. */
  #logFailure(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
    this.#deps.log.warn('a reset token was not sent', { code: String(code ?? 'failed'), smtp_status: responseCode });
  }
}
