/** The nine nodes: controllers and inference nodes of one database, and members that joined by a token, with a relay in front of each link. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runCli } from '../../../ts/cli/run-cli.ts';
import { type ChildServer, freePort } from '../../child-server.ts';
import { send, sendJson } from '../../http.ts';
import { chatModel, embeddingModel, runServer } from '../../server.ts';
import { FaultyRelay } from '../../test-support/faulty-relay.ts';
import type { Patroni } from './patroni.ts';

type Kind = 'controller' | 'inference' | 'member' | 'lender';

const KINDS: readonly (readonly [Kind, number])[] = [
  ['controller', 3],
  ['inference', 2],
  // A member without models sends its clients' requests on; a lender has models, too.
  ['member', 2],
  ['lender', 2],
];
const MODELS = { [chatModel]: { arch: 'llama' }, [embeddingModel]: { arch: 'bert' } } as const;
/** Two servers of PostgreSQL, one of which may be away for its lock's time, and a moment to be promoted and found. */
const WAIT_SECONDS = 30;
const READY_LIMIT_MS = 240_000;

export class ClusterNode {
  readonly kind: Kind;
  readonly name: string;
  /** It stands in front of its link. */
  readonly link: FaultyRelay;
  /** They stand in front of the database's servers, for this node alone. */
  readonly database: readonly FaultyRelay[];
  readonly #folder: string;
  readonly #listen: string;
  #server: ChildServer | undefined;
  #port: number | undefined;

  private constructor(parts: {
    kind: Kind;
    name: string;
    link: FaultyRelay;
    database: readonly FaultyRelay[];
    folder: string;
    listen: string;
  }) {
    this.kind = parts.kind;
    this.name = parts.name;
    this.link = parts.link;
    this.database = parts.database;
    this.#folder = parts.folder;
    this.#listen = parts.listen;
  }

  static async make(kind: Kind, name: string, folder: string, patroni: Patroni): Promise<ClusterNode> {
    const port = await freePort();
    const link = await FaultyRelay.open(port);
    const ofDatabase = kind === 'controller' || kind === 'inference' ? patroni.servers : [];
    const database = await Promise.all(ofDatabase.map((server) => FaultyRelay.open(server.port)));
    return new ClusterNode({ kind, name, link, database, folder: join(folder, name), listen: `127.0.0.1:${port}` });
  }

  get hasModels(): boolean {
    return this.kind === 'inference' || this.kind === 'lender';
  }

  get url(): string {
    return (this.#server as ChildServer).url;
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#server?.running ?? false;
  }

  get #env(): Record<string, string> {
    const hosts = this.database.map(({ port }) => `127.0.0.1:${port}`).join();
    return {
      ...(hosts !== '' && { SVC_DATABASE_URL: `postgres://svc@${hosts}/svc` }),
      SVC_CLUSTER_LISTEN: this.#listen,
      SVC_CLUSTER_ADDRESS: `127.0.0.1:${this.link.port}`,
      SVC_CLUSTER_HEARTBEAT_SECONDS: '5',
      SVC_CLUSTER_ENTRY_SECONDS: '90',
      SVC_CLUSTER_WAIT_SECONDS: String(WAIT_SECONDS),
      SVC_NODE_ROLES: this.kind === 'inference' ? 'inference' : '',
      SVC_INFERENCE_THREADS: '1',
      SVC_INFERENCE_CTX: '4096',
      SVC_INFERENCE_KV_OFFLOAD_MEMORY_BYTES: '16000000',
      SVC_INFERENCE_KV_OFFLOAD_DISK_BYTES: '0',
    };
  }

