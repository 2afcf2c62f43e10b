import { ChildServer, freePort } from '../../test/child-server.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { launch } from './launch.ts';
import { modelFolder } from './model-folder.ts';
import { rivalProgram } from './rival-program.ts';
import { ServerContender, type ServerEnd } from './server-contender.ts';

/** One model in one process: continuous batching, prompt cache and a KV buffer for each slot, as upstream ships them. */
export const llamaServer: Contender = {
  name: 'llama-server',
  // It first computes to its end what nobody waits for any more.
  start: (options) => start(['--model', options.model], options, { mostStopMs: 2_000 }),
};

/** Several models: a process of its own for each, behind a router that loads them on demand. */
export const llamaRouter: Contender = {
  name: 'llama-router',
  start: (options) => {
    const folder = modelFolder(options.models ?? {});
    return start(['--models-dir', folder, '--models-max', String(options.maxLoadedModels ?? 4)], options);
  },
};

async function start(models: readonly string[], options: ContenderOptions, end?: ServerEnd): Promise<ServerContender> {
  const port = await freePort();
  const server = await ChildServer.start({
    ...launch(rivalProgram('llama-server'), [...models, ...settings(options, port)]),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/health',
    readyWithinMs: 180_000,
  });
  return new ServerContender(server, end);
}

/** Its own defaults where they are not named here. */
function settings({ nThreads, nParallel, nCtx, kvUnified, rivalFlags = [] }: ContenderOptions, port: number): string[] {
  const named = { host: '127.0.0.1', port, threads: nThreads, parallel: nParallel, 'ctx-size': nCtx };
  const unified = kvUnified === undefined ? [] : [kvUnified ? '--kv-unified' : '--no-kv-unified'];
  return [
    ...Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]),
    '--no-webui',
    ...unified,
    ...rivalFlags,
  ];
}
