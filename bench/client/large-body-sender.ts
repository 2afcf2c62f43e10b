/** A thread that makes a large body when it is told which, and sends it as often as it is told to. */
import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import type { LargeBodyKind } from '../load/load.ts';
import type { Target } from './connection.ts';

export interface BodyToMake {
  kind: LargeBodyKind;
  sizeMb: number;
}

export interface SentBody {
  /** 0 when the connection ended before the answer. */
  status: number;
  ms: number;
}

const nImages = 16;

const contents: Readonly<Record<LargeBodyKind, (sizeBytes: number) => string>> = {
  text: (size) => `"messages":[{"role":"user","content":"${repeat('all work and no play ', size)}"}]`,
  images: (size) =>
    `"messages":[{"role":"user","content":[${Array.from({ length: nImages }, () => image(size / nImages)).join()}]}]`,
  nesting: (size) => `${short},"metadata":{"nested":[${listed(`${'['.repeat(200)}${']'.repeat(200)}`, size)}]}`,
  prototypes: (size) => `${short},"metadata":{"list":[${listed('{"__proto__":{"a":1},"constructor":"x"}', size)}]}`,
  values: (size) => `${short},"metadata":{"list":[${listed('{"a":[1,2],"b":"x"}', size)}]}`,
};
const short = '"messages":[{"role":"user","content":"Hi"}]';

function image(sizeBytes: number): string {
  return `{"type":"image_url","image_url":{"url":"data:image/png;base64,${'iVBORw0K'.repeat(Math.ceil(sizeBytes / 8))}"}}`;
}

function listed(entry: string, sizeBytes: number): string {
  return repeat(`${entry},`, sizeBytes).slice(0, -1);
}

function repeat(text: string, sizeBytes: number): string {
  return text.repeat(Math.ceil(sizeBytes / text.length));
}

function send({ host, port }: Target, body: Buffer): Promise<SentBody> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const end = (status: number) => resolve({ status, ms: performance.now() - startedAt });
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const outgoing = request({ host, port, method: 'POST', path: '/v1/chat/completions', headers, agent: false }, (answer) => {
      answer.resume().on('end', () => end(answer.statusCode ?? 0));
    });
    outgoing.on('error', () => end(0)).end(body);
  });
}

let body = Buffer.alloc(0);

parentPort?.on('message', async (asked: BodyToMake | 'send') => {
  if (asked === 'send') parentPort?.postMessage(await send(workerData as Target, body));
  else {
    body = Buffer.from(`{"model":"bench","max_tokens":1,${contents[asked.kind](asked.sizeMb * 1e6)}}`);
    parentPort?.postMessage('made');
  }
});
