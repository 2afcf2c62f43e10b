/** The closed loop of the embeddings client. */
import { Agent, request } from 'node:http';
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import type { EmbeddingLoad } from './embedding-load.ts';
import { drawTexts } from './texts.ts';

export interface EmbeddingJob {
  url: string;
  load: EmbeddingLoad;
  seed: number;
}

export async function embedInClosedLoop({ url, load, seed }: EmbeddingJob): Promise<Sample> {
  const bodies = requestBodies(load, await modelName(url), seed);
  const agent = new Agent({ keepAlive: true, maxSockets: load.clients });
  const latenciesMs: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const runClient = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const sentAt = performance.now();
      await post(url, agent, body);
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: load.clients }, runClient));
  const seconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  return {
    nTexts: load.nTexts,
    seconds,
    textsPerSecond: load.nTexts / seconds,
    latencyP50Ms: quantile(latenciesMs, 0.5),
    latencyP99Ms: quantile(latenciesMs, 0.99),
  };
}

/** Embedding models are never substituted, so a request has to name the one that is served. */
async function modelName(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/models`);
  const { data } = (await response.json()) as { data: { id: string }[] };
  const [only] = data;
  if (only === undefined) throw new Error('the server lists no model');
  return only.id;
}

/** Base64 is what OpenAI's packages ask for; made beforehand, so that the clock sees the server's work. */
function requestBodies({ nTexts, textsPerRequest, lengths }: EmbeddingLoad, model: string, seed: number): string[] {
  const texts = drawTexts(nTexts, lengths, seed);
  return Array.from({ length: Math.ceil(nTexts / textsPerRequest) }, (_, index) => {
    const input = texts.slice(index * textsPerRequest, (index + 1) * textsPerRequest);
    return JSON.stringify({ model, input, encoding_format: 'base64' });
  });
}

const maxAttempts = 5;

/** A kept-alive connection that the server closed is no failure of its answers: the request is sent again, on the same clock. */
async function post(url: string, agent: Agent, body: string): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const status = await send(url, agent, body);
    if (status === 'connection closed') continue;
    if (status !== 200) throw new Error(`POST /v1/embeddings answered ${status}`);
    return;
  }
  throw new Error(`the server closed ${maxAttempts} connections without an answer`);
}

function send(url: string, agent: Agent, body: string): Promise<number | 'connection closed'> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(`${url}/v1/embeddings`, { method: 'POST', agent, headers });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') resolve('connection closed');
      else reject(error);
    });
    outgoing.on('response', (response) => {
      response.on('data', () => {});
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.end(body);
  });
}
