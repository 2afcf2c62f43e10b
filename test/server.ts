/** A real server for black-box tests: `svc serve` in its own process, on a free port, with random tiny models and its own data folder. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { randomModel } from '../models/random/fixture.ts';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { ChildServer, freePort } from './child-server.ts';

const cli = join(import.meta.dirname, '../ts/cli/svc.ts');

export interface TestServerOptions {
  /** File name without .gguf and what it holds. The first one is the default model. */
  models?: Record<string, RandomModelOptions>;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Folder of models and data; a new one unless given, so that a restart can find the old one's. */
  folder?: string;
  readyPath?: string;
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
  const server = await runServer({ ...options, folder: options.folder ?? t.testdir() });
  t.teardown(() => server.stop());
  return server;
}

/** The usual server with a model for each ability: chat with tools, embeddings, reranking. */
export function startFullServer(t: Test): Promise<ChildServer> {
  return startServer(t, { models: defaultModels });
}

/** The same without a test around it, with a context that an answer without max_tokens fills in a moment. The caller stops it. */
export function runSoakServer(folder: string): Promise<ChildServer> {
  return runServer({ models: defaultModels, folder, env: { SVC_INFERENCE_CTX: '1024' } });
}

async function runServer(options: TestServerOptions & { folder: string }): Promise<ChildServer> {
  const models = options.models ?? { [chatModel]: defaultModels[chatModel] };
  const modelsFolder = join(options.folder, 'models');
  await linkModels(modelsFolder, models);
  const url = `http://127.0.0.1:${await freePort()}`;
  return ChildServer.start({
    program: process.execPath,
    args: [cli, 'serve', ...(options.args ?? [])],
    env: {
      ...process.env,
      SVC_LISTEN: url.slice('http://'.length),
      SVC_DATA_DIR: join(options.folder, 'data'),
      SVC_MODELS_DIR: modelsFolder,
      SVC_MODELS_SHIPPED: 'false',
      SVC_DEFAULT_MODEL: Object.keys(models)[0] ?? '',
      ...options.env,
    },
    url,
    readyPath: options.readyPath ?? '/readyz',
  });
}

async function linkModels(folder: string, models: Record<string, RandomModelOptions>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, options] of Object.entries(models)) {
    const path = join(folder, `${name}.gguf`);
    try {
      symlinkSync(await randomModel(options), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
