/**
 * The nodes of a cluster are updated one by one across a change of the wire version, under load, and no request fails. The older ones are this program, made
 * to speak the version before; `SVC_TEST_BEFORE=FOLDER` takes a checkout of an older commit for them, with its modules and its build.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { WIRE_BEFORE, WIRE_VERSION } from '../ts/server/domains/cluster/protocol/wire-version.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { type ChildServer, freePort } from './child-server.ts';
import { send, sendJson } from './http.ts';
import { chatModel, embeddingModel, runServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';

const account = { username: 'root', password: 'correct horse battery staple' };
const nMembers = iterations(1, 1, 'SVC_TEST_MEMBERS');
/** Answers that each step waits for, from the nodes of both versions together. */
const nAnswers = iterations(20, 100);
const before = process.env['SVC_TEST_BEFORE'];
/** Not the bundle, in which the version is no module of its own. */
const asBefore = {
  program: join(before ?? join(import.meta.dirname, '..'), 'ts/cli/svc.ts'),
  env: before === undefined ? { NODE_OPTIONS: `--import ${join(import.meta.dirname, 'test-support/wire-before.mjs')}` } : {},
};

const model = { [chatModel]: { arch: 'llama' }, [embeddingModel]: { arch: 'bert' } } as const;

interface Listed {
  id: string;
  address: string;
  state: string;
  wire_version?: number;
}

interface Answer {
  nodes: Listed[];
  token: string;
}

interface Node {
  readonly name: string;
  readonly folder: string;
  readonly listen: string;
  readonly databaseUrl: string | undefined;
  readonly models: Partial<typeof model>;
  server: ChildServer;
  /** A proxy in front sends nothing more there. */
  isOut: boolean;
  nOpen: number;
}

async function startNode(node: Omit<Node, 'server' | 'isOut' | 'nOpen'>, isOld: boolean): Promise<Node> {
  const env = {
    ...(node.databaseUrl !== undefined && { SVC_DATABASE_URL: node.databaseUrl }),
    SVC_CLUSTER_LISTEN: node.listen,
    SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
    SVC_CLUSTER_ENTRY_SECONDS: '20',
    ...(isOld && asBefore.env),
  };
  const program = isOld ? { program: asBefore.program } : {};
  const { folder, models } = node;
  return {
    ...node,
    server: await runServer({ folder, models: models as typeof model, env, ...program }),
    isOut: false,
    nOpen: 0,
  };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(100);
}

/** Clients behind a proxy, which ask one node after the other. */
class Load {
  readonly failures: string[] = [];
  nAnswered = 0;
  readonly #nodes: readonly Node[];
  readonly #token: string;
  #isOver = false;
  #nAsked = 0;
  readonly #clients: Promise<void>[];

  constructor(nodes: readonly Node[], token: string, nClients: number) {
    this.#nodes = nodes;
    this.#token = token;
    this.#clients = Array.from({ length: nClients }, () => this.#run());
  }

  async answer(n: number): Promise<void> {
    const enough = this.nAnswered + n;
    await until(async () => this.nAnswered >= enough || this.failures.length > 0);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const nodes = this.#nodes.filter(({ isOut }) => !isOut);
      const node = nodes[this.#nAsked % nodes.length] as Node;
      const kind = Math.floor(this.#nAsked++ / nodes.length) % 4;
      node.nOpen += 1;
      const problem = await this.#ask(node, kind).catch((error: unknown) => `${String(error)} ${String((error as Error).cause)}`);
      node.nOpen -= 1;
      if (problem === undefined) this.nAnswered += 1;
      else this.failures.push(`${node.name}, kind ${kind}: ${problem}`);
    }
  }

  /** Undefined: it was answered as it should be. */
  async #ask({ server }: Node, kind: number): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const post = (path: string, body: object) =>
      fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const messages = [{ role: 'user', content: `question ${this.#nAsked}` }];
    const response =
      kind === 0
        ? await fetch(`${server.url}/api/v1/auth/whoami`, { headers })
        : kind === 1
          ? await post('/v1/embeddings', { model: embeddingModel, input: ['one', 'two', 'three'] })
          : await post('/v1/chat/completions', { model: chatModel, messages, max_tokens: 16, stream: kind === 3 });
    const text = await response.text();
    if (response.status !== 200) return `${response.status} ${text.slice(0, 200)}`;
    if (kind === 1 && (JSON.parse(text) as { data: { embedding: number[] }[] }).data[2]?.embedding.length === 0)
      return 'no vector';
    return kind !== 3 || text.trimEnd().endsWith('data: [DONE]') ? undefined : `it is cut: ${text.slice(-200)}`;
  }
}

