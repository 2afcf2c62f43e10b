/** The clients: each asks any node for this and that, and judges what it gets. */
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../../../models/random/seeded-random.ts';
import { chatModel, embeddingModel } from '../../server.ts';
import type { Contract } from '../contract.ts';
import type { Batch, Books } from './books.ts';
import { ALONE, KILLED, STOPPED } from './faults.ts';
import type { ClusterNode, Nodes } from './nodes.ts';
import type { SoakRecord } from './record.ts';

interface LoadSite {
  readonly nodes: Nodes;
  readonly record: SoakRecord;
  readonly contract: Contract;
  readonly books: Books;
}

/** Longer than requests wait for the database, and than a node that gives no sign of life is waited for. */
const ANSWER_LIMIT_MS = 90_000;
/** A request that may be repeated is answered within this time by some node. */
const RETRY_LIMIT_MS = 60_000;
const MEAN_PAUSE_MS = 250;
const BATCH = 20;
const LOOKS = [
  '/api/v1/auth/whoami',
  '/v1/models',
  '/api/v1/models',
  '/api/v1/edge/conversations?limit=5',
  '/api/v1/metering/quotas',
] as const;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  readonly requestId: string;
  /** The connection broke behind the head. */
  readonly isCut: boolean;
}

interface Request {
  readonly what: string;
  readonly path: string;
  readonly body?: object;
}

/** Resolves when `isOver`; the last batch is closed then. */
export async function runClient(site: LoadSite, random: SeededRandom, isOver: () => boolean): Promise<void> {
  const client = new LoadClient(site, random);
  while (!isOver()) {
    await client.batch(isOver);
  }
}

class LoadClient {
  readonly #site: LoadSite;
  readonly #random: SeededRandom;

  constructor(site: LoadSite, random: SeededRandom) {
    this.#site = site;
    this.#random = random;
  }

  /** Requests with a key of their own, up to the first that may have been counted without an answer. */
  async batch(isOver: () => boolean): Promise<void> {
    const batch = await this.#open(isOver);
    for (let i = 0; batch !== undefined && i < BATCH && batch.nUnknown === 0 && !isOver(); i++) {
      await this.#visit(batch);
      await wait(this.#random.exponential(1 / MEAN_PAUSE_MS));
    }
    batch?.close(this.#site.record.now());
  }

  async #open(isOver: () => boolean): Promise<Batch | undefined> {
    const { books, record, nodes } = this.#site;
    while (!isOver()) {
      const answer = await this.#post(nodes.root, { what: 'key', path: '/api/v1/identity/keys', body: { name: 'soak' } });
      if (answer?.status === 201 || answer?.status === 200) {
        const { id, api_key: key } = JSON.parse(answer.body) as { id: string; api_key: string };
        return books.open(id, key, record.now());
      }
      await wait(500);
    }
    return undefined;
  }

  #visit(batch: Batch): Promise<void> {
    const at = this.#random.next();
    if (at < 0.5) return this.#look(batch);
    if (at < 0.8) return this.#stream(batch);
    if (at < 0.87) return this.#whole(batch);
    if (at < 0.94) return this.#embed(batch);
    return this.#write(batch);
  }

