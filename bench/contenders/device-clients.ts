/** Clients of many devices behind a broker: ours, and a bare one. */
import { join } from 'node:path';
import type { ChildServer } from '../../test/child-server.ts';
import type { DeviceJob, DeviceLoad } from '../iot/device-load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, RunningContender } from './contender.ts';
import { startNode } from './ours.ts';
import { startProgram } from './provider-node.ts';

const programs = join(import.meta.dirname, '../iot');

export const svcDevices: Contender = {
  name: 'svc-devices',
  start: (options) =>
    withBroker(async (brokerPort) => {
      const node = await startNode(options, { SVC_IOT_ALLOWED_HOSTS: '127.0.0.1' });
      return {
        measure: async (load, seed) => {
          if (load.kind !== 'devices') return undefined;
          return await measure({ url: node.server.url, isBare: false, pid: node.server.pid, brokerPort, load, seed });
        },
        stop: () => node.stop(),
      };
    }),
};

export const bareDevices: Contender = {
  name: 'bare-devices',
  start: () =>
    withBroker(async (brokerPort) => ({
      measure: async (load, seed) => (load.kind === 'devices' ? await measureBare(brokerPort, load, seed) : undefined),
      stop: async () => undefined,
    })),
};

async function measureBare(brokerPort: number, load: DeviceLoad, seed: number): Promise<Sample> {
  const counts = [brokerPort, load.devices, load.variables].map(String);
  const client = await startProgram(join(programs, 'bare-client-program.ts'), ...counts);
  try {
    return await measure({ url: client.url, isBare: true, pid: client.pid, brokerPort, load, seed });
  } finally {
    await client.stop();
  }
}

/** Each side has a broker of its own, so that what one side left does not reach the other. */
async function withBroker(start: (brokerPort: number) => Promise<RunningContender>): Promise<RunningContender> {
  const broker: ChildServer = await startProgram(join(programs, 'broker-program.ts'));
  try {
    const running = await start(Number(await (await fetch(broker.url)).text()));
    return {
      ...running,
      stop: async () => {
        await running.stop();
        await broker.stop();
      },
    };
  } catch (error) {
    await broker.stop();
    throw error;
  }
}

async function measure(job: DeviceJob): Promise<Sample> {
  return JSON.parse(await runProgram(process.execPath, [join(programs, 'main.ts'), JSON.stringify(job)])) as Sample;
}
