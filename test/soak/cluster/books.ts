/** The books of the clients: they hold what was asked and answered, and are compared with what the cluster says at the end. */
import { send } from '../../http.ts';

/** One answer is counted ahead by so many completion tokens at most, when the node that counts it is killed. */
const MOST_AHEAD = 1024;

interface Counted {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Requests with a key of their own. */
export class Batch {
  readonly id: string;
  readonly key: string;
  nAnswered = 0;
  /** Requests that may have been counted, though no whole answer came. */
  nUnknown = 0;
  readonly from: number;
  to = Number.POSITIVE_INFINITY;
  #promptTokens = 0;
  #completionTokens = 0;

  constructor(id: string, key: string, from: number) {
    this.id = id;
    this.key = key;
    this.from = from;
  }

  answered(usage: { prompt_tokens: number; completion_tokens?: number }): void {
    this.nAnswered += 1;
    this.#promptTokens += usage.prompt_tokens;
    this.#completionTokens += usage.completion_tokens ?? 0;
  }

  lost(): void {
    this.nUnknown += 1;
  }

  close(at: number): void {
    this.to = at;
  }

  /** Says how the cluster's count differs from this one; undefined where they agree. */
  fault(counted: Counted = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }): string | undefined {
    const expected = `${this.nAnswered} answers and ${this.nUnknown} without one, ${this.#promptTokens} and ${this.#completionTokens} tokens`;
    const found = `${counted.requests} requests, ${counted.prompt_tokens} and ${counted.completion_tokens} tokens`;
    const isMissing =
      counted.requests < this.nAnswered ||
      counted.prompt_tokens < this.#promptTokens ||
      counted.completion_tokens < this.#completionTokens;
    if (isMissing) return `not all is counted: ${found}, of ${expected}`;
    const most = this.#completionTokens + (this.nAnswered + this.nUnknown) * MOST_AHEAD;
    const isTwice = counted.requests > this.nAnswered + this.nUnknown || counted.completion_tokens > most;
    return isTwice ? `more is counted than was asked: ${found}, of ${expected}` : undefined;
  }
}

export class Books {
  readonly batches: Batch[] = [];
  /** Titles of conversations that the cluster said it has made. */
  readonly acknowledged = new Set<string>();
  #nTitles = 0;

  open(id: string, key: string, at: number): Batch {
    const batch = new Batch(id, key, at);
    this.batches.push(batch);
    return batch;
  }

  newTitle(): string {
    return `soak ${this.#nTitles++}`;
  }

  /** Compares all with what the cluster says; each difference is a sentence. */
  async faults(url: string, root: string): Promise<string[]> {
    const usage = await pages<Counted & { id: string }>(url, root, '/api/v1/metering/usage?by=key&limit=1000');
    const byKey = new Map(usage.map((each) => [each.id, each]));
    const ofKeys = this.batches.flatMap((batch) => {
      const fault = batch.fault(byKey.get(batch.id));
      return fault === undefined ? [] : [`key ${batch.id}: ${fault}`];
    });
    const stored = await pages<{ title: string }>(url, root, '/api/v1/edge/conversations?limit=1000');
    return [...ofKeys, ...this.#faultsOfTitles(stored.map(({ title }) => title))];
  }

  #faultsOfTitles(stored: readonly string[]): string[] {
    const there = new Set(stored);
    const lost = [...this.acknowledged].filter((title) => !there.has(title));
    const twice = stored.filter((title, i) => stored.indexOf(title) !== i);
    return [...lost.map((title) => `the conversation "${title}" is lost`), ...twice.map((title) => `"${title}" is there twice`)];
  }
}

/** All pages of a list. */
async function pages<T>(url: string, key: string, path: string): Promise<T[]> {
  const entries: T[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
    const { status, json, text } = await send(url + path + after, { headers: { authorization: `Bearer ${key}` } });
    const page = json as { data: T[]; next?: string } | undefined;
    if (status !== 200 || page === undefined) throw new Error(`${path} answers ${status}: ${text}`);
    entries.push(...page.data);
    next = page.next;
  }
  return entries;
}
