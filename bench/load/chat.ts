/** Runs the load client in its own process. */
import { join } from 'node:path';
import type { ChildServer } from '../../test/child-server.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { ChatLoad } from './load.ts';
import type { TenantKeys } from './tenant-keys.ts';

const client = join(import.meta.dirname, '../client/main.ts');
/** Refusals and failures are what these are about: they are figures there, not faults of the run. */
const mayFail: readonly ChatLoad['kind'][] = ['poisson', 'aborts', 'abort-storm', 'idle-streams', 'tenants', 'model-switch'];

/** @param seed chooses the prompts; a new one for each round keeps one round's cache out of the next. */
export async function runChat(server: ChildServer, load: ChatLoad, seed: number, keys?: TenantKeys): Promise<Sample> {
  const { pid, url } = server;
  const { hostname: host, port } = new URL(url);
  const job = JSON.stringify({ target: { host, port: Number(port), keys }, pid, seed, load });
  const sample = JSON.parse(await runProgram(process.execPath, [client, job])) as Sample;
  if ((sample['nFailed'] ?? 0) > 0 && !mayFail.includes(load.kind) && !(load.kind === 'closed' && load.mayFail))
    throw new Error(`${sample['nFailed']} of ${sample['nRequests']} requests failed:\n${server.log}`);
  return sample;
}
