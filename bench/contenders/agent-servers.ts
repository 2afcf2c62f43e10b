/** Servers of the loads of agents: ours, with a model that answers at once, and a bare server of the MCP library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentJob, MODEL, type StepsJob } from '../agents/agent-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, RunningContender } from './contender.ts';
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
        measure: async (load) => await measure({ url: server.url, modelUrl: model.url }, load as AgentJob['load']),
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

export const svcGoals: Contender = { name: 'svc-goals', start: () => startSteps(undefined) };

export const dbos: Contender = {
  name: 'dbos',
  start: async () => {
    const folder = process.env['SVC_BENCH_DBOS'];
    if (folder === undefined)
      throw new Error('DBOS is not here: npm install @dbos-inc/dbos-sdk in a folder, and name it in SVC_BENCH_DBOS');
    return await startSteps(folder);
  },
};

/** Each measure has a PostgreSQL of its own. */
async function startSteps(dbosFolder: string | undefined): Promise<RunningContender> {
  const program = join(import.meta.dirname, '../../test/durable-steps/main.ts');
  return {
    measure: async (load) => {
      if (load.kind !== 'durable-steps') return undefined;
      const job: StepsJob = { load, ...(dbosFolder !== undefined && { dbosFolder }) };
      return JSON.parse(await runProgram(process.execPath, [program, JSON.stringify(job)])) as Sample;
    },
    stop: async () => undefined,
  };
}

async function measure(where: Omit<AgentJob, 'load'>, load: AgentJob['load']): Promise<Sample> {
  const job: AgentJob = { ...where, load };
  return JSON.parse(await runProgram(process.execPath, [join(programs, 'main.ts'), JSON.stringify(job)])) as Sample;
}
