/** The client of recordings, in a process of its own: a job as JSON in its first argument, one sample as JSON on its standard output. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { shapedBody } from '../client/chat-body.ts';
import { sendChat } from '../client/chat-request.ts';
import { at } from '../client/summary.ts';
import { readProcess, readThreads } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import { SPEECH_MODELS, type SpeechJob, type SpeechTask } from './speech-load.ts';

/** Samples a second: enough to be heard, and four hours of them are still an ordinary upload. */
const RATE = 4_000;
/** A thread that waits uses less within WATCHED_MS. */
const IDLE_CPU_MS = 2;
const WATCHED_MS = 1_000;
/** A job has begun to compute when its server has used so much, of which each thread that computes has a part. */
const BEGUN_CPU_MS = 500;
const COMPUTED_CPU_MS = 100;
const AT_ONCE = 4;

const { side, url, pid, load, seed } = JSON.parse(process.argv[2] ?? '') as SpeechJob;
const sample = await measure(load);
process.stdout.write(JSON.stringify(sample));
process.exit(0);

async function measure(task: SpeechTask): Promise<Sample> {
  switch (task.task) {
    case 'files':
      return await files(task);
    case 'behind':
      return await behind(task);
    case 'chat':
      return await chat(task);
    case 'cancel':
      return await cancel(task);
    case 'many':
      return await many(task);
    case 'long':
      return await long(task);
  }
}

async function files({ files: nFiles, seconds }: SpeechTask & { task: 'files' }): Promise<Sample> {
  const recordings = Array.from({ length: nFiles }, (_, i) => noise(seconds, seed + i));
  await transcribe(noise(5, seed));
  const elapsed = await timed(() => Promise.all(recordings.map((recording) => transcribe(recording))));
  return { seconds: elapsed / 1_000, audioSecondsPerSecond: (nFiles * seconds * 1_000) / elapsed };
}

async function behind({ shortSeconds, longSeconds }: SpeechTask & { task: 'behind' }): Promise<Sample> {
  const short = noise(shortSeconds, seed);
  await transcribe(short);
  const aloneMs = await timed(() => transcribe(short));
  const over = new AbortController();
  const long = transcribe(noise(longSeconds, seed + 1), { signal: over.signal }).catch(() => '');
  await whenComputing();
  const behindMs = await timed(() => transcribe(short));
  over.abort();
  await long;
  return { aloneMs, behindMs };
}

async function chat({ files: nFiles, tokens }: SpeechTask & { task: 'chat' }): Promise<Sample> {
  const { hostname: host, port } = new URL(url);
  const ask = async (own: number) => {
    const body = shapedBody({ ownWords: 20, maxTokens: tokens }, seed, own);
    const { status, ttftMs, e2eMs, gapsMs, nCompletionTokens } = await sendChat({ host, port: Number(port) }, body);
    if (status !== 200) throw new Error(`the chat failed: ${status}`);
    return { perSecond: ((nCompletionTokens - 1) * 1_000) / (e2eMs - ttftMs), p99: at(gapsMs, 0.99) };
  };
  await transcribe(noise(5, seed));
  await ask(0);
  const idle = await ask(1);
  const over = new AbortController();
  const jobs = Array.from({ length: nFiles }, (_, i) =>
    transcribe(noise(600, seed + i), { signal: over.signal }).catch(() => ''),
  );
  await whenComputing();
  const beside = await ask(2);
  over.abort();
  await Promise.all(jobs);
  return {
    idleTokensPerSecond: idle.perSecond,
    besideTokensPerSecond: beside.perSecond,
    idleItlP99Ms: idle.p99,
    besideItlP99Ms: beside.p99,
  };
}

/** From the moment when the client is gone until the threads that computed wait. What runs Node by itself, collects garbage too. */
async function cancel({ times }: SpeechTask & { task: 'cancel' }): Promise<Sample> {
  await transcribe(noise(5, seed));
  const freed: number[] = [];
  for (let i = 0; i < times; i++) {
    const over = new AbortController();
    const job = transcribe(noise(600, seed + i), { signal: over.signal }).catch(() => '');
    const threads = await whenComputing();
    over.abort();
    freed.push(await msUntilIdle(threads));
    await job;
  }
  return { coresFreeP50Ms: at(freed, 0.5), coresFreeMostMs: Math.max(...freed) };
}

