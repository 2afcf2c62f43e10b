import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

/**
 * `svc serve` with one model file, as a user starts it, with a data folder of its own; without a file, with the models that ship and copies of `files`, by
 * the names that they get. The caller stops it.
 */
export async function startModelServer(
  model?: string,
  files: Readonly<Record<string, string>> = {},
): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'svc-eval-'));
  const models = join(folder, 'models');
  mkdirSync(models);
  for (const [name, path] of Object.entries(files)) copyFileSync(path, join(models, name));
  const server = await ChildServer.start({
    program: process.execPath,
    args: [cli, 'serve', '--listen', `127.0.0.1:${port}`, ...(model === undefined ? [] : ['--model', model])],
    env: {
      ...process.env,
      SVC_DATA_DIR: folder,
      ...(model === undefined ? { SVC_MODELS_DIR: models, SVC_DATA_EMBEDDING_URL: '' } : {}),
    },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/readyz',
  });
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url, pid: server.pid, stop };
}
