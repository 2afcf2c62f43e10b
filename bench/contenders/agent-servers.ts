/** Servers of the loads of agents: ours, with a model that answers at once, and a bare server of the MCP library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { type AgentJob, type AgentLoad, MODEL } from '../agents/agent-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender } from './contender.ts';

const programs = join(import.meta.dirname, '../agents');
const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');

export const svcAgents: Contender = {
  name: 'svc-agents',
  async start() {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-agents-'));
    const model = await startProgram('model-program.ts');
    const stop = async (): Promise<void> => {
      await model.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      const server = await startSvc(folder, model.url);
      return {
        measure: async (load) => await measure({ url: server.url, modelUrl: model.url }, load as AgentLoad),
        stop: async () => {
          await server.stop();
          await stop();
        },
      };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

export const bareMcp: Contender = {
  name: 'bare-mcp',
  async start() {
    const server = await startProgram('bare-mcp-program.ts');
    return {
      measure: async (load) => (load.kind === 'mcp-calls' ? await measure({ url: server.url, modelUrl: '' }, load) : undefined),
      stop: () => server.stop(),
    };
  },
};

async function startProgram(name: string): Promise<ChildServer> {
  const port = await freePort();
  return await ChildServer.start({
    program: process.execPath,
    args: [join(programs, name), String(port)],
    url: `http://127.0.0.1:${port}`,
    readyPath: '/livez',
  });
}

async function startSvc(folder: string, modelUrl: string): Promise<ChildServer> {
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
    },
    url: `http://127.0.0.1:${port}`,
    readyPath: '/livez',
  });
  const body = {
    id: 'bench',
    kind: 'openai',
    base_url: `${modelUrl}/v1`,
    key: 'sk-bench-0123456789abcdef',
    model_filter: { include: [MODEL] },
  };
  const headers = { 'content-type': 'application/json' };
  const made = await fetch(`${server.url}/api/v1/cloud/backends`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (made.status === 201) return server;
  await server.stop('SIGKILL');
  throw new Error(`the model was not registered: ${await made.text()}`);
}

async function measure(where: Omit<AgentJob, 'load'>, load: AgentLoad): Promise<Sample> {
  const job: AgentJob = { ...where, load };
  return JSON.parse(await runProgram(process.execPath, [join(programs, 'main.ts'), JSON.stringify(job)])) as Sample;
}
