import t from 'tap';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { appendToChain } from './audit/audit-chain.ts';
import { auditEntry } from './audit/audit-entry.ts';
import { AuditLog } from './audit/audit-log.ts';
import { newApiKey } from './credentials/api-key.ts';
import { newToken } from './secrets/secret-token.ts';
import type { IdentityTables } from './tables.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

interface Line {
  seq: number;
  actor: string;
  action: string;
  target: string;
  outcome: string;
  tenant: string;
}

interface RefusalLine {
  detail: { reason: string; more?: number };
}

async function linesOf(bed: IdentityBed, as: string, query = ''): Promise<Line[]> {
  return (await bed.ask('GET', `/api/v1/security/audit${query}`, { as })).body.data as Line[];
}

const short = ({ action, outcome }: Line): string => `${action} ${outcome}`;

t.test('what administrators do, sign-ins and denials stand in the log, newest first', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const { body: bob } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'bob', role: 'viewer', tenant: 'red', password: ROOT_PASSWORD },
  });
  await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'bob', password: 'not the password' } });
  const session = (await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'bob', password: ROOT_PASSWORD } })).body
    .token;
  const { body: key } = await bed.ask('POST', '/api/v1/identity/keys', { as: session, body: { name: 'ci' } });
  await bed.ask('GET', '/api/v1/policy/admin', { as: session });
  await bed.ask('POST', '/api/v1/identity/tenants', { as: session, body: { id: 'blue' } });
  // Denials are written a moment after their answer; reading the log waits for them.
  await linesOf(bed, root);
  await bed.ask('DELETE', `/api/v1/identity/users/${bob.id}`, { as: root });
  await bed.ask('GET', '/api/v1/policy/viewer', { as: key.api_key });
  const lines = await linesOf(bed, root);
  t.strictSame(lines.map(short).reverse(), [
    'user.register done',
    'session.create done',
    'tenant.create done',
    'user.create done',
    'session.create denied',
    'session.create done',
    'key.create done',
    'GET /api/v1/policy/admin denied',
    'POST /api/v1/identity/tenants denied',
    'user.delete done',
    'credential.refused denied',
  ]);
  const created = lines.find(({ action }) => action === 'key.create');
  t.match(created, { tenant: 'red', target: key.id, actor: new RegExp(`^user:${bob.id} session:ses_`) });
  t.match(await bed.ask('GET', '/api/v1/security/audit/verify', { as: root }), {
    body: { entries: lines.length, broken_at: null },
  });
  t.strictSame(
    (await linesOf(bed, root, '?limit=2')).map(({ seq }) => seq),
    [11, 10],
  );
  t.strictSame(
    (await linesOf(bed, root, '?limit=2&after=10')).map(({ seq }) => seq),
    [9, 8],
  );
  const former = await bed.ask('GET', '/api/v1/identity/audit?limit=2&before=10', { as: root });
  t.match(former.body, { data: [{ seq: 9 }, { seq: 8 }], next: 8 }, 'under its former path');
});

t.test('administrators of a tenant see what happened in it, and no line of another', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const admin = { username: 'red-admin', role: 'admin', tenant: 'red', password: ROOT_PASSWORD };
  await bed.ask('POST', '/api/v1/identity/users', { as: root, body: admin });
  const session = (await bed.ask('POST', '/api/v1/auth/login', { body: admin })).body.token as string;
  const lines = await linesOf(bed, session);
  t.strictSame(lines.map(short), ['session.create done', 'user.create done']);
  t.ok(lines.every(({ tenant }) => tenant === 'red'));
  t.equal((await bed.ask('GET', '/api/v1/security/audit/verify', { as: session })).status, 403);
});

