/** Runs the load client in its own process and adds what the server itself used meanwhile. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChildServer } from '../../test/child-server.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import type { ChatLoad } from './load.ts';

const client = join(import.meta.dirname, '../client/main.ts');

/** @param seed chooses the prompts; a new one for each round keeps one round's cache out of the next. */
export async function runChat(server: ChildServer, load: ChatLoad, seed: number): Promise<Sample> {
  const before = readUsage(server.pid);
  const job = JSON.stringify({ url: server.url, load, seed });
  const { stdout } = await promisify(execFile)(process.execPath, [client, job], { encoding: 'utf8' });
  const sample = JSON.parse(stdout) as Sample;
  const after = readUsage(server.pid);
  if ((sample['nFailed'] ?? 0) > 0)
    throw new Error(`${sample['nFailed']} of ${sample['nRequests']} requests failed:\n${server.log}`);
  return { ...sample, serverCpuSeconds: after.cpuSeconds - before.cpuSeconds, serverRssMiB: after.rssBytes / 2 ** 20 };
}
