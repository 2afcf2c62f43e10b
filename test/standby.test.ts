/** A primary on SQLite and its standby, as two programs: the primary is killed while it is written to, and the standby takes its place. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { type ChildServer, freePort } from './child-server.ts';
import { send } from './http.ts';
import { embeddingModel, startServer } from './server.ts';

const account = { username: 'root', password: 'correct horse battery staple' };

interface Replica {
  node: string;
  state: string;
  commit: number | null;
  lag_commits: number | null;
}

async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isTrue())) await wait(50);
}

/** A node of this folder, which a test may start again. */
class Machine {
  readonly #t: Test;
  readonly folder: string;
  readonly #listen: string;
  server!: ChildServer;

  constructor(t: Test, folder: string, port: number) {
    this.#t = t;
    this.folder = folder;
    this.#listen = `127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    this.server = await startServer(this.#t, {
      models: { [embeddingModel]: { arch: 'bert' } },
      folder: this.folder,
      env: {
        SVC_CLUSTER_LISTEN: this.#listen,
        SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
        SVC_CLUSTER_ENTRY_SECONDS: '5',
        SVC_CLUSTER_SYNC_SECONDS: '3600',
        SVC_DATA_EMBEDDING_URL: '',
      },
      readyPath: '/health',
    });
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** A node that asks for a restart ends, and what looks after it starts it again. */
  async again(): Promise<void> {
    await until(() => !this.server.running);
    await this.start();
  }

  async ask(path: string, headers: Record<string, string>, body?: unknown) {
    return await send(this.server.url + path, { method: body === undefined ? 'GET' : 'POST', body, headers });
  }

  async svc(...args: string[]) {
    return await runCli([...args, '--json'], { env: { SVC_LISTEN: new URL(this.server.url).host, SVC_DATA_DIR: this.data } });
  }
}

