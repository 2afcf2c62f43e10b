/** A tenant or an account that is deleted leaves nothing behind in any module, on either database. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { readMemoryFile, type SectionData, writeMemoryFile } from '../ts/server/domains/memory/files/memory-file.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { type Belongings, makeBelongings } from './matrix/belongings.ts';
import { type Headers, password, signIn } from './matrix/credentials.ts';
import { openProgram, type Program } from './matrix/program.ts';
import { openQuery, type Query } from './matrix/query.ts';

t.setTimeout(300_000);

/** Who did what stays, with what was revoked and what happened; the use of the last minute goes by itself. */
const KEPT = ['identity_audit', 'identity_api_keys', 'events', 'metering_recent'];
/** Each tenant of the test has something there. */
const MADE = [
  ...[
    'data_bases',
    'data_chunks',
    'data_files',
    'data_uploads',
    'data_blobs',
    'conversations',
    'conversation_messages',
    'artifacts',
    'prompts',
  ],
  ...[
    'responses',
    'metering_usage',
    'metering_quotas',
    'jobs',
    'webhooks',
    'edge_approvals',
    'edge_policies',
    'swarm_schedules',
    'comm_accounts',
    'comm_messages',
    'comm_calls',
    'identity_users',
    'identity_groups',
    'identity_sessions',
  ],
];
const TENANT = 'amber';
const OTHER = 'birch';

interface World extends Program {
  readonly folder: string;
  readonly root: Headers;
  readonly query: Query;
}

interface Made {
  readonly belongings: Belongings;
  readonly steward: Headers;
  readonly person: Headers;
  readonly personId: string;
}

async function openWorld(t: Test, databaseUrl: string | undefined): Promise<World> {
  const folder = newFolder(t);
  const program = await openProgram(folder, databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl });
  t.teardown(() => program.stop());
  const { token } = await program.client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
  return { ...program, folder, root: { authorization: `Bearer ${token}` }, query: await openQuery(t, program.databaseUrl) };
}

async function makeTenant({ client, root }: World, id: string): Promise<Made> {
  await client.json('POST', '/api/v1/identity/tenants', root, { id, name: id });
  const make = async (name: string, role: string) => {
    const username = `${id}-${name}`;
    const user = await client.json('POST', '/api/v1/identity/users', root, { username, tenant: id, role, password });
    await signIn(client, username);
    return { id: user.id as string, headers: { authorization: `Bearer ${(await signIn(client, username)).token}` } };
  };
  const [steward, person] = [await make('steward', 'admin'), await make('person', 'viewer')];
  await client.json('PUT', '/api/v1/metering/quotas', root, { tenant: id, requests_per_minute: 1_000 });
  await client.json('PUT', '/api/v1/security/enforcement', root, { mode: 'audit', tenant: id });
  const belongings = await makeBelongings(client, id, steward.headers, person.headers);
  await until(async () => {
    const { status } = await client.json('GET', `/v1/responses/${belongings.ids.response}`, person.headers);
    return status === 'completed' ? [] : [`the response is ${status}`];
  });
  return { belongings, steward: steward.headers, person: person.headers, personId: person.id };
}

/** Waits until it tells of nothing any more. */
async function until(left: () => Promise<string[]>, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let found = await left(); found.length > 0; found = await left()) {
    if (performance.now() > deadline) throw new Error(`still so: ${found.join(', ')}`);
    await sleep(20);
  }
}

async function tablesOfTenants({ query, databaseUrl }: World): Promise<string[]> {
  const rows = await query(
    databaseUrl.startsWith('sqlite:')
      ? "select m.name as name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'tenant' where m.type = 'table'"
      : "select table_name as name from information_schema.columns where column_name = 'tenant' and table_schema = current_schema()",
  );
  return rows.map(({ name }) => String(name));
}

/** The tables that have rows of the tenant, but for those that keep them. */
async function holders(world: World, tenant: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tablesOfTenants(world)) {
    if (KEPT.includes(table)) continue;
    const [row] = await world.query(`select count(*) as n from ${table} where tenant = '${tenant}'`);
    if (Number(row?.['n']) > 0) found.push(table);
  }
  return found;
}

