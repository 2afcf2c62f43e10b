/** Fills a knowledge base of a running server, and asks it, over HTTP as any client does. */
export type SearchMode = 'lexical' | 'hybrid' | 'dense';

/** A page has a number, a slide too; a sheet has a name. */
export interface Place {
  readonly source: string;
  readonly page: number | string | undefined;
  /** When it is said in a recording. */
  readonly startSeconds?: number | undefined;
}

interface WirePlace {
  readonly source: string;
  readonly page?: number;
  readonly slide?: number;
  readonly sheet?: string;
  readonly start_seconds?: number;
}

interface WireAnswer {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly citations?: readonly WirePlace[];
}

function toPlace({ source, page, slide, sheet, start_seconds: startSeconds }: WirePlace): Place {
  return { source, page: page ?? slide ?? sheet, startSeconds };
}

export class KnowledgeClient {
  readonly #url: string;
  readonly #namespace: string;

  constructor(url: string, namespace: string) {
    this.#url = url;
    this.#namespace = namespace;
  }

  async add(source: string, text: string): Promise<void> {
    await this.#post('ingest', { source, text });
  }

  /** Sources of the documents found, best first, each once. */
  async search(query: string, mode: SearchMode): Promise<string[]> {
    const { results } = (await this.#post('search', { query, mode, top_k: 20 })) as { results: { source: string }[] };
    return [...new Set(results.map(({ source }) => source))];
  }

  async places(query: string, mode: SearchMode, k: number): Promise<Place[]> {
    const { results } = (await this.#post('search', { query, mode, top_k: k })) as { results: WirePlace[] };
    return results.map(toPlace);
  }

  /** What a model answers, the shipped one by default, and what its answer cites. */
  async ask(question: string, model = 'svc-chat-tiny'): Promise<{ text: string; citations: Place[] }> {
    const body = {
      model,
      temperature: 0,
      max_tokens: 200,
      knowledge: [this.#namespace],
      messages: [{ role: 'user', content: question }],
    };
    const { choices, citations = [] } = (await this.#send('/v1/chat/completions', body)) as WireAnswer;
    return { text: choices[0]?.message.content ?? '', citations: citations.map(toPlace) };
  }

  /** Whether a chat would answer from what is found. */
  async isAnswerable(query: string): Promise<boolean> {
    return ((await this.#post('search', { query, top_k: 12 })) as { answerable: boolean }).answerable;
  }

  /** What takes a while to index is waited for. Throws where it was not indexed. */
  async addFile(filename: string, bytes: Buffer): Promise<void> {
    const file = { filename, size: bytes.length, namespace: this.#namespace };
    const begun = (await this.#send('/api/v1/upload/init', file)) as { upload_id: string; chunk_size: number };
    const { upload_id: id, chunk_size: size } = begun;
    for (let i = 0; i * size < bytes.length; i++) {
      const headers = { 'x-upload-id': id, 'x-chunk-index': String(i) };
      await this.#send('/api/v1/upload/chunk', bytes.subarray(i * size, (i + 1) * size), headers);
    }
    const { job_id: job } = (await this.#send('/api/v1/upload/finalize', { upload_id: id })) as { job_id?: string };
    if (job === undefined) return;
    await (await fetch(`${this.#url}/api/v1/system/jobs/${job}/events`)).text();
    const ended = (await (await fetch(`${this.#url}/api/v1/system/jobs/${job}`)).json()) as { state: string; error?: object };
    if (ended.state !== 'done') throw new Error(`${filename} was not indexed: ${JSON.stringify(ended.error)}`);
  }

  async #post(path: string, members: object): Promise<unknown> {
    return await this.#send(`/api/v1/vector/${path}`, { tenant: 'default', namespace: this.#namespace, ...members });
  }

  async #send(path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: Buffer.isBuffer(body) ? headers : { 'content-type': 'application/json', ...headers },
      body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
    return await response.json();
  }
}
