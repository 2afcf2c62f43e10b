/** One account of each role, with every kind of credential in every state. */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Client } from './client.ts';
import type { Program } from './program.ts';

export const ROLES = ['viewer', 'developer', 'admin', 'superadmin'] as const;
export type Role = (typeof ROLES)[number];
export const KINDS = ['key', 'bearer', 'cookie', 'capability'] as const;
export type Kind = (typeof KINDS)[number];
export const STATES = ['good', 'revoked', 'expired'] as const;
export type State = (typeof STATES)[number];

export type Headers = Readonly<Record<string, string>>;

export interface Account {
  readonly role: Role;
  readonly headers: Readonly<Record<Kind, Readonly<Record<State, Headers>>>>;
}

export const password = 'correct horse battery';

const SCOPES_OF_CHAT = ['chat:use', 'embeddings:use', 'models:read', 'knowledge:read'];
const CAPABILITY_SCOPES: Readonly<Record<Role, readonly string[]>> = {
  viewer: SCOPES_OF_CHAT,
  developer: SCOPES_OF_CHAT,
  admin: [...SCOPES_OF_CHAT, 'models:manage', 'identity:read', 'audit:read', 'admin'],
  superadmin: [...SCOPES_OF_CHAT, 'models:manage', 'identity:read', 'audit:read', 'admin'],
};

const asKey = (key: string): Headers => ({ 'x-api-key': key });
const asBearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const asCookie = (token: string): Headers => ({ cookie: `svc_session=${token}`, 'sec-fetch-site': 'same-origin' });

/** Takes a second: what expires soonest does so after one. */
export async function openAccounts({ client, databaseUrl }: Program, root: Headers, tenant: string): Promise<Account[]> {
  const accounts: Account[] = [];
  const outdated: string[] = [];
  for (const role of ROLES) {
    const username = `${tenant}-${role}`;
    await client.json('POST', '/api/v1/identity/users', root, { username, tenant, role, password });
    const sessions = {
      good: await signIn(client, username),
      revoked: await signIn(client, username),
      expired: await signIn(client, username),
    };
    await client.json('DELETE', `/api/v1/users/me/sessions/${sessions.revoked.id}`, asBearer(sessions.good.token));
    outdated.push(sessions.expired.id);
    const own = asBearer(sessions.good.token);
    const each = <T>(make: (state: State) => T) => ({ good: make('good'), revoked: make('revoked'), expired: make('expired') });
    const [keys, capabilities] = [await openKeys(client, own), await openCapabilities(client, own, role)];
    accounts.push({
      role,
      headers: {
        key: each((state) => asKey(keys[state])),
        bearer: each((state) => asBearer(sessions[state].token)),
        cookie: each((state) => asCookie(sessions[state].token)),
        capability: each((state) => asBearer(capabilities[state])),
      },
    });
  }
  await expireSessions(databaseUrl, outdated);
  await sleep(1_100);
  return accounts;
}

/** No route does so: sessions end late by themselves. */
async function expireSessions(databaseUrl: string, ids: readonly string[]): Promise<void> {
  if (!databaseUrl.startsWith('sqlite:')) {
    const db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    // Row-level security hides the rows of each tenant from the others.
    await db.query("select set_config('svc.tenant', '*', false)");
    await db.query('UPDATE identity_sessions SET expires_at = 1 WHERE id = ANY($1)', [ids]);
    await db.end();
    return;
  }
  const db = new Database(databaseUrl.slice('sqlite:'.length));
  for (const id of ids) db.prepare('UPDATE identity_sessions SET expires_at = 1 WHERE id = ?').run(id);
  db.close();
}

export async function signIn(client: Client, username: string): Promise<{ token: string; id: string }> {
  const { token } = await client.json('POST', '/api/v1/auth/login', {}, { username, password });
  const { data } = await client.json('GET', '/api/v1/users/me/sessions', asBearer(token));
  return { token, id: data.find(({ current }: { current: boolean }) => current).id };
}

async function openKeys(client: Client, own: Headers): Promise<Record<State, string>> {
  const make = (body: object) => client.json('POST', '/api/v1/identity/keys', own, body);
  const [good, revoked] = [await make({ name: 'good' }), await make({ name: 'revoked' })];
  await client.json('DELETE', `/api/v1/identity/keys/${revoked.id}`, own);
  const expired = await make({ name: 'expired', expires_in_seconds: 1 });
  return { good: good.api_key, revoked: revoked.api_key, expired: expired.api_key };
}

async function openCapabilities(client: Client, own: Headers, role: Role): Promise<Record<State, string>> {
  const make = (expires_in_seconds: number) =>
    client.json('POST', '/api/v1/identity/capabilities', own, { scopes: CAPABILITY_SCOPES[role], expires_in_seconds });
  const [good, revoked, expired] = [await make(86_400), await make(86_400), await make(1)];
  await client.json('POST', '/api/v1/identity/capabilities/revoke', own, { id: revoked.id });
  return { good: good.token, revoked: revoked.token, expired: expired.token };
}
