/** Servers of the loads of agents: ours, with a model that answers at once, and a bare server of the MCP library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentJob, type AgentLoad, MODEL } from '../agents/agent-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender } from './contender.ts';
import { startProgram, startProviderNode } from './provider-node.ts';

const programs = join(import.meta.dirname, '../agents');

export const svcAgents: Contender = {
  name: 'svc-agents',
  async start() {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-agents-'));
    const model = await startProgram(join(programs, 'model-program.ts'));
    const stop = async (): Promise<void> => {
      await model.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      const server = await startProviderNode({ folder, providerUrl: model.url, models: [MODEL] });
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
    const server = await startProgram(join(programs, 'bare-mcp-program.ts'));
    return {
      measure: async (load) => (load.kind === 'mcp-calls' ? await measure({ url: server.url, modelUrl: '' }, load) : undefined),
      stop: () => server.stop(),
    };
  },
};

async function measure(where: Omit<AgentJob, 'load'>, load: AgentLoad): Promise<Sample> {
  const job: AgentJob = { ...where, load };
  return JSON.parse(await runProgram(process.execPath, [join(programs, 'main.ts'), JSON.stringify(job)])) as Sample;
}
