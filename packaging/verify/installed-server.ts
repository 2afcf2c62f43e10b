/** The program of an installed package, started as its unit does, answering as the README says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { post, send } from '../../test/http.ts';
import { INSTALL_ROOT } from '../../ts/server/product.ts';
import { expect } from './checks.ts';

export interface Program {
  /** Before `serve`: whatever enters the root that it is installed in. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
}

const chatBody = { model: 'svc-chat-tiny', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16, temperature: 0 };
const readme = readFileSync(join(INSTALL_ROOT, 'README.md'), 'utf8');
const [, curlPath = '', curlBody = ''] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(readme) ?? [];

export class InstalledServer {
  readonly #server: ChildServer;

  static async start({ command: [program = '', ...args], env }: Program): Promise<InstalledServer> {
    const address = `127.0.0.1:${await freePort()}`;
    const options = { program, args: [...args, 'serve'], env: { ...env, SVC_LISTEN: address } };
    return new InstalledServer(
      await ChildServer.start({ ...options, url: `http://${address}`, readyPath: '/readyz', readyWithinMs: 300_000 }),
    );
  }

  private constructor(server: ChildServer) {
    this.#server = server;
  }

  get log(): string {
    return this.#server.log;
  }

  /** Throws unless a chat and an embedding are answered. */
  async expectAnswers(): Promise<void> {
    const chat = (await this.#post('/v1/chat/completions', chatBody)) as { choices: { message: { content: string } }[] };
    expect((chat.choices[0]?.message.content ?? '').length > 0, 'the answer is empty');
    const embedding = { model: 'svc-embed-tiny', input: 'Hello' };
    const vectors = (await this.#post('/v1/embeddings', embedding)) as { data: { embedding: number[] }[] };
    expect((vectors.data[0]?.embedding.length ?? 0) > 0, 'the vector is empty');
  }

  /** Sends what the README's first curl does. Resolves once the first text of the streamed answer is here. */
  async expectFirstToken(): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.#server.url + curlPath, { method: 'POST', headers, body: curlBody });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/"content":"[^"]/.test(text)) return;
    }
    throw new Error(`the stream (${response.status}) has no text: ${text.slice(0, 400)}`);
  }

  /** The status and the text of an answer. */
  async answer(path: string, body: unknown): Promise<{ status: number; text: string }> {
    return await post(this.#server.url + path, body);
  }

  /** Throws unless a backup folder outside of what the unit lets the server write is refused, with what to do about it. */
  async expectRefusedDestination(): Promise<void> {
    const body = { folder: '/mnt/backups/svc' };
    const { status, text } = await send(`${this.#server.url}/api/v1/backup/destination`, { method: 'PUT', body });
    const isTold = text.includes('systemctl edit svc.service') && text.includes('ReadWritePaths=/mnt/backups/svc');
    expect(status === 400 && isTold, `it is answered ${status}: ${text}`);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async #post(path: string, body: unknown): Promise<unknown> {
    const { status, json, text } = await post(this.#server.url + path, body);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return json;
  }
}
