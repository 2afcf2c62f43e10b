/** What clients do while a node is replaced: streams that are open, and requests that keep coming, each on a connection of its own. */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

interface LoadOutcome {
  /** Streams whose answer came whole. */
  whole: number;
  /** Requests beside them that were answered with 200. */
  answered: number;
  /** One sentence for each that failed. */
  failures: string[];
}

export class UpgradeLoad {
  readonly #url: string;
  readonly #model: string;
  readonly #outcome: LoadOutcome = { whole: 0, answered: 0, failures: [] };
  readonly #running: Promise<void>[] = [];
  #begun = 0;
  #ended = 0;
  #isOver = false;

  constructor(url: string, model: string) {
    this.#url = url;
    this.#model = model;
  }

  /** Streams whose first bytes came. */
  get begun(): number {
    return this.#begun;
  }

  /** Streams whose first bytes came and whose last have not. */
  get open(): number {
    return this.#begun - this.#ended;
  }

  openStreams(count: number, maxTokens: number): void {
    for (let n = 0; n < count; n += 1) this.#running.push(this.#stream(n, maxTokens));
  }

  /** Requests on new connections, and a chat client that keeps its connection, until `end`. */
  keepAsking(everyMs: number): void {
    this.#running.push(this.#ask(everyMs), this.#chatAgain());
  }

  async end(): Promise<LoadOutcome> {
    this.#isOver = true;
    await Promise.all(this.#running);
    return this.#outcome;
  }

  async #stream(n: number, maxTokens: number): Promise<void> {
    const body = {
      model: this.#model,
      stream: true,
      max_tokens: maxTokens,
      ignore_eos: true,
      messages: [{ role: 'user', content: `Stream ${n}` }],
    };
    let hasBegun = false;
    const { status, text, error } = await this.#send('/v1/chat/completions', body, undefined, () => {
      this.#begun += 1;
      hasBegun = true;
    });
    if (hasBegun) this.#ended += 1;
    if (status === 200 && text.endsWith('data: [DONE]\n\n') && /"finish_reason":"(length|stop)"/.test(text))
      this.#outcome.whole += 1;
    else this.#outcome.failures.push(`stream ${n}: ${status} ${error ?? text.slice(-200)}`);
  }

  async #ask(everyMs: number): Promise<void> {
    const open: Promise<void>[] = [];
    while (!this.#isOver) {
      open.push(this.#countOne('/v1/models', undefined, undefined));
      await wait(everyMs);
    }
    await Promise.all(open);
  }

  async #chatAgain(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = { model: this.#model, max_tokens: 2, messages: [{ role: 'user', content: 'Hi' }] };
    while (!this.#isOver) await this.#countOne('/v1/chat/completions', body, agent);
    agent.destroy();
  }

  async #countOne(path: string, body: object | undefined, agent: Agent | undefined): Promise<void> {
    const { status, text, error } = await this.#send(path, body, agent, () => undefined);
    if (status === 200) this.#outcome.answered += 1;
    else this.#outcome.failures.push(`${path}: ${status} ${error ?? text.slice(0, 200)}`);
  }

  #send(
    path: string,
    body: object | undefined,
    agent: Agent | undefined,
    onFirst: () => void,
  ): Promise<{ status: number; text: string; error: string | undefined }> {
    return new Promise((resolve) => {
      let [status, text] = [0, ''];
      const end = (error?: Error): void =>
        resolve({ status, text, error: error && `${(error as NodeJS.ErrnoException).code} ${error.message}` });
      const options = {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        agent: agent ?? false,
      };
      const sent = request(this.#url + path, options as object, (answer) => {
        status = answer.statusCode ?? 0;
        answer.setEncoding('utf8').once('data', onFirst);
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => end()).on('error', end);
      });
      sent.on('error', end);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
