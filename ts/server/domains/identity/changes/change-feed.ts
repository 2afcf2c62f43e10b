/** Hears of changes that other nodes on the same database make. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import Type from 'typebox';
import type { Log } from '../../../platform/log/log.ts';
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';
import { type NotificationListener, type Storage, systemScope } from '../../../platform/storage/index.ts';
import type { IdentityTables } from '../tables.ts';
import { type AnnouncedChange, CHANGE_CHANNEL, type ChangeAnnouncer } from './change-announcer.ts';
import { readVersion } from './change-version.ts';
import { type CredentialChange, EVERYTHING_CHANGED } from './credential-change.ts';

interface ChangeFeedDeps {
  storage: Storage;
  /** This process's: its own changes are known already. */
  announcer: ChangeAnnouncer;
  log: Log;
  onChange(change: CredentialChange): void;
}

const PROBE = 'probe:';
const PROBE_LIMIT_MS = 2_000;
const Announced = new SchemaCheck(
  Type.Object({
    version: Type.Integer({ minimum: 1 }),
    origin: Type.String(),
    tenant: Type.Union([Type.String(), Type.Null()]),
    user: Type.Union([Type.String(), Type.Null()]),
  }),
);

export class ChangeFeed {
  readonly #deps: ChangeFeedDeps;
  readonly #listener: NotificationListener | undefined;
  /** Of the last change that is known here; undefined before the first look. */
  #version: number | undefined;
  readonly #probes = new Map<string, () => void>();

  constructor(deps: ChangeFeedDeps) {
    this.#deps = deps;
    this.#listener = deps.storage.listen(CHANGE_CHANNEL, {
      onNotification: (payload) => this.#heard(payload),
      onListening: async () => {
        await this.#proveDelivery();
        await this.catchUp();
      },
      onLost: (error) =>
        deps.log.warn('the connection that hears of revocations on other nodes was lost; credentials are looked up each second', {
          error,
        }),
    });
  }

  /** Whether every change of another node arrives at once. Always so where there is no other. */
  get isLive(): boolean {
    return this.#listener?.isLive ?? true;
  }

  start(): void {
    this.#listener?.start();
  }

  async stop(): Promise<void> {
    await this.#listener?.stop();
  }

  /** Compares with the database, for what was not heard. */
  async catchUp(): Promise<void> {
    const access = this.#deps.storage.access<IdentityTables>();
    const before = this.#version;
    const { version, origin } = await access.read(systemScope(), readVersion);
    // What was heard while the database was read may be newer than what it said.
    const isMissed = before !== undefined && this.#version === before && version > before;
    const isOwn = origin === this.#deps.announcer.origin && version - 1 === before;
    if (isMissed && !isOwn) this.#deps.onChange(EVERYTHING_CHANGED);
    this.#version = Math.max(version, this.#version ?? 0);
  }

  /** A pooler between may take LISTEN and deliver nothing: only what another connection sends and this one hears proves the channel. */
  async #proveDelivery(): Promise<void> {
    const probe = PROBE + randomBytes(9).toString('base64url');
    const isHeard = new Promise<void>((resolve, reject) => {
      this.#probes.set(probe, resolve);
      const late = () =>
        reject(new Error('notifications do not arrive: a pooler between must keep sessions (no transaction pooling)'));
      setTimeout(late, PROBE_LIMIT_MS).unref();
    });
    isHeard.catch(() => undefined);
    try {
      await this.#deps.storage
        .access<IdentityTables>()
        .write(systemScope(), (tx) => sql`select pg_notify(${CHANGE_CHANNEL}, ${probe})`.execute(tx));
      await isHeard;
    } finally {
      this.#probes.delete(probe);
    }
  }

  #heard(payload: string): void {
    if (payload.startsWith(PROBE)) this.#probes.get(payload)?.();
    else {
      const change = this.#follow(parse(payload));
      if (change !== undefined) this.#deps.onChange(change);
    }
  }

  /** What has to be done about an announced change; undefined: nothing. */
  #follow(announced: AnnouncedChange | undefined): CredentialChange | undefined {
    if (announced === undefined) return EVERYTHING_CHANGED;
    const { version, origin, tenant, user } = announced;
    const isNext = this.#version !== undefined && version <= this.#version + 1;
    this.#version = Math.max(version, this.#version ?? 0);
    if (!isNext) return EVERYTHING_CHANGED;
    return origin === this.#deps.announcer.origin
      ? undefined
      : { tenant: tenant ?? undefined, user: user ?? undefined, requestId: '' };
  }
}

/** Anybody who may connect to the database may send on the channel: what is not understood counts as any change. */
function parse(payload: string): AnnouncedChange | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return Announced.findFault(value, 'the notification') === undefined ? (value as AnnouncedChange) : undefined;
  } catch {
    return undefined;
  }
}
