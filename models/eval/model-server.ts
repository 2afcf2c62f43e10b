import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

/** `svc serve` with one model file, as a user starts it, with a data folder of its own. The caller stops it. */
export async function startModelServer(model: string): Promise<ChildServer> {
  const port = await freePort();
  return ChildServer.start({
    program: process.execPath,
    args: [cli, 'serve', '--listen', `127.0.0.1:${port}`, '--model', model],
    env: { ...process.env, SVC_DATA_DIR: mkdtempSync(join(tmpdir(), 'svc-eval-')) },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/readyz',
  });
}
