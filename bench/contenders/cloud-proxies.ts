/** Proxies of a provider: ours, a bare one, and LiteLLM. The provider is started with each. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/setup/paths.mjs';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { ANSWERS, type CloudJob, type CloudLoad } from '../cloud/cloud-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, RunningContender } from './contender.ts';
import { startProgram, startProviderNode } from './provider-node.ts';

const programs = join(import.meta.dirname, '../cloud');
const models = Object.keys(ANSWERS);

export const svcCloud = proxy('svc-cloud', (provider, folder) =>
  startProviderNode({
    folder,
    providerUrl: provider.url,
    models,
    more: {
      limits: { concurrent: null },
      prices: Object.fromEntries(models.map((model) => [model, { input: '1', output: '2', currency: 'USD' }])),
    },
    env: { SVC_HTTP_MAX_CONNECTIONS: '10000' },
  }),
);

export const bareProxy = proxy('bare-proxy', (provider) => startProgram(join(programs, 'bare-proxy-program.ts'), provider.url));

const litellmProxy = proxy('litellm', async (provider, folder) => {
  const program = litellmProgram();
  const config = join(folder, 'litellm.yaml');
  const entries = models.flatMap((model) => [
    `  - model_name: ${model}`,
    `    litellm_params: { model: openai/${model}, api_base: "${provider.url}/v1", api_key: sk-bench }`,
  ]);
  writeFileSync(config, ['model_list:', ...entries, ''].join('\n'));
  const port = await freePort();
  return await ChildServer.start({
    program,
    args: ['--config', config, '--host', '127.0.0.1', '--port', String(port)],
    // It listens on loopback alone, and its clients give no key, as those of the other proxies.
    env: {
      ...process.env,
      LITELLM_TELEMETRY: 'False',
      NO_DOCS: 'True',
      LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
    },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/health/liveliness',
    readyWithinMs: 180_000,
  });
});

/** Where it cannot be had, it is not measured, and the reason is told. */
export const litellm: Contender = {
  name: litellmProxy.name,
  async start(options) {
    try {
      return await litellmProxy.start(options);
    } catch (error) {
      console.error(`litellm is left out: ${(error as Error).message}`);
      return { measure: async () => undefined, stop: async () => undefined };
    }
  },
};

type StartProxy = (provider: ChildServer, folder: string) => Promise<ChildServer>;

function proxy(name: string, startProxy: StartProxy): Contender {
  return {
    name,
    async start(): Promise<RunningContender> {
      const folder = mkdtempSync(join(tmpdir(), 'svc-bench-cloud-'));
      const provider = await startProgram(join(programs, 'provider-program.ts'));
      const clear = async (): Promise<void> => {
        await provider.stop();
        rmSync(folder, { recursive: true, force: true });
      };
      let server: ChildServer;
      try {
        server = await startProxy(provider, folder);
      } catch (error) {
        await clear();
        throw error;
      }
      return {
        measure: async (load, seed) => {
          if (load.kind !== 'cloud-requests' && load.kind !== 'cloud-streams') return undefined;
          return await measure(server, provider, load, seed);
        },
        stop: async () => {
          await server.stop();
          await clear();
        },
      };
    },
  };
}

async function measure(server: ChildServer, provider: ChildServer, load: CloudLoad, seed: number): Promise<Sample> {
  const job: CloudJob = { proxyUrl: server.url, providerUrl: provider.url, proxyPid: server.pid, load, seed };
  const sample = JSON.parse(await runProgram(process.execPath, [join(programs, 'main.ts'), JSON.stringify(job)])) as Sample;
  if ((sample['nFailed'] ?? 0) > 0) throw new Error(`${sample['nFailed']} requests failed:\n${server.log}`);
  return sample;
}

/** From PyPI, in the cache, on first use. Throws the reason where it is not reached. */
function litellmProgram(): string {
  const folder = join(cacheFolder(), 'bench', 'litellm');
  const program = join(folder, 'bin', 'litellm');
  if (existsSync(program)) return program;
  mkdirSync(join(cacheFolder(), 'bench'), { recursive: true });
  try {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' });
    execFileSync(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', 'litellm[proxy]'], {
      stdio: 'pipe',
    });
    return program;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`LiteLLM was not installed from PyPI: ${String((error as { stderr?: Buffer }).stderr ?? error).slice(-300)}`);
  }
}
