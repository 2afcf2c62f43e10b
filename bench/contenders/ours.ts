import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { makeTenantKeys } from '../../test/tenant-keys.ts';
import { benchTenants, type TenantKeys } from '../load/tenant-keys.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { fileBefore } from './file-before.ts';
import { launch } from './launch.ts';
import { modelFolder } from './model-folder.ts';
import { ServerContender } from './server-contender.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

/** `svc serve` of the checkout. */
export const ours = svcContender('svc', async () => [process.execPath, cli]);

/** `svc serve` of the checkout that `--before` names. */
export const before = svcContender('svc-before', async (options) => [process.execPath, fileBefore(options, 'ts/cli/svc.ts')]);

/**
 * A server as a user starts it: its own data folder, access log on, no account unless the trial has tenants. `command` gives the words
 * before `serve`.
 */
export function svcContender(name: string, command: (options: ContenderOptions) => Promise<readonly string[]>): Contender {
  return {
    name,
    async start(options) {
      const words = await command(options);
      const own = options.dataFolder === undefined ? { dataFolder: mkdtempSync(join(tmpdir(), 'svc-bench-')) } : undefined;
      try {
        const server = await startServer(words, options, options.dataFolder ?? own?.dataFolder ?? '');
        if (!options.hasTenants) return new ServerContender(server, { ...own });
        return new ServerContender(server, { ...own, tenantKeys: await tenantKeysOf(server) });
      } catch (error) {
        if (own !== undefined) rmSync(own.dataFolder, { recursive: true });
        throw error;
      }
    },
  };
}

/** The checkout's server with further settings, and with a data folder that goes with it. */
export async function startNode(
  options: ContenderOptions,
  env: NodeJS.ProcessEnv,
): Promise<{ server: ChildServer; stop(): Promise<void> }> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const clear = (): void => rmSync(dataFolder, { recursive: true, force: true });
  try {
    const server = await startServer([process.execPath, cli], options, dataFolder, env);
    return {
      server,
      stop: async () => {
        await server.stop();
        clear();
      },
    };
  } catch (error) {
    clear();
    throw error;
  }
}

async function startServer(
  words: readonly string[],
  options: ContenderOptions,
  dataFolder: string,
  more: NodeJS.ProcessEnv = {},
): Promise<ChildServer> {
  const port = await freePort();
  const [program = '', ...args] = words;
  return ChildServer.start({
    ...launch(program, [...args, 'serve']),
    env: { ...process.env, ...environment(options, port, dataFolder), ...more },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/readyz',
    readyWithinMs: 180_000,
  });
}

function environment(options: ContenderOptions, port: number, dataFolder: string): Record<string, string> {
  const { model, nThreads, nParallel, nCtx, kvUnified, maxConnections, models, maxLoadedModels } = options;
  const { maxQueuedJobs, maxQueueSeconds } = options;
  const values = {
    LISTEN: `127.0.0.1:${port}`,
    DATA_DIR: dataFolder,
    DEFAULT_MODEL: model,
    MODELS_DIR: models && modelFolder(models),
    MODELS_SHIPPED: false,
    HTTP_MAX_CONNECTIONS: maxConnections,
    INFERENCE_THREADS: nThreads,
    INFERENCE_PARALLEL: nParallel,
    INFERENCE_CTX: nCtx,
    INFERENCE_KV_UNIFIED: kvUnified === undefined ? undefined : kvUnified ? 'on' : 'off',
    INFERENCE_MAX_QUEUED_JOBS: maxQueuedJobs,
    INFERENCE_MAX_QUEUED_TOKENS: maxQueuedJobs === undefined ? undefined : 2 ** 31 - 1,
    INFERENCE_MAX_QUEUE_SECONDS: maxQueueSeconds,
    // The default model stays in memory whoever asks, and is none of those that take turns.
    INFERENCE_MAX_LOADED_MODELS: maxLoadedModels && maxLoadedModels + 1,
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [`SVC_${name}`, String(value)]));
}

async function tenantKeysOf(server: ChildServer): Promise<TenantKeys> {
  try {
    return await makeTenantKeys(server.url, benchTenants);
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
}
