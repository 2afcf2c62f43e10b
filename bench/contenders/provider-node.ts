/** Programs of a bench, and a node of ours whose models are those of one of them. */
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

/** A program whose first argument is its port, and which answers /livez. */
export async function startProgram(path: string, ...args: readonly string[]): Promise<ChildServer> {
  const port = await freePort();
  return await ChildServer.start({
    program: process.execPath,
    args: [path, String(port), ...args],
    url: `http://127.0.0.1:${port}`,
    readyPath: '/livez',
  });
}

interface ProviderNode {
  /** Models and data lie below it. */
  folder: string;
  providerUrl: string;
  models: readonly string[];
  /** Further members of the backend. */
  more?: object;
  env?: NodeJS.ProcessEnv;
}

/** Throws, and stops the node, where it does not take the provider. */
export async function startProviderNode({ folder, providerUrl, models, more, env }: ProviderNode): Promise<ChildServer> {
  const port = await freePort();
  const server = await ChildServer.start({
    program: process.execPath,
    args: [cli, 'serve'],
    env: {
      ...process.env,
      SVC_LISTEN: `127.0.0.1:${port}`,
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_MODELS_DIR: join(folder, 'models'),
      SVC_MODELS_SHIPPED: 'false',
      SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1',
      ...env,
    },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/livez',
  });
  const base = { id: 'bench', kind: 'openai', base_url: `${providerUrl}/v1`, key: 'sk-bench-0123456789abcdef' };
  const body = JSON.stringify({ ...base, model_filter: { include: models }, ...more });
  try {
    const headers = { 'content-type': 'application/json' };
    const made = await fetch(`${server.url}/api/v1/cloud/backends`, { method: 'POST', headers, body });
    if (made.status !== 201) throw new Error(`the backend was not registered: ${await made.text()}`);
    return server;
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
}
