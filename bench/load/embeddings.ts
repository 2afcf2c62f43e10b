/** Runs the embeddings client in its own process. */
import { join } from 'node:path';
import type { ChildServer } from '../../test/child-server.ts';
import type { EmbeddingLoad } from '../embeddings/embedding-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';

const client = join(import.meta.dirname, '../embeddings/main.ts');

export async function runEmbeddings({ url }: ChildServer, load: EmbeddingLoad, seed: number): Promise<Sample> {
  return JSON.parse(await runProgram(process.execPath, [client, JSON.stringify({ url, load, seed })])) as Sample;
}