t.test('a line that was changed, removed or put in by hand is found', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  for (const id of ['a', 'b', 'c', 'd']) await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id } });
  const access = bed.storage.access<IdentityTables>();
  const scope = systemScope();
  const rows = await access.read(scope, (db) => db.selectFrom('identity_audit').selectAll().orderBy('seq').execute());
  const last = rows.at(-1);
  if (last === undefined) throw new Error('the log is empty');
  const restore = () =>
    access.writeUnit(scope, (db) => [
      db.deleteFrom('identity_audit'),
      ...rows.map((row) => db.insertInto('identity_audit').values(row)),
    ]);
  const verify = async () =>
    (await bed.ask('GET', '/api/v1/security/audit/verify', { as: root })).body.broken_at as number | null;
  t.equal(await verify(), null);
  const falsify: [what: string, at: number, change: Parameters<typeof access.writeUnit>[1]][] = [
    ['changed', 3, (db) => [db.updateTable('identity_audit').set({ actor: 'user:other' }).where('seq', '=', 3)]],
    ['changed in its time', 4, (db) => [db.updateTable('identity_audit').set({ at: 1 }).where('seq', '=', 4)]],
    ['removed', 3, (db) => [db.deleteFrom('identity_audit').where('seq', '=', 3)]],
    ['removed at the end', 6, (db) => [db.deleteFrom('identity_audit').where('seq', '=', 6)]],
    ['removed at the beginning', 1, (db) => [db.deleteFrom('identity_audit').where('seq', '=', 1)]],
    ['all removed', 1, (db) => [db.deleteFrom('identity_audit')]],
    ['put in', 7, (db) => [db.insertInto('identity_audit').values({ ...last, seq: 7 })]],
  ];
  for (const [what, at, change] of falsify) {
    await access.writeUnit(scope, change);
    t.equal(await verify(), at, what);
    await restore();
    t.equal(await verify(), null);
  }
});

t.test('a long log is verified page by page, each in a read of its own, while it grows', async (t) => {
  const bed = await openIdentity(t);
  const access = bed.storage.access<IdentityTables>();
  const entry = auditEntry({ caller: ANONYMOUS, remoteAddress: '192.0.2.1', requestId: '' }, { action: 'test.line' });
  const append = (n: number) =>
    access.write(systemScope(), (tx) =>
      appendToChain(
        tx,
        Array.from({ length: n }, () => entry),
      ),
    );
  for (const n of [900, 900, 700]) await append(n);
  let nReads = 0;
  const growing: typeof access = {
    dialect: access.dialect,
    write: access.write.bind(access),
    writeUnit: access.writeUnit.bind(access),
    read: async (scope, work) => {
      nReads += 1;
      await append(1);
      return access.read(scope, work);
    },
  } as typeof access;
  const log = new AuditLog(growing, silentLog);
  t.strictSame(await log.verify(), { entries: 2_501, brokenAt: undefined }, 'as it was when it began');
  t.ok(nReads >= 4, `${nReads} reads`);
  await access.writeUnit(systemScope(), (db) => [
    db.updateTable('identity_audit').set({ target: 'other' }).where('seq', '=', 2_000),
  ]);
  t.strictSame(await log.verify(), { entries: 1_999, brokenAt: 2_000 });
});

t.test('bad credentials of one address are one line at once and then one a minute with their number', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  for (let i = 0; i < 50; i += 1) await bed.ask('GET', '/api/v1/policy/viewer', { as: newApiKey() });
  for (let i = 0; i < 5; i += 1) await bed.ask('GET', '/api/v1/policy/viewer', { as: newToken('svcs_') });
  const refused = async (from: IdentityBed) =>
    ((await from.ask('GET', '/api/v1/security/audit?q=credential.refused', { as: root })).body.data as RefusalLine[])
      .reverse()
      .map(({ detail }) => [detail.reason, detail.more]);
  t.strictSame(await refused(bed), [
    ['api_key_unknown', undefined],
    ['expired', undefined],
  ]);
  // A node that stops writes what it counted.
  t.strictSame((await refused(await bed.restart())).slice(2), [
    ['api_key_unknown', 49],
    ['expired', 4],
  ]);
});

t.test('many writers at once keep one chain', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const create = (i: number) => bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: `t${i}` } });
  await Promise.all(Array.from({ length: 20 }, (_, i) => create(i)));
  t.match(await bed.ask('GET', '/api/v1/security/audit/verify', { as: root }), { body: { entries: 22, broken_at: null } });
});
