/** Embeds through a service that speaks as Ollama or OpenAI does. Its address is the operator's and no tenant learns it. */
import { HttpClient } from '../../../platform/network/http-client.ts';
import { retrievalError } from '../errors.ts';
import { type Embedded, type Embedder, type EmbedOptions, normalised } from './embedder.ts';

interface RemoteEmbedderOptions {
  /** With or without `/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;
const MAX_DIMENSIONS = 16_384;
/** Of a number as JSON. */
const NUMBER_BYTES = 32;

export class RemoteEmbedder implements Embedder {
  readonly #options: RemoteEmbedderOptions;
  readonly #client = new HttpClient({ firstByteMs: 0, idleMs: 0 });

  constructor(options: RemoteEmbedderOptions) {
    this.#options = options;
  }

  /** Whether the service answers and has the model. */
  async has(model: string): Promise<boolean> {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    return await this.embed(model, ['probe'], { tenant: '', signal }).then(
      () => true,
      () => false,
    );
  }

  async embed(model: string, texts: readonly string[], { signal }: EmbedOptions): Promise<Embedded> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS)]);
    try {
      return { vectors: vectorsOf(await this.#ask(model, texts, limit), texts.length), nTokens: undefined };
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = error instanceof RefusedError ? error.message : 'it cannot be reached';
      throw retrievalError('embedding_failed', `The embedding service did not embed the text with ${model}: ${reason}.`, {
        cause: error,
      });
    }
  }

  async #ask(model: string, input: readonly string[], signal: AbortSignal): Promise<unknown> {
    const { url, key } = this.#options;
    const base = url.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '');
    const headers = { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) };
    const request = { method: 'POST', headers, body: JSON.stringify({ model, input }), signal };
    let answer = await this.#client.request(new URL(`${base}/v1/embeddings`), request);
    // Ollama of before 2024-07 has its own path only, and answers an unknown one in plain text.
    if (answer.status === 404 && !answer.header('content-type')?.includes('json')) {
      answer.discard();
      answer = await this.#client.request(new URL(`${base}/api/embed`), request);
    }
    if (answer.isOk) return JSON.parse((await answer.bytes((input.length + 1) * MAX_DIMENSIONS * NUMBER_BYTES)).toString());
    answer.discard();
    throw new RefusedError(`it answers ${answer.status}`);
  }
}

class RefusedError extends Error {}

/** Of `{data: [{index, embedding}]}` or `{embeddings: [[]]}`. */
function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const { data, embeddings } = (answer ?? {}) as { data?: unknown; embeddings?: unknown };
  const rows = Array.isArray(data) ? inOrder(data) : Array.isArray(embeddings) ? embeddings : [];
  if (rows.length !== count) throw new RefusedError(`it answers ${rows.length} vectors for ${count} texts`);
  const vectors = rows.map(vectorOf);
  const dimensions = vectors[0]?.length ?? 0;
  if (vectors.some(({ length }) => length !== dimensions)) throw new RefusedError('its vectors differ in their dimensions');
  return vectors;
}

function inOrder(data: readonly unknown[]): unknown[] {
  const rows = data as readonly { index?: unknown; embedding?: unknown }[];
  return rows
    .map((row, place) => ({ place: typeof row?.index === 'number' ? row.index : place, embedding: row?.embedding }))
    .sort((a, b) => a.place - b.place)
    .map(({ embedding }) => embedding);
}

function vectorOf(row: unknown): Float32Array {
  const isVector = Array.isArray(row) && row.length > 0 && row.length <= MAX_DIMENSIONS && row.every(Number.isFinite);
  if (!isVector) throw new RefusedError('it answers something else than vectors');
  return normalised(Float32Array.from(row as number[]));
}