  /** A request that may be repeated is answered, at once or elsewhere. */
  async #look({ key }: Batch): Promise<void> {
    const { record } = this.#site;
    const path = this.#random.pick(LOOKS);
    const began = record.now();
    for (;;) {
      const node = this.#node();
      const from = record.now();
      const answer = await this.#ask(node, { what: 'GET', path }, key);
      if (answer?.status === 200 && !answer.isCut) return;
      const said = textOf(answer);
      if (answer !== undefined && !answer.isCut && !record.had(node, from, record.now(), [KILLED, STOPPED, ALONE]))
        record.missed(
          `GET ${path} waited ${((record.now() - from) / 1000).toFixed(1)} s at ${node.name} and failed: ${said}`,
          from,
        );
      if (record.now() - began > RETRY_LIMIT_MS)
        return record.missed(`GET ${path} failed for ${RETRY_LIMIT_MS / 1000} s: ${said}`, began);
      await wait(Math.min(2, Number(answer?.retryAfter ?? 0.2)) * 1_000);
    }
  }

  async #stream(batch: Batch): Promise<void> {
    const { record } = this.#site;
    const nTokens = this.#random.pick([8, 40, 150]);
    const node = this.#node();
    const body = { ...this.#chat(nTokens), stream: true, stream_options: { include_usage: true } };
    const answer = await this.#ask(node, { what: 'stream', path: '/v1/chat/completions', body }, batch.key, endOf);
    if (answer?.status !== 200) return batch.lost();
    const end = endOf(answer);
    if (end !== 'ok') return batch.lost();
    const usage = usageOf(answer.body);
    if (usage.completion_tokens !== nTokens)
      record.violate(
        `a stream at ${node.name} says that it is whole, with ${usage.completion_tokens} of ${nTokens} tokens: ${answer.requestId}`,
      );
    batch.answered(usage);
  }

  async #whole(batch: Batch): Promise<void> {
    const answer = await this.#post(batch.key, { what: 'chat', path: '/v1/chat/completions', body: this.#chat(16) });
    if (answer?.status !== 200) return batch.lost();
    batch.answered((JSON.parse(answer.body) as { usage: Usage }).usage);
  }

  async #embed(batch: Batch): Promise<void> {
    const body = { model: embeddingModel, input: 'words of a text' };
    const answer = await this.#post(batch.key, { what: 'embeddings', path: '/v1/embeddings', body });
    if (answer?.status !== 200) return batch.lost();
    batch.answered((JSON.parse(answer.body) as { usage: Usage }).usage);
  }

  /** An acknowledged conversation is there at the end, once. */
  async #write({ key }: Batch): Promise<void> {
    const { books } = this.#site;
    const title = books.newTitle();
    const answer = await this.#post(key, { what: 'write', path: '/api/v1/edge/conversations', body: { title } });
    if (answer?.status === 201) books.acknowledged.add(title);
  }

  #chat(maxTokens: number): object {
    const content = `tell me of ${this.#random.integer(1_000)} ships`;
    return { model: chatModel, messages: [{ role: 'user', content }], temperature: 0, max_tokens: maxTokens, ignore_eos: true };
  }

  #node(): ClusterNode {
    const { all } = this.#site.nodes;
    return all[this.#random.integer(all.length)] as ClusterNode;
  }

  /** Undefined where nothing came back. */
  async #post(key: string, request: Request): Promise<Answer | undefined> {
    const answer = await this.#ask(this.#node(), request, key);
    return answer?.isCut ? undefined : answer;
  }

  /** Records how it ended, and what no answer may be. */
  async #ask(node: ClusterNode, request: Request, key: string, endOf = endOfAnswer): Promise<Answer | undefined> {
    const { record } = this.#site;
    const from = record.now();
    const answer = await fetchOf(node, request, key);
    const end = answer === undefined ? 'broken' : answer.status === 200 || answer.status === 201 ? endOf(answer) : codeOf(answer);
    const to = record.now();
    record.asked.push({ what: request.what, node, from, to, end });
    const where = `${request.what} ${request.path} at ${node.name} after ${((to - from) / 1000).toFixed(1)} s`;
    if ((end === 'broken' || end === 'cut') && !record.had(node, from, to, [KILLED]))
      record.violate(
        `${where}: the connection ${end === 'broken' ? 'broke' : 'was cut without an error frame'}; ${textOf(answer)}`,
      );
    // Whose credential it is is only read, which waits for the database.
    if (end === '503 credential_check_unavailable' && !record.had(node, from, to, [KILLED, STOPPED, ALONE]))
      record.missed(`${where}: the credential was not judged; ${textOf(answer)}`, from);
    const fault = answer === undefined || answer.status < 400 ? undefined : this.#faultOf(answer, request);
    if (fault !== undefined) record.violate(`${where}: ${fault}; ${textOf(answer)}`);
    return answer;
  }

  #faultOf({ status, body, retryAfter }: Answer, { path, body: sent }: Request): string | undefined {
    if (status < 500) return `status ${status} to a request that is right`;
    const method = sent === undefined ? 'GET' : 'POST';
    return this.#site.contract.findFault({ method, path: path.split('?')[0] as string, status, body, retryAfter });
  }
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens?: number;
}

async function fetchOf(node: ClusterNode, { path, body }: Request, key: string): Promise<Answer | undefined> {
  // A connection each: one that is kept may be closed by the server while a request is on its way there.
  const headers = {
    connection: 'close',
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(node.url + path, { headers, ...sent, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch {
    return undefined;
  }
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  const facts = { status: response.status, retryAfter, requestId: response.headers.get('x-request-id') ?? '' };
  let text = '';
  try {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array, { stream: true });
    return { ...facts, body: text, isCut: false };
  } catch {
    return { ...facts, body: text, isCut: true };
  }
}

function endOfAnswer({ isCut }: Answer): string {
  return isCut ? 'cut' : 'ok';
}

/** Says how a stream ended: `ok`, with the code of its error frame, or `cut` where it has neither. */
export function endOf({ body }: Pick<Answer, 'body'>): string {
  const error = /^data: (\{"error":.*\})$/m.exec(body)?.[1];
  if (error !== undefined) return `frame ${String((JSON.parse(error) as { error: { code?: string } }).error.code)}`;
  return body.endsWith('data: [DONE]\n\n') ? 'ok' : 'cut';
}

function usageOf(body: string): Usage {
  const frames = body.split('\n').filter((line) => line.startsWith('data: {'));
  const usages = frames.map((line) => (JSON.parse(line.slice(6)) as { usage?: Usage | null }).usage);
  return usages.findLast((usage) => usage) ?? { prompt_tokens: 0 };
}

function codeOf({ status, body, isCut }: Answer): string {
  if (isCut) return 'cut';
  const code = /"code":\s*"(\w+)"|"error":\s*"(\w+)"/.exec(body);
  return `${status} ${code?.[1] ?? code?.[2] ?? 'without a code'}`;
}

function textOf(answer: Answer | undefined): string {
  return answer === undefined ? 'no answer' : `${answer.requestId} ${answer.status} ${answer.body.slice(-300)}`;
}
