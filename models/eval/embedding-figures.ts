import { existsSync } from 'node:fs';
import type { EmbeddingClient } from './embedding-client.ts';
import type { Figure } from './figure.ts';
import { measureRetrieval } from './retrieval-figures.ts';
import { measureTriples } from './triple-figures.ts';

interface EmbeddingSetOptions extends EmbeddingClient {
  /** Folder with xquad.en.json and xquad.de.json. */
  xquad: string;
  python: string;
  /** Triples of each generated set. */
  count: number;
}

/** All figures of an embedding model; retrieval is left out, and said to be, where XQuAD is not on this machine. */
export async function measureEmbeddings(options: EmbeddingSetOptions): Promise<Figure[]> {
  const triples = await measureTriples(options, options.python, options.count);
  if (existsSync(options.xquad)) return [...(await measureRetrieval(options, options.xquad)), ...triples];
  console.error(`XQuAD is not in ${options.xquad}: retrieval is not measured (github.com/google-deepmind/xquad; --xquad FOLDER)`);
  return triples;
}