t.test(
  'nodes are updated one by one',
  { skip: PostgresCluster.missing() ?? false, timeout: 60_000 + nMembers * 120_000 },
  async (t) => {
    const postgres = await PostgresCluster.start();
    t.teardown(() => postgres.remove());
    const databaseUrl = await postgres.newDatabase();
    const nodes: Node[] = [];
    t.teardown(() => Promise.all(nodes.map(({ server }) => server.stop('SIGKILL'))));
    const folder = t.testdir();
    const add = async (name: string, url: string | undefined, models: Node['models']): Promise<Node> => {
      const listen = `127.0.0.1:${await freePort()}`;
      const node = await startNode({ name, folder: join(folder, name), listen, databaseUrl: url, models }, true);
      nodes.push(node);
      return node;
    };
    const { [chatModel]: chat, [embeddingModel]: embed } = model;
    const one = await add('one', databaseUrl, { [chatModel]: chat });
    const two = await add('two', databaseUrl, { [embeddingModel]: embed });
    const { token } = await sendJson<{ token: string }>(one.server.url, '/api/v1/auth/register', account);
    const headers = { authorization: `Bearer ${token}` };
    const ask = async (path: string, method = 'GET', body?: unknown, at = one) => {
      const { status, json } = await send(at.server.url + path, { method, headers, ...(body !== undefined && { body }) });
      return { status, json: json as unknown as Answer };
    };
    for (let i = 0; i < nMembers; i++) {
      const member = await add(`member-${i}`, undefined, model);
      const { json } = await ask('/api/v1/cluster/join-tokens', 'POST', {});
      // It has no accounts of its own yet, so whoever is on its machine may have it join.
      await send(`${member.server.url}/api/v1/cluster/join`, { method: 'POST', body: { token: json.token } });
      await until(async () => !member.server.running);
      Object.assign(member, await startNode(member, true));
    }
    const listed = async (at: Node): Promise<Listed[]> =>
      (await ask('/api/v1/cluster/topology', 'GET', undefined, at)).json.nodes;
    const modelsOf = async (at: Node) => (await send(`${at.server.url}/v1/models`, { headers })).text;
    const isWhole = async () => {
      const lists = await Promise.all([one, two].map(async (each) => [await modelsOf(each), await listed(each)] as const));
      return lists.every(
        ([models, seen]) =>
          models.includes(chatModel) &&
          models.includes(embeddingModel) &&
          seen.length === nodes.length &&
          seen.every(({ state }) => state === 'ready'),
      );
    };
    await until(isWhole);
    if (before === undefined)
      t.strictSame([...new Set((await listed(one)).map(({ wire_version: version }) => version))], [WIRE_BEFORE]);

    const load = new Load(nodes, token, 3);
    t.teardown(() => load.end());
    await load.answer(nAnswers);
    for (const node of nodes) {
      const other = node === one ? two : one;
      const idOf = async () => (await listed(other)).find(({ address }) => address === node.listen)?.id as string;
      t.equal((await ask(`/api/v1/cluster/nodes/${await idOf()}/drain`, 'POST', undefined, other)).status, 200);
      node.isOut = true;
      await until(
        async () => node.nOpen === 0 && /svc_cluster_running 0\n/.test((await send(`${node.server.url}/metrics`)).text),
      );
      t.equal((await node.server.stop()).code, 0, `${node.name} ends in order`);
      node.server = (await startNode(node, false)).server;
      await until(isWhole);
      node.isOut = false;
      await load.answer(nAnswers);
      t.strictSame(load.failures.slice(0, 5), [], `${load.failures.length} failed after ${node.name} was updated`);
      t.equal((await listed(other)).find(({ address }) => address === node.listen)?.wire_version ?? WIRE_VERSION, WIRE_VERSION);
    }
    await load.end();
    t.strictSame(load.failures.slice(0, 10), [], `${load.failures.length} failed of ${load.nAnswered}`);
    t.comment(`${load.nAnswered} requests were answered while ${nodes.length} nodes were updated`);
  },
);
