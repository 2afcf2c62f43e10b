/** Runs the embeddings client in its own process and adds what the server itself used meanwhile. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChildServer } from '../../test/child-server.ts';
import type { EmbeddingLoad } from '../embeddings/embedding-load.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';

const client = join(import.meta.dirname, '../embeddings/main.ts');

export async function runEmbeddings({ url, pid }: ChildServer, load: EmbeddingLoad, seed: number): Promise<Sample> {
  const before = readUsage(pid);
  const { stdout } = await promisify(execFile)(process.execPath, [client, JSON.stringify({ url, load, seed })]);
  const after = readUsage(pid);
  const used = { serverCpuSeconds: after.cpuSeconds - before.cpuSeconds, serverRssMiB: after.rssBytes / 2 ** 20 };
  return { ...(JSON.parse(stdout) as Sample), ...used };
}
