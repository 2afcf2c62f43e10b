/** The client of the loads of devices, in a process of its own: a job as JSON in its first argument, one sample as JSON on its standard output. */
import { setTimeout as sleep } from 'node:timers/promises';
import { shapedBody } from '../client/chat-body.ts';
import { sendChat } from '../client/chat-request.ts';
import { at } from '../client/summary.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import { type DeviceJob, topicOf } from './device-load.ts';

const ADDED_AT_ONCE = 8;
/** Connections have been made, and what is compiled on first use is compiled. */
const SETTLE_MS = 5_000;
/** A value that comes a moment late is counted a second later. */
const MOST_MISSING = 0.02;
const CHATS = 4;

const { url, isBare, pid, brokerPort, load, seed } = JSON.parse(process.argv[2] ?? '') as DeviceJob;
process.stdout.write(JSON.stringify(isBare ? await devices() : await beside()));
process.exit(0);

async function beside(): Promise<Sample> {
  await chats(0);
  const idleItlP99Ms = await chats(1);
  await addDevices();
  const sample = await devices();
  return { ...sample, idleItlP99Ms, besideItlP99Ms: await chats(1 + CHATS) };
}

async function devices(): Promise<Sample> {
  await sleep(SETTLE_MS);
  const [nBefore, cpuBefore, began] = [await countReadings(), readUsage(pid).cpuSeconds, performance.now()];
  await sleep(load.seconds * 1_000);
  const seconds = (performance.now() - began) / 1_000;
  const cpuMs = (readUsage(pid).cpuSeconds - cpuBefore) * 1_000;
  const readingsPerSecond = ((await countReadings()) - nBefore) / seconds;
  const expected = load.devices * load.variables;
  if (readingsPerSecond < expected * (1 - MOST_MISSING))
    throw new Error(`${readingsPerSecond} of ${expected} readings a second came`);
  return { cpuMsPerSecond: cpuMs / seconds, readingsPerSecond, rssMiB: readUsage(pid).rssBytes / 2 ** 20 };
}

async function countReadings(): Promise<number> {
  const told = await (await fetch(isBare ? url : `${url}/metrics`)).text();
  if (isBare) return Number(told);
  return Number(/^svc_iot_readings_total\{kind="mqtt",quality="good"\} (\d+)/m.exec(told)?.[1] ?? 0);
}

async function addDevices(): Promise<void> {
  let next = 0;
  const add = async (): Promise<void> => {
    for (let device = next++; device < load.devices; device = next++) {
      const variables = Array.from({ length: load.variables }, (_, i) => ({
        name: `v${i}`,
        type: 'number',
        access: 'read',
        read: { topic: topicOf(device, i), pointer: '/value' },
      }));
      const body = { name: `device ${device}`, kind: 'mqtt', connection: { url: `mqtt://127.0.0.1:${brokerPort}` }, variables };
      const headers = { 'content-type': 'application/json' };
      const made = await fetch(`${url}/api/v1/iot/devices`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (made.status !== 201) throw new Error(`a device was not added: ${await made.text()}`);
      await made.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: ADDED_AT_ONCE }, add));
}

/** Milliseconds between tokens, of some streams one after the other. */
async function chats(first: number): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const gaps: number[] = [];
  for (let i = first; i < first + CHATS; i += 1) {
    const body = shapedBody({ ownWords: 20, maxTokens: load.tokens }, seed, i);
    const { status, gapsMs } = await sendChat({ host, port: Number(port) }, body);
    if (status !== 200) throw new Error(`the chat failed: ${status}`);
    gaps.push(...gapsMs);
  }
  return at(gaps, 0.99);
}
