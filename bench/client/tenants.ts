/** A quiet tenant's first tokens, alone or while another tenant floods the server. */
import type { TenantLoad } from '../load/load.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, ChatRequest, keyOf, sendChat } from './chat-request.ts';
import type { Target } from './connection.ts';
import { sendPlain } from './plain-request.ts';
import { makeWords } from './prompt.ts';
import type { Scenario } from './scenario.ts';
import { summarise } from './summary.ts';
import { sleep } from './wait.ts';

const headStartMs = 300;

export const runTenants: Scenario<TenantLoad> = async ({ target, seed }, { quiet, flood }) => {
  const flooder = flood && new Flooder(target, seed, flood);
  if (flooder) await sleep(headStartMs);
  const answers: ChatAnswer[] = [];
  const startedAt = performance.now();
  for (let i = 0; i < quiet.requests; i++) {
    answers.push(await sendChat(target, shapedBody(quiet, seed, i), keyOf(target, 'quiet')));
    await sleep(quiet.pauseMs);
  }
  const sample = summarise(answers, (performance.now() - startedAt) / 1_000);
  return { ...sample, nFlooded: flooder?.stop() ?? 0, nFloodRefused: flooder?.nRefused ?? 0 };
};

class Flooder {
  nRefused = 0;
  #nAnswered = 0;
  #isStopped = false;
  readonly #open = new Set<ChatRequest>();

  constructor(
    target: Target,
    seed: number,
    { clients, embeddingClients = 0, rerankClients = 0, ...shape }: NonNullable<TenantLoad['flood']>,
  ) {
    const repeat = async (work: (turn: number) => Promise<number>) => {
      for (let turn = 0; !this.#isStopped; turn++) await this.#count(await work(turn));
    };
    for (let client = 0; client < clients; client++)
      void repeat((turn) => this.#chat(target, shapedBody(shape, seed, 1_000_000 + client * 10_007 + turn)));
    for (let client = 0; client < embeddingClients; client++)
      void repeat((turn) => post(target, '/v1/embeddings', embeddingBody(seed + client * 10_007 + turn)));
    for (let client = 0; client < rerankClients; client++)
      void repeat((turn) => post(target, '/v1/rerank', rerankBody(seed + client * 10_007 + turn)));
  }

  /** Ends the flood and tells how much of it was answered. */
  stop(): number {
    this.#isStopped = true;
    for (const request of this.#open) request.abort();
    return this.#nAnswered;
  }

  async #chat(target: Target, body: string): Promise<number> {
    const request = new ChatRequest(target, body, keyOf(target, 'flood'));
    this.#open.add(request);
    const { status } = await request.answer;
    this.#open.delete(request);
    return status;
  }

  /** A refused client comes back after a moment, as one that retries would. */
  async #count(status: number): Promise<void> {
    if (status === 200) this.#nAnswered++;
    else {
      this.nRefused++;
      await sleep(50);
    }
  }
}

async function post(target: Target, path: string, body: string): Promise<number> {
  const { apiKey } = keyOf(target, 'flood');
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  return (await sendPlain(target, { method: 'POST', path, headers, body })).status;
}

function embeddingBody(seed: number): string {
  return JSON.stringify({ model: 'embedding', input: Array.from({ length: 8 }, (_, i) => makeWords(60, seed + i)) });
}

function rerankBody(seed: number): string {
  return JSON.stringify({
    model: 'rerank',
    query: makeWords(8, seed),
    documents: Array.from({ length: 8 }, (_, i) => makeWords(60, seed + i)),
  });
}
