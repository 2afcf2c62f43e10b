/** Another tenant that asks once a second, and how long it waits. */
import type { Client } from '../matrix/client.ts';
import type { Tenants } from './tenants.ts';

const EVERY_MS = 1_000;

interface Neighbourhood extends Pick<Tenants, 'neighbour'> {
  readonly client: Client;
}

export class Neighbour {
  /** Milliseconds of each answer since take(). */
  #waits: number[] = [];
  readonly faults: string[] = [];
  readonly #of: Neighbourhood;
  readonly #asking: Promise<void>;
  #isOver = false;

  constructor(of: Neighbourhood) {
    this.#of = of;
    this.#asking = this.#ask();
  }

  /** The waits since the last call; waits until there are as many as wanted. */
  async take(nWanted: number): Promise<number[]> {
    while (this.#waits.length < nWanted) await new Promise((resolve) => setTimeout(resolve, EVERY_MS / 4));
    const taken = this.#waits;
    this.#waits = [];
    return taken;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#asking;
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      await this.#once();
      const waitMs = performance.now() - startedAt;
      this.#waits.push(waitMs);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY_MS - waitMs)));
    }
  }

  /** What a page does: it lists what one has, searches it, and asks a model for a few tokens. */
  async #once(): Promise<void> {
    const { client, neighbour } = this.#of;
    const chat = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 };
    for (const request of [
      { method: 'GET', path: '/api/v1/edge/conversations?limit=10' },
      { method: 'GET', path: '/api/v1/edge/conversations/search?q=hello' },
      { method: 'POST', path: '/v1/chat/completions', body: chat },
    ]) {
      const answer = await client
        .send({ ...request, headers: neighbour })
        .catch((error: unknown) => ({ status: 0, text: String(error) }));
      if (answer.status !== 200)
        this.faults.push(`${request.method} ${request.path} answers ${answer.status}: ${answer.text.slice(0, 200)}`);
    }
  }
}

/** The wait that 99 of 100 are within. */
export function p99(waits: readonly number[]): number {
  const sorted = [...waits].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}
