/** Knowledge bases of the caller's tenant on a running server. */
import type { ServerClient } from '../server-client.ts';

export const namespaceOption = {
  namespace: { kind: 'text', value: 'NAME', help: 'knowledge base (default: default)', aliases: ['-n'] },
} as const;

export const DEFAULT_NAMESPACE = 'default';

export interface BaseRow {
  namespace: string;
  documents: number;
  chunks: number;
  embedding_model: string;
  bytes: number;
}

export interface RebuiltRow extends BaseRow {
  /** It goes on in the background. */
  readonly rebuilding: boolean;
}

export interface DocumentRow {
  id: string;
  source: string;
  sha256: string;
  chunks: number;
}

export interface PassageRow {
  document_id: string;
  source: string;
  text: string;
  score: number;
  relevance: number;
  heading?: string;
  page?: number;
  sheet?: string;
  slide?: number;
}

/** How a search goes, and among which documents; absent: by words and by meaning, among all. */
export interface NarrowedSearch {
  mode?: string | undefined;
  sources?: string[] | undefined;
  tags?: string[] | undefined;
  /** Their dates, RFC 3339: from the first up to, and without, the second. */
  from?: string | undefined;
  to?: string | undefined;
}

export interface FoundPassages {
  readonly results: PassageRow[];
  readonly answerable: boolean;
}

export class KnowledgeClient {
  readonly #client: ServerClient;
  readonly #signal: AbortSignal;
  readonly tenant: string;

  private constructor(client: ServerClient, tenant: string, signal: AbortSignal) {
    this.#client = client;
    this.tenant = tenant;
    this.#signal = signal;
  }

  /** Asks the server whose key this is. */
  static async open(client: ServerClient, signal: AbortSignal): Promise<KnowledgeClient> {
    const { tenant } = (await client.send('GET', '/api/v1/auth/whoami', undefined, signal)) as { tenant: string };
    return new KnowledgeClient(client, tenant, signal);
  }

  async list(): Promise<BaseRow[]> {
    const { data } = (await this.#send('GET', `namespaces/${this.#path()}`)) as { data: BaseRow[] };
    return data;
  }

  /** Empty for a base that is not there. */
  async documents(namespace: string): Promise<DocumentRow[]> {
    if (!(await this.list()).some((base) => base.namespace === namespace)) return [];
    const rows: DocumentRow[] = [];
    for (let after = ''; ; ) {
      const page = (await this.#send('GET', `namespaces/${this.#path(namespace)}/documents${after}`)) as {
        data: DocumentRow[];
        next?: string;
      };
      rows.push(...page.data);
      if (page.next === undefined) return rows;
      after = `?after=${encodeURIComponent(page.next)}`;
    }
  }

  /** With whether a chat would answer from what is found. */
  async find(namespace: string, query: string, topK: number, narrowed: NarrowedSearch = {}): Promise<FoundPassages> {
    const body = { tenant: this.tenant, namespace, query, top_k: topK, ...narrowed };
    return (await this.#send('POST', 'search', body)) as FoundPassages;
  }

  async removeBase(namespace: string): Promise<void> {
    await this.#send('DELETE', `namespaces/${this.#path(namespace)}/documents`);
  }

  async removeDocument(namespace: string, id: string): Promise<void> {
    await this.#send('DELETE', `documents/${this.#path(namespace, id)}`);
  }

  async rebuild(namespace: string): Promise<RebuiltRow> {
    return (await this.#send('POST', `namespaces/${this.#path(namespace)}/rebuild`)) as RebuiltRow;
  }

  #path(...segments: readonly string[]): string {
    return [this.tenant, ...segments].map(encodeURIComponent).join('/');
  }

  #send(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
    return this.#client.send(method, `/api/v1/vector/${path}`, body, this.#signal);
  }
}

/** Where a passage stands, for people. */
export function placeOf({ source, page, sheet, slide, heading }: Omit<PassageRow, 'text' | 'score' | 'relevance'>): string {
  const place = [
    page === undefined ? '' : `page ${page}`,
    sheet === undefined ? '' : `sheet ${sheet}`,
    slide === undefined ? '' : `slide ${slide}`,
    heading ?? '',
  ];
  return [source, ...place.filter((part) => part !== '')].join(', ');
}