async function testErasure(t: Test, databaseUrl?: string): Promise<void> {
  const world = await openWorld(t, databaseUrl);
  const { client, root, query } = world;
  const [mine, other] = [await makeTenant(world, TENANT), await makeTenant(world, OTHER)];
  // Usage is written a moment behind the answer.
  for (const tenant of [TENANT, OTHER])
    await until(async () => {
      const found = await holders(world, tenant);
      return MADE.filter((table) => !found.includes(table)).map((table) => `no rows in ${table}`);
    });

  const path = `/api/v1/identity/tenants/${TENANT}`;
  t.match(await client.send({ method: 'DELETE', path, headers: root }), { status: 409, text: /tenant_not_empty/ });
  await client.json('DELETE', `${path}?force=true`, root);
  await until(() => holders(world, TENANT));
  t.strictSame(await query(`select mode from security_enforcement where id = '${TENANT}'`), []);
  const again = { method: 'POST', path: '/api/v1/identity/tenants', headers: root, body: { id: TENANT } };
  t.match(await client.send(again), { status: 409, text: /tenant_id_used/ });
  t.match(await client.send({ method: 'GET', path: '/v1/files', headers: mine.steward }), { status: 401 });
  const after = await holders(world, OTHER);
  for (const table of MADE) t.ok(after.includes(table), `the other tenant still has rows in ${table}`);

  await t.test('a tenant without accounts that has knowledge is deleted with force only', async (t) => {
    const { steward } = await makeTenant(world, 'cedar');
    const { data } = await client.json('GET', '/api/v1/identity/users', steward);
    for (const { id } of data) await client.json('DELETE', `/api/v1/identity/users/${id}`, root);
    const answer = await client.send({ method: 'DELETE', path: '/api/v1/identity/tenants/cedar', headers: root });
    t.match(answer, { status: 409, text: /"tenant_not_empty".*the module data keeps.*force=true/ });
  });

  await t.test('an account’s own things go with it, and those of others stay', async (t) => {
    const { ids } = other.belongings;
    const subject = `user:${other.personId}`;
    const own = async () => {
      const tables = [
        ...(['conversations', 'artifacts', 'prompts'] as const).map((table) => [table, `subject = '${subject}'`] as const),
        ['responses', `owner = '${other.personId}'`] as const,
        ['data_bases', `owner = '${subject}'`] as const,
      ];
      const found: string[] = [];
      for (const [table, where] of tables)
        if ((await query(`select 1 as one from ${table} where ${where}`)).length > 0) found.push(table);
      return found;
    };
    t.strictSame(await own(), ['conversations', 'artifacts', 'prompts', 'responses', 'data_bases']);
    const prompt = { title: 'mine', content: 'mine' };
    await client.json('POST', '/api/v1/edge/prompts', other.steward, prompt);
    await client.json('DELETE', `/api/v1/identity/users/${other.personId}`, root);
    await until(own);
    await until(async () =>
      (await query(`select 1 as one from conversation_messages where tenant = '${OTHER}'`)).length > 0 ? ['messages'] : [],
    );
    t.match((await client.send({ method: 'GET', path: '/api/v1/edge/prompts', headers: other.steward })).text, /"mine"/);
    t.equal((await client.send({ method: 'GET', path: `/v1/files/${ids.file}`, headers: other.steward })).status, 200);
  });

  await t.test('a node that was off erases what lies on it alone when it is back', async (t) => {
    if (databaseUrl === undefined) await world.stop();
    const folder = databaseUrl === undefined ? world.folder : newFolder(t);
    const pathOf = (tenant: string) => join(folder, 'data', 'memory', tenant, 'a.exmm');
    for (const tenant of [TENANT, OTHER]) mkdirSync(join(folder, 'data', 'memory', tenant), { recursive: true });
    const episodes = (owner: string): SectionData => ({ kind: 'episodes', name: owner, bytes: new TextEncoder().encode('[]') });
    for (const tenant of [TENANT, OTHER])
      writeMemoryFile(pathOf(tenant), ['tenant', `user:${other.personId}`, 'user:of-elsewhere'].map(episodes), 1);
    const back = await openProgram(folder, databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl });
    t.teardown(() => back.stop());
    const left = () => [
      ...(existsSync(join(folder, 'data', 'memory', TENANT)) ? ['the folder of a deleted tenant'] : []),
      ...readMemoryFile(pathOf(OTHER)).flatMap(({ name }) => (name.includes(other.personId) ? [name] : [])),
    ];
    await until(async () => left());
    const names = readMemoryFile(pathOf(OTHER)).map(({ name }) => name);
    t.strictSame(names, ['tenant', 'user:of-elsewhere'], 'what is of others stays');
  });
}

t.test('on SQLite', (t) => testErasure(t));

const missing = PostgresCluster.missing();
t.test('on PostgreSQL', { skip: missing ?? false }, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  await testErasure(t, await cluster.newDatabase());
});
