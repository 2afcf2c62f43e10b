/** A real server for black-box tests: `svc serve` in its own process, on a free port, with random tiny models and its own data folder. */
import { mkdirSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { randomModel, randomProjector } from '../models/random/fixture.ts';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { program } from '../ts/cli/run-cli.ts';
import { ChildServer, freePort } from './child-server.ts';

interface TestServerOptions {
  /** File name without .gguf and what it holds. The first one is the default model. */
  models?: Record<string, RandomModelOptions>;
  /** Gives the first one a projector that sees and hears. */
  hasProjector?: boolean;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Folder of models and data; a new one unless given, so that a restart can find the old one's. */
  folder?: string;
  readyPath?: string;
  readyWithinMs?: number;
  /** A port of 127.0.0.1; a free one unless given. */
  port?: number;
  /** The file that Node runs, unless it is that of every test. */
  program?: string;
}

export const chatModel = 'tiny-chat';
export const embeddingModel = 'tiny-embed';
export const rerankModel = 'tiny-rank';

const defaultModels = {
  [chatModel]: { arch: 'llama' },
  [embeddingModel]: { arch: 'bert' },
  [rerankModel]: { arch: 'reranker' },
} satisfies Record<string, RandomModelOptions>;

/** Starts a server that the test's teardown stops. */
export async function startServer(t: Test, options: TestServerOptions = {}): Promise<ChildServer> {
  let server: ChildServer | undefined;
  // Before the folder is made: tap removes one that was there before the first teardown ahead of it.
  t.teardown(() => server?.stop());
  server = await runServer({ ...options, folder: options.folder ?? t.testdir() });
  return server;
}

/** The usual server with a model for each ability: chat with tools, embeddings, reranking. */
export function startFullServer(t: Test): Promise<ChildServer> {
  return startServer(t, { models: defaultModels });
}

/** Names the address of a full server that test files share, one after the other. */
export const SHARED_SERVER = 'SVC_TEST_SERVER';

/** A full server that others may have used: for a test that makes no account, changes no setting and looks at what it made alone. */
export async function stockServer(t: Test): Promise<Pick<ChildServer, 'url'>> {
  const url = process.env[SHARED_SERVER];
  return url === undefined ? await startFullServer(t) : { url };
}

/** The same without a test around it; the caller stops it. */
export function runStockServer(folder: string, program: string): Promise<ChildServer> {
  return runServer({ models: defaultModels, folder, program });
}

/**
 * The same without a test around it: with a projector that sees and hears, a context that an answer without max_tokens fills in a moment,
 * and room for a few saved states, so that memory is soon as full as it may be. The caller stops it.
 */
export function runSoakServer(folder: string): Promise<ChildServer> {
  const env = { SVC_INFERENCE_CTX: '1024', SVC_INFERENCE_KV_OFFLOAD_MEMORY_BYTES: '16000000' };
  return runServer({ models: defaultModels, hasProjector: true, folder, env });
}

/** The caller stops it. */
export async function runServer(options: TestServerOptions & { folder: string }): Promise<ChildServer> {
  const models = options.models ?? { [chatModel]: defaultModels[chatModel] };
  const modelsFolder = join(options.folder, 'models');
  await linkModels(modelsFolder, models);
  if (options.hasProjector)
    await link(await randomProjector({ hears: true }), join(modelsFolder, `${Object.keys(models)[0]}.mmproj.gguf`));
  const url = `http://127.0.0.1:${options.port ?? (await freePort())}`;
  return ChildServer.start({
    program: process.execPath,
    args: [options.program ?? program, 'serve', ...(options.args ?? [])],
    env: {
      ...process.env,
      SVC_LISTEN: url.slice('http://'.length),
      SVC_DATA_DIR: join(options.folder, 'data'),
      SVC_MODELS_DIR: modelsFolder,
      SVC_MODELS_SHIPPED: 'false',
      SVC_INFERENCE_PROBE_MODELS: 'false',
      SVC_DEFAULT_MODEL: Object.keys(models)[0] ?? '',
      ...options.env,
    },
    url,
    readyPath: options.readyPath ?? '/readyz',
    ...(options.readyWithinMs !== undefined && { readyWithinMs: options.readyWithinMs }),
  });
}

async function linkModels(folder: string, models: Record<string, RandomModelOptions>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, options] of Object.entries(models)) {
    await link(await randomModel(options), join(folder, `${name}.gguf`));
  }
}

async function link(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