async function msUntilIdle(threads: readonly string[]): Promise<number> {
  const began = performance.now();
  const used = () => sum(threads.map((thread) => readThreads(pid).get(thread) ?? 0)) * 1_000;
  const seen: { ms: number; cpuMs: number }[] = [];
  while (performance.now() - began < WATCHED_MS) {
    seen.push({ ms: performance.now() - began, cpuMs: used() });
    await sleep(2);
  }
  const end = used();
  return seen.find((each) => end - each.cpuMs < IDLE_CPU_MS)?.ms ?? WATCHED_MS;
}

async function many({ few, many: nJobs }: SpeechTask & { task: 'many' }): Promise<Sample> {
  const recording = noise(5, seed);
  const run = async (n: number) => {
    let left = n;
    const work = async () => {
      while (left-- > 0) await transcribe(recording, { model: SPEECH_MODELS.memory });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return readProcess(pid).rssBytes / 2 ** 20;
  };
  const fewMiB = await run(few);
  const manyMiB = await run(nJobs - few);
  return { fewMiB, manyMiB, growth: manyMiB / fewMiB };
}

async function long({ hours }: SpeechTask & { task: 'long' }): Promise<Sample> {
  const most = async (recording: Blob) => {
    let isOver = false;
    let mostBytes = 0;
    const job = transcribe(recording, { model: SPEECH_MODELS.memory }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      mostBytes = Math.max(mostBytes, readProcess(pid).rssBytes);
      await sleep(20);
    }
    await job;
    return mostBytes / 2 ** 20;
  };
  await most(noise(60, seed));
  const minuteMiB = await most(noise(60, seed));
  const longMiB = await most(noise(hours * 3_600, seed));
  return { minuteMiB, longMiB, moreMiB: longMiB - minuteMiB };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Half a second of the cores tells a window from an upload. Returns the threads that computed, without the one that runs Node. */
async function whenComputing(): Promise<string[]> {
  const before = readThreads(pid);
  const usedBy = (threads: ReadonlyMap<string, number>) =>
    [...threads].map(([thread, seconds]) => ({ thread, cpuMs: (seconds - (before.get(thread) ?? 0)) * 1_000 }));
  let used = usedBy(before);
  // A decoder is a process of its own, and is not counted.
  while (sum(used.map(({ cpuMs }) => cpuMs)) < BEGUN_CPU_MS) {
    await sleep(5);
    used = usedBy(readThreads(pid));
  }
  return used.filter(({ thread, cpuMs }) => thread !== String(pid) && cpuMs > COMPUTED_CPU_MS).map(({ thread }) => thread);
}

/** The whole text. Throws where there is none. */
async function transcribe(
  recording: Blob,
  { model = SPEECH_MODELS.speed, signal }: { model?: string; signal?: AbortSignal } = {},
): Promise<string> {
  const form = new FormData();
  form.append('file', recording, 'noise.wav');
  form.append('language', 'en');
  form.append('response_format', 'text');
  if (side === 'svc') {
    form.append('model', model);
    form.append('vad', 'false');
  }
  const path = side === 'svc' ? '/v1/audio/transcriptions' : '/inference';
  const response = await fetch(url + path, { method: 'POST', body: form, ...(signal && { signal }) });
  const text = await response.text();
  if (!response.ok || text.trim() === '') throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

/** A WAVE file of 8 bits a sample. */
function noise(seconds: number, ofSeed: number): Blob {
  const random = new SeededRandom(ofSeed + 1);
  const second = Buffer.from(Uint8Array.from({ length: RATE }, () => 64 + random.integer(128)));
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + seconds * RATE, 4);
  head.write('WAVEfmt ', 8);
  for (const [offset, value] of [
    [16, 16],
    [24, RATE],
    [28, RATE],
  ] as const)
    head.writeUInt32LE(value, offset);
  for (const [offset, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, offset);
  head.write('data', 36);
  head.writeUInt32LE(seconds * RATE, 40);
  return new Blob([head, ...Array.from({ length: seconds }, () => second)]);
}
