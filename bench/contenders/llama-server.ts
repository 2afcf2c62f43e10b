import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeEngine } from '../../scripts/setup/engine.mjs';
import { ChildServer, freePort } from '../../test/child-server.ts';
import type { Contender, ContenderOptions } from './contender.ts';

/** Built from the same pinned source, with the same ggml, by `npm run build -- --preset bench`. */
function findProgram(): string {
  const program = join(describeEngine('bench').folder, 'bin', 'llama-server');
  if (existsSync(program)) return program;
  throw new Error('llama-server is not built: run node scripts/build.mjs --preset bench (about 10 minutes on 2 cores)');
}

/** Its own defaults where they are not named here: continuous batching, prompt cache and a KV buffer for each slot, as upstream ships them. */
function settings({ model, nThreads, nParallel, nCtx }: ContenderOptions, port: number): string[] {
  const named = { host: '127.0.0.1', port, model, threads: nThreads, parallel: nParallel, 'ctx-size': nCtx };
  return [...Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]), '--no-webui'];
}

export const llamaServer: Contender = {
  name: 'llama-server',
  async start(options) {
    const port = await freePort();
    return ChildServer.start({
      program: findProgram(),
      args: settings(options, port),
      url: `http://127.0.0.1:${port}`,
      readyPath: '/health',
      readyWithinMs: 180_000,
    });
  },
};
