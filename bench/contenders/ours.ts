import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';
import type { Contender } from './contender.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

/** `svc serve` as a user starts it: its own data folder, access log on, no account yet. */
export const ours: Contender = {
  name: 'svc',
  async start({ model, nThreads, nParallel, nCtx }) {
    const port = await freePort();
    const settings = { listen: `127.0.0.1:${port}`, model, threads: nThreads, parallel: nParallel, ctx: nCtx };
    return ChildServer.start({
      program: process.execPath,
      args: [cli, 'serve', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])],
      env: { ...process.env, SVC_DATA_DIR: mkdtempSync(join(tmpdir(), 'svc-bench-')) },
      url: `http://127.0.0.1:${port}`,
      readyPath: '/readyz',
      readyWithinMs: 180_000,
    });
  },
};
