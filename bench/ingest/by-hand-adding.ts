/**
 * The approach of AnythingLLM by hand, beside the same embedding model: one file after the other is cut by characters, its pieces are embedded 25 at a
 * time, and kept with their vectors in a file of JSON; a search compares the question's vector with all of them. Nothing goes on after an
 * interruption but what was whole.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adding } from './adding.ts';
import type { MadeFiles } from './made-files.ts';
import { post } from './probes.ts';
import { splitRecursively } from './recursive-splitter.ts';

/** Its defaults, of November 2026. */
const CHUNK_SIZE = 1_000;
const CHUNK_OVERLAP = 20;
const EMBEDDED_AT_ONCE = 25;
const MOST_HITS = 4;

interface Piece {
  readonly text: string;
  readonly vector: Float32Array;
}

export class ByHandAdding implements Adding {
  readonly #url: string;
  readonly #files: MadeFiles;
  readonly #added = new Set<string>();
  readonly #pieces: Piece[] = [];

  constructor(url: string, files: MadeFiles) {
    this.#url = url;
    this.#files = files;
  }

  async run(signal: AbortSignal): Promise<number> {
    const before = this.#added.size;
    const cache = join(this.#files.folder, '..', 'vector-cache');
    await mkdir(cache, { recursive: true });
    for (const [i, path] of this.#files.paths.entries()) {
      if (signal.aborted) return before;
      if (this.#added.has(path)) continue;
      const texts = splitRecursively(await readFile(path, 'utf8'), CHUNK_SIZE, CHUNK_OVERLAP);
      const pieces: Piece[] = [];
      for (let at = 0; at < texts.length; at += EMBEDDED_AT_ONCE) {
        const some = texts.slice(at, at + EMBEDDED_AT_ONCE);
        const vectors = await this.#embed(some);
        pieces.push(...some.map((text, n) => ({ text, vector: vectors[n] ?? new Float32Array(0) })));
      }
      const kept = pieces.map(({ text, vector }) => ({ values: [...vector], metadata: { text, path } }));
      await writeFile(join(cache, `${i}.json`), JSON.stringify(kept));
      this.#pieces.push(...pieces);
      this.#added.add(path);
    }
    return before;
  }

  async count(): Promise<number> {
    return this.#added.size;
  }

  async search(question: string): Promise<void> {
    const [asked] = await this.#embed([question]);
    if (asked === undefined) return;
    const best: { score: number; text: string }[] = [];
    for (const { text, vector } of this.#pieces) {
      let score = 0;
      for (let i = 0; i < vector.length; i++) score += (vector[i] ?? 0) * (asked[i] ?? 0);
      if (best.length === MOST_HITS && score <= (best.at(-1)?.score ?? 0)) continue;
      best.push({ score, text });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, MOST_HITS);
    }
  }

  cpuSeconds(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  async #embed(input: readonly string[]): Promise<Float32Array[]> {
    const body = { model: 'svc-embed-tiny', input, encoding_format: 'base64' };
    const { data } = (await post(`${this.#url}/v1/embeddings`, body)) as { data: { embedding: string }[] };
    return data.map(({ embedding }) => {
      const bytes = Buffer.from(embedding, 'base64');
      return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    });
  }
}