t.test('a standby takes the place of its primary', { timeout: 280_000 }, async (t) => {
  const folder = t.testdir({ one: {}, two: {} });
  const one = new Machine(t, join(folder, 'one'), await freePort());
  const two = new Machine(t, join(folder, 'two'), await freePort());
  await one.start();
  await two.start();
  const registered = await one.ask('/api/v1/auth/register', {}, account);
  const { token } = registered.json as { token: string };
  const made = await one.ask('/api/v1/identity/keys', { authorization: `Bearer ${token}` }, { name: 'k' });
  const root = { authorization: `Bearer ${String(made.json?.['api_key'])}` };
  const { json: joinToken } = await one.ask('/api/v1/cluster/join-tokens', root, { roles: ['data', 'inference'] });
  t.equal((await two.ask('/api/v1/cluster/join', {}, { token: joinToken?.['token'] })).status, 200);
  await two.again();
  const replicas = async () => (await one.ask('/api/v1/cluster/storage', root)).json?.['replicas'] as Replica[];
  await until(async () => (await replicas()).some(({ commit }) => commit !== null));
  const [{ node: standby } = { node: '' }] = await replicas();
  const sync = () => one.ask(`/api/v1/cluster/storage/${standby}/sync`, root, {});
  const ingest = async (machine: Machine, source: string) =>
    await machine.ask('/api/v1/vector/ingest', root, {
      tenant: 'default',
      namespace: 'town',
      source,
      text: `The keeper of the lighthouse ${source} is Mira Doll.`,
    });
  const store = async (words: string): Promise<string> => {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob([words], { type: 'text/plain' }), 'words.txt');
    const response = await fetch(`${one.server.url}/v1/files`, { method: 'POST', headers: root, body: form });
    return ((await response.json()) as { id: string }).id;
  };
  const sources = async (machine: Machine): Promise<string[]> => {
    const { json } = await machine.ask('/api/v1/vector/namespaces/default/town/documents?limit=200', root);
    const { data = [] } = json as { data?: { source: string }[] };
    return data.map(({ source }) => source).toSorted();
  };

  await t.test('leases, heartbeats and the record of the request itself put it no further behind', async () => {
    const lease = () => {
      const database = new Database(join(one.data, 'svc.db'), { readonly: true });
      const { until } = database.prepare('select lease_until as until from cluster_state').get() as { until: number };
      database.close();
      return until;
    };
    await until(async () => {
      await sync();
      const before = lease();
      await until(() => lease() > before);
      return (await replicas())[0]?.lag_commits === 0;
    });
  });

  await t.test('it knows how far behind it is, and refuses while commits are missing', async (t) => {
    for (const source of ['a', 'b']) t.equal((await ingest(one, source)).status, 201);
    const file = await store('words of a file');
    const synced = await sync();
    t.match(synced, { status: 200, json: { state: 'ok', problem: null } });
    t.equal((await one.ask('/api/v1/cluster/storage/00000000-0000-4000-8000-000000000000/sync', root, {})).status, 409);
    t.equal((await ingest(one, 'c')).status, 201);
    const [late] = await replicas();
    t.ok((late?.lag_commits ?? 0) > 0);
    const metrics = await one.ask('/metrics', root);
    t.match(metrics.text, new RegExp(`svc_cluster_replica_lag_seconds\\{node="${standby}"\\} `));
    const refused = await one.ask(`/api/v1/cluster/storage/${standby}/promote`, root, {});
    t.match(refused, { status: 409, json: { error: 'replica_behind', replica_commit: Number, primary_commit: Number } });
    const { replica_commit: has, primary_commit: wanted } = refused.json as Record<string, number>;
    t.ok((has ?? 0) < (wanted ?? 0));
    t.equal((await sync()).status, 200);
    t.equal(await (await fetch(`${two.server.url}/v1/files/${file}/content`, { headers: root })).text(), 'words of a file');
  });

  const acknowledged: string[] = [];
  let synced: string[] = [];
  await t.test('the primary is killed while it is written to', async (t) => {
    const writer = async (): Promise<void> => {
      for (let i = 0; ; i++) {
        const answer = await ingest(one, `w${i}`).catch(() => undefined);
        if (answer === undefined) return;
        acknowledged.push(`w${i}`);
      }
    };
    const writing = writer();
    await until(() => acknowledged.length >= 3);
    const before = [...acknowledged];
    t.equal((await sync()).status, 200);
    synced = ['a', 'b', 'c', ...before];
    const enough = acknowledged.length + 2;
    await until(() => acknowledged.length >= enough);
    // The standby has heard that it lacks some of them.
    await until(() => {
      const { commit, primaryCommit } = JSON.parse(readFileSync(join(two.data, 'replica', 'state.json'), 'utf8'));
      return primaryCommit > commit;
    });
    await one.server.stop('SIGKILL');
    await writing;
    const refused = await two.svc('node', 'promote');
    t.match(refused, { stderr: /replica_behind|lacks|has the commits up to/ });
    t.not(refused.code, 0);
  });

  await t.test('a request promotes it while nobody judges accounts, by the token of its machine alone', async (t) => {
    const path = `/api/v1/cluster/storage/${standby}/promote`;
    const local = { authorization: `Bearer ${readFileSync(join(two.data, 'local-admin.token'), 'utf8')}` };
    const unjudged = { status: 503, json: { error: 'credential_check_unavailable', detail: /svc node promote/ } };
    t.match(await two.ask(path, root, { force: true }), unjudged);
    t.match(await two.ask(path, { ...local, via: '1.1 proxy' }, { force: true }), unjudged, 'it came through another machine');
    t.match(await two.ask(path, { authorization: `Bearer svcl_${'x'.repeat(43)}` }, { force: true }), unjudged);
    t.match(await two.ask('/api/v1/identity/keys', local), { status: 503 }, 'it is no account');
    t.match(await two.ask(path, local, {}), { status: 409, json: { error: 'replica_behind' } });
    t.match(await two.ask(path, local, { force: true }), { status: 200, json: { commit: Number } });
    await two.again();
  });

  await t.test('it has every document that was synced, and takes new ones', async (t) => {
    await until(async () => (await two.ask('/readyz', {})).status === 200);
    const found = await sources(two);
    t.strictSame(
      synced.filter((source) => !found.includes(source)),
      [],
    );
    const search = await two.ask('/api/v1/vector/search', root, {
      tenant: 'default',
      namespace: 'town',
      query: 'keeper of the lighthouse a',
      limit: 50,
    });
    t.equal(search.status, 200);
    t.match(search.text, /Mira Doll/);
    t.equal((await ingest(two, 'after')).status, 201);
    await until(async () => (await two.ask('/api/v1/cluster/topology', root)).json?.['leader'] === standby);
  });

  await t.test('the old primary serves nobody, keeps its state apart, and is the standby from then on', async (t) => {
    await t.rejects(one.start(), /took the place of this node as the primary/);
    await one.start();
    const [fenced = ''] = readdirSync(one.data).filter((name) => name.startsWith('fenced-'));
    t.ok(existsSync(join(one.data, fenced, 'svc.db')), 'what was never replicated is there');
    await until(async () => (await one.ask('/api/v1/auth/whoami', root)).status === 200);
    t.ok((await sources(one)).includes('after'), 'it asks the new primary');
    const copies = async () => (await two.ask('/api/v1/cluster/storage', root)).json?.['replicas'] as Replica[];
    await until(async () => (await copies()).some(({ commit }) => commit !== null));
  });

  await t.test('`svc node promote` gives it its place back when the other one is lost', async (t) => {
    await two.server.stop('SIGKILL');
    t.match(await one.svc('node', 'promote', '--force'), { code: 0, stdout: /"commit"/ });
    await one.again();
    await until(async () => (await one.ask('/readyz', {})).status === 200);
    t.ok((await sources(one)).includes('after'));
  });
});
