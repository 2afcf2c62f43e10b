/** Fills a knowledge base of a running server, and asks it, over HTTP as any client does. */
export type SearchMode = 'lexical' | 'hybrid' | 'dense';

/** A page has a number, a slide too; a sheet has a name. */
export interface Place {
  readonly source: string;
  readonly page: number | string | undefined;
}

interface WirePlace {
  readonly source: string;
  readonly page?: number;
  readonly slide?: number;
  readonly sheet?: string;
}

interface WireAnswer {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly citations?: readonly WirePlace[];
}

function toPlace({ source, page, slide, sheet }: WirePlace): Place {
  return { source, page: page ?? slide ?? sheet };
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

  /** Of less than one chunk. */
  async addFile(filename: string, bytes: Buffer): Promise<void> {
    const file = { filename, size: bytes.length, namespace: this.#namespace };
    const { upload_id: id } = (await this.#send('/api/v1/upload/init', file)) as { upload_id: string };
    await this.#send('/api/v1/upload/chunk', bytes, { 'x-upload-id': id, 'x-chunk-index': '0' });
    await this.#send('/api/v1/upload/finalize', { upload_id: id });
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
