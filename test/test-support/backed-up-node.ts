/** A node with an account and a conversation that is backed up and restored on another machine by the commands of docs/operate/backups.md. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { type CliRun, runCli } from '../../ts/cli/run-cli.ts';
import type { ChildServer } from '../child-server.ts';
import { post, send } from '../http.ts';
import { startServer } from '../server.ts';

const conversations = '/api/v1/edge/conversations';

export class BackedUpNode {
  readonly server: ChildServer;
  /** The key of its account, as a header. */
  readonly bearer: Readonly<Record<string, string>>;
  readonly #env: NodeJS.ProcessEnv;

  /** `folder`: of its data, and of nothing else; `settings`: of its environment. */
  static async start(t: Test, folder: string, settings: NodeJS.ProcessEnv): Promise<BackedUpNode> {
    const server = await startServer(t, { folder, env: settings });
    const env = { ...settings, SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
    t.match(await runCli(['admin', 'create', 'ann', '--json'], { env }), { code: 0 });
    const key = (await runCli(['key', 'create', 'ci', '--user', 'ann', '--json'], { env })).json() as { api_key: string };
    const bearer = { authorization: `Bearer ${key.api_key}` };
    t.equal((await post(server.url + conversations, { title: 'Kept' }, bearer)).status, 201);
    return new BackedUpNode(server, bearer, env);
  }

  private constructor(server: ChildServer, bearer: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv) {
    this.server = server;
    this.bearer = bearer;
    this.#env = env;
  }

  /** A command of `svc`, with --json; `more` is for another machine. */
  svc(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<CliRun> {
    return runCli([...args, '--json'], { env: { ...this.#env, ...more } });
  }

  /** Asks the server for a verification, and follows it to its end. */
  async verifyByRoute(t: Test, backup: string): Promise<void> {
    const { status, json } = await post(`${this.server.url}/api/v1/backup/backups/${backup}/verify`, undefined, this.bearer);
    t.equal(status, 202);
    t.match(await this.svc(['jobs', 'follow', String(json?.['job_id'])]), { code: 0 });
  }

  /** Starts a node on what was restored below `folder`: the key of before opens the conversations of before. */
  async expectRestored(t: Test, folder: string, settings: NodeJS.ProcessEnv): Promise<void> {
    const restored = await startServer(t, { folder, env: settings });
    t.match(await send(restored.url + conversations, { headers: this.bearer }), { status: 200, text: /"Kept"/ });
    // It makes a backup of its own soon, which must not meet the removal of the folder.
    await restored.stop();
  }
}