  /** Joins the cluster before the first start. */
  async join(token: string): Promise<void> {
    const env = { ...this.#env, SVC_DATA_DIR: join(this.#folder, 'data'), SVC_LISTEN: '127.0.0.1:1' };
    const { code, stdout, stderr } = await runCli(['node', 'join', token], { env });
    if (code !== 0) throw new Error(`${this.name} does not join: ${stdout}${stderr}`);
  }

  /** Where it was before, if it ran before. */
  async start(): Promise<void> {
    this.#port ??= await freePort();
    const models = this.hasModels ? MODELS : {};
    this.#server = await runServer({
      folder: this.#folder,
      models,
      env: this.#env,
      port: this.#port,
      readyWithinMs: READY_LIMIT_MS,
    });
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#server === undefined) return 0;
    this.keepLog();
    const { code } = await this.#server.stop(signal);
    return code;
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  /** The end of what it printed, beside its folder. */
  keepLog(): void {
    appendFileSync(`${this.#folder}.log`, this.#server?.log ?? '');
  }
}

export class Nodes {
  readonly all: readonly ClusterNode[];
  /** The key of the superadmin. */
  readonly root: string;

  private constructor(all: readonly ClusterNode[], root: string) {
    this.all = all;
    this.root = root;
  }

  static async start(folder: string, patroni: Patroni): Promise<Nodes> {
    mkdirSync(folder, { recursive: true });
    const all = await Promise.all(
      KINDS.flatMap(([kind, count]) =>
        Array.from({ length: count }, (_, i) => ClusterNode.make(kind, `${kind}-${i + 1}`, folder, patroni)),
      ),
    );
    let root = '';
    try {
      for (const node of all) {
        const first = all[0] as ClusterNode;
        if (node.database.length === 0) await node.join(await joinToken(first, root));
        await node.start();
        if (node === first) root = await register(node);
      }
      const nodes = new Nodes(all, root);
      await nodes.whole();
      return nodes;
    } catch (error) {
      await Promise.all(all.map((node) => node.stop('SIGKILL')));
      throw error;
    }
  }

  /** Waits until each node answers with the models of the cluster, and knows all of them. Throws with what is missing. */
  async whole(): Promise<void> {
    const deadline = performance.now() + READY_LIMIT_MS;
    for (const node of this.all) {
      for (let missing = await this.#missing(node); missing !== undefined; missing = await this.#missing(node)) {
        if (performance.now() > deadline)
          throw new Error(`${node.name} is not back after ${READY_LIMIT_MS / 1000} s: ${missing}`);
        await wait(250);
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.all.map(async (node) => {
        await node.stop('SIGTERM');
        for (const relay of [node.link, ...node.database]) relay.close();
      }),
    );
  }

  async #missing(node: ClusterNode): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${this.root}` };
    try {
      const models = await send(`${node.url}/v1/models`, { headers });
      for (const name of [chatModel, embeddingModel]) if (!models.text.includes(name)) return `/v1/models says ${models.text}`;
      const { json, text } = await send(`${node.url}/api/v1/cluster/topology`, { headers });
      const states = ((json?.['nodes'] ?? []) as { state: string }[]).map(({ state }) => state);
      return states.length === this.all.length && states.every((state) => state === 'ready')
        ? undefined
        : `topology says ${text}`;
    } catch (error) {
      return String(error);
    }
  }
}

async function register({ url }: ClusterNode): Promise<string> {
  const account = { username: 'root', password: 'correct horse battery staple' };
  return (await sendJson<{ token: string }>(url, '/api/v1/auth/register', account)).token;
}

async function joinToken({ url }: ClusterNode, root: string): Promise<string> {
  const headers = { authorization: `Bearer ${root}` };
  const { json } = await send(`${url}/api/v1/cluster/join-tokens`, { method: 'POST', body: {}, headers });
  return String(json?.['token']);
}

/** The ports of this machine that are in use: true for those of the process. Source: proc(5), "/proc/net/tcp". */
export function portsOf(pid: number): ReadonlyMap<number, boolean> {
  const own = socketsOf(pid);
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [, local = '', , , , , , , , inode = ''] = line.trim().split(/\s+/);
      return [Number.parseInt(local.slice(local.indexOf(':') + 1), 16), own.has(inode)];
    }),
  );
}

function socketsOf(pid: number): ReadonlySet<string> {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  } catch {
    // The process ended.
    return new Set();
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
