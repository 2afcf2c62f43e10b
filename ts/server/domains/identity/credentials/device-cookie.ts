/**
 * The cookie by which a browser is known that signed in before. It opens nothing: attempts to sign in with it have a window of their own
 * (`accounts/attempt-limit.ts`), so that nobody else can lock its owner out. It stays when the session ends.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { RequestContext } from '../../../platform/http/route.ts';
import { systemScope } from '../../../platform/storage/index.ts';
import type { IdentityStorage, IdentityTables } from '../tables.ts';
import { type CookieRequest, namedCookie, readCookie } from './session-cookie.ts';

/** A browser in which somebody signed in to an account. */
export interface Device {
  readonly id: string;
  readonly userId: string;
}

type DeviceRequest = CookieRequest & Pick<RequestContext, 'headers'>;

const NAME = 'device';
const KEY_FACT = 'device_key';
const KEY_BYTES = 32;
const ID_BYTES = 12;
const VALID_MS = 365 * 24 * 60 * 60 * 1000;
/** People share browsers, and each of them is known. */
const MAX_DEVICES = 4;
const MAX_LENGTH = 2_048;
const BETWEEN = '~';

export class DeviceCookie {
  readonly #storage: IdentityStorage;
  #key = Buffer.alloc(0);

  constructor(storage: IdentityStorage) {
    this.#storage = storage;
  }

  /** All nodes of the installation sign with one key, which the first of them makes. */
  async start(): Promise<void> {
    const known = await this.#storage.read(systemScope(), findKey);
    this.#key = Buffer.from(known ?? (await this.#storage.write(systemScope(), makeKey)), 'hex');
  }

  /** The devices that the browser is; those that were not signed here, or long ago, are left out. */
  read(request: DeviceRequest): Device[] {
    return this.#tokens(request).flatMap((token) => this.#open(token) ?? []);
  }

  /** Somebody signed in to the account: the browser is known to it from now on, under the name that it has. */
  issue(request: DeviceRequest, userId: string): string {
    const id = this.read(request).find((device) => device.userId === userId)?.id ?? randomBytes(ID_BYTES).toString('base64url');
    const others = this.#tokens(request).filter((token) => {
      const device = this.#open(token);
      return device !== undefined && device.userId !== userId;
    });
    const tokens = [this.#sign(userId, id, Date.now() + VALID_MS), ...others].slice(0, MAX_DEVICES);
    return namedCookie(request, NAME, tokens.join(BETWEEN), VALID_MS / 1000);
  }

  #tokens(request: DeviceRequest): string[] {
    const value = readCookie(request, NAME);
    return value === undefined || value.length > MAX_LENGTH ? [] : value.split(BETWEEN, MAX_DEVICES);
  }

  #sign(userId: string, id: string, expiresAt: number): string {
    const said = [userId, id, String(expiresAt)].join('.');
    return `${said}.${this.#mac(said).toString('base64url')}`;
  }

  #open(token: string): Device | undefined {
    const [userId = '', id = '', expiresAt = '', mac = ''] = token.split('.', 5);
    const expected = this.#mac([userId, id, expiresAt].join('.'));
    const shown = Buffer.from(mac, 'base64url');
    const isSigned = shown.length === expected.length && timingSafeEqual(shown, expected);
    return isSigned && Number(expiresAt) > Date.now() ? { userId, id } : undefined;
  }

  #mac(said: string): Buffer {
    return createHmac('sha256', this.#key).update(said).digest();
  }
}

async function findKey(db: Kysely<IdentityTables>): Promise<string | undefined> {
  const fact = await db.selectFrom('identity_facts').select('value').where('name', '=', KEY_FACT).executeTakeFirst();
  return fact?.value;
}

/** The key that another node made meanwhile stays. */
async function makeKey(tx: Kysely<IdentityTables>): Promise<string> {
  const row = { name: KEY_FACT, value: randomBytes(KEY_BYTES).toString('hex') };
  await tx
    .insertInto('identity_facts')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await findKey(tx)) ?? row.value;
}
