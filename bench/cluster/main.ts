/**
 * `npm run bench -- cluster`: what a forward to another node adds, beside a bare one of Node's own libraries; and the tokens of prompts that four nodes
 * compute for chats of eight turns, beside one node with all of their memory, by the cluster's choice, in turn, and as SGLang's router chooses.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { type ChildServer, freePort } from '../../test/child-server.ts';
import { send } from '../../test/http.ts';
import { chatModel, embeddingModel, runServer } from '../../test/server.ts';
import { openNodeCertificate } from '../../ts/server/domains/cluster/link/node-certificate.ts';
import { makeWords } from '../client/prompt.ts';
import { readOptions } from '../options.ts';
import type { BareForward } from './bare-forward-program.ts';
import { cacheAware, type Policy, roundRobin } from './policies.ts';

const isQuick = readOptions(process.argv.slice(2))?.isQuick === true;
const N_REQUESTS = isQuick ? 500 : 3_000;
const N_WARM = isQuick ? 100 : 500;
const N_NODES = 4;
const N_CHATS = isQuick ? 12 : 32;
const N_SYSTEMS = 8;
const N_TURNS = 8;
const MOST_AT_ONCE = 8;
/** Of each of the four nodes: all chats together need several times as much. */
const CELLS = 16_384;
const CELLS_OF_CHAT = 4_096;
const SYSTEM_WORDS = 300;
const QUESTION_WORDS = 100;
const GOALS = { p50: 1.5, p99: 2, computed: 1.3, evenness: 1.2 };

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-cluster-'));
const children: { stop(signal?: NodeJS.Signals): unknown }[] = [];
const goals: boolean[] = [];
const account = { username: 'root', password: 'correct horse battery staple' };

try {
  await forwards();
  await chats();
} finally {
  await Promise.all(children.map((child) => child.stop()));
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${goals.filter(Boolean).length} goals held, ${goals.filter((isHeld) => !isHeld).length} missed`);
process.exit(goals.every(Boolean) ? 0 : 1);

async function start(name: string, hasModel: boolean, cells: number, listen = ''): Promise<ChildServer> {
  const server = await runServer({
    models: hasModel ? { [chatModel]: { arch: 'llama' } } : { [embeddingModel]: { arch: 'bert' } },
    folder: join(folder, name),
    env: {
      SVC_NODE_NAME: name,
      SVC_CLUSTER_LISTEN: listen,
      SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
      SVC_INFERENCE_CTX: String(cells),
      SVC_INFERENCE_PARALLEL: String(Math.max(2, cells / CELLS_OF_CHAT)),
      SVC_INFERENCE_KV_OFFLOAD_MEMORY_BYTES: '0',
      SVC_INFERENCE_KV_OFFLOAD_DISK_BYTES: '0',
    },
    readyPath: '/health',
  });
  children.push(server);
  return server;
}

async function register({ url }: ChildServer): Promise<Record<string, string>> {
  const { json } = await send(`${url}/api/v1/auth/register`, { method: 'POST', body: account });
  const session = { authorization: `Bearer ${String(json?.['token'])}` };
  const made = await send(`${url}/api/v1/identity/keys`, { method: 'POST', body: { name: 'bench' }, headers: session });
  return { authorization: `Bearer ${String(made.json?.['api_key'])}` };
}

async function member(
  name: string,
  hasModel: boolean,
  controller: ChildServer,
  root: Record<string, string>,
): Promise<ChildServer> {
  const listen = `127.0.0.1:${await freePort()}`;
  const token = await send(`${controller.url}/api/v1/cluster/join-tokens`, { method: 'POST', body: {}, headers: root });
  const alone = await start(name, hasModel, CELLS, listen);
  await send(`${alone.url}/api/v1/cluster/join`, { method: 'POST', body: { token: token.json?.['token'] } });
  while (alone.running) await sleep(20);
  return await start(name, hasModel, CELLS, listen);
}

async function forwards(): Promise<void> {
  const controller = await start('controller', false, CELLS, `127.0.0.1:${await freePort()}`);
  const root = await register(controller);
  const ours = await member('member', false, controller, root);
  const { cert, key } = await openNodeCertificate(join(folder, 'bare'), '00000000-0000-4000-8000-000000000000');
  const [front, back] = [await freePort(), await freePort()];
  bare({ port: back, to: Number(new URL(controller.url).port), cert, key, isBack: true });
  bare({ port: front, to: back, cert, key, isBack: false });
  const ports = { direct: Number(new URL(controller.url).port), ours: Number(new URL(ours.url).port), bare: front };
  const asks = Object.entries(ports).map(([name, port]) => ({ name, ask: asker(port, root), times: [] as number[] }));
  for (const { ask } of asks) while (!(await ask().catch(() => false))) await sleep(50);
  for (let i = -N_WARM; i < N_REQUESTS; i++)
    for (const { ask, times } of asks) {
      const began = performance.now();
      if (!(await ask())) throw new Error('a request failed');
      if (i >= 0) times.push(performance.now() - began);
    }
  const at = (name: string, share: number): number => {
    const times = asks.find((each) => each.name === name)?.times.toSorted((a, b) => a - b) ?? [];
    return times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  };
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const [added, bareAdded] = ['ours', 'bare'].map((way) => at(way, share) - at('direct', 0.5)) as [number, number];
    const ratio = added / bareAdded;
    goal(
      ratio <= GOALS[name],
      `a forward adds ${added.toFixed(2)} ms, a bare one ${bareAdded.toFixed(2)} ms (${name}): ${ratio.toFixed(2)}, at most ${GOALS[name]}`,
    );
  }
}

function bare(job: BareForward): void {
  const script = fileURLToPath(new URL('./bare-forward-program.ts', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', script, JSON.stringify(job)], { stdio: 'ignore' });
  children.push({ stop: () => child.kill() });
}

/** One connection that is kept. */
function asker(port: number, headers: Record<string, string>): () => Promise<boolean> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return () =>
    new Promise((resolve, reject) => {
      const sent = request({ agent, host: '127.0.0.1', port, path: '/api/v1/auth/whoami', headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode === 200));
      });
      sent.on('error', reject).end();
    });
}

interface Side {
  urls: readonly string[];
  headers: Record<string, string>;
  choose: Policy;
}

interface Counted {
  nComputed: number;
  /** Answers of the busiest node, as a multiple of an even share. */
  evenness: number;
}

async function chats(): Promise<void> {
  const one = await start('one', true, N_NODES * CELLS);
  const alone = await run({ urls: [one.url], headers: await register(one), choose: () => 0 });
  await one.stop();
  console.log(`one node with all the memory computes ${alone.nComputed} tokens of prompts`);
  for (const [name, choose] of [
    ['in turn', roundRobin()],
    ['as SGLang’s router', cacheAware()],
  ] as const) {
    const nodes = await Promise.all(
      Array.from({ length: N_NODES }, (_, i) => start(`${name}-${i}`.replaceAll(/\W/g, ''), true, CELLS)),
    );
    tell(name, await run({ urls: nodes.map(({ url }) => url), headers: {}, choose }), alone);
    await Promise.all(nodes.map((node) => node.stop()));
  }
  const front = await start('front', false, CELLS, `127.0.0.1:${await freePort()}`);
  const root = await register(front);
  for (let i = 0; i < N_NODES; i++) await member(`worker${i}`, true, front, root);
  const nNodes = async () => {
    const { json } = await send(`${front.url}/api/v1/models`, { headers: root });
    const models = (json?.['models'] ?? []) as { id: string; nodes?: string[] }[];
    return models.find(({ id }) => id === chatModel)?.nodes?.length;
  };
  while ((await nNodes()) !== N_NODES) await sleep(100);
  const ours = await run({ urls: [front.url], headers: root, choose: () => 0 });
  tell('the cluster', ours, alone);
  const ratio = ours.nComputed / alone.nComputed;
  goal(ratio <= GOALS.computed, `four nodes compute ${ratio.toFixed(2)} of the tokens of one, at most ${GOALS.computed}`);
  goal(
    ours.evenness <= GOALS.evenness,
    `the busiest node answers ${ours.evenness.toFixed(2)} of its share, at most ${GOALS.evenness}`,
  );
}

function tell(name: string, { nComputed, evenness }: Counted, alone: Counted): void {
  console.log(
    `${name}: ${nComputed} tokens, ${(nComputed / alone.nComputed).toFixed(2)} of one node's; the busiest node ${evenness.toFixed(2)} of its share`,
  );
}

/** The same chats on each side: their texts depend on their number alone. */
async function run({ urls, headers, choose }: Side): Promise<Counted> {
  const random = new SeededRandom(7);
  const words = (n: number): string => makeWords(n, random.integer(2 ** 31));
  const systems = Array.from({ length: N_SYSTEMS }, () => words(SYSTEM_WORDS));
  const all = Array.from({ length: N_CHATS }, (_, i) => [{ role: 'system', content: systems[i % N_SYSTEMS] as string }]);
  const nRunning = urls.map(() => 0);
  const answers = new Map<string, number>();
  let nComputed = 0;
  const turn = async (messages: { role: string; content: string }[], question: string): Promise<void> => {
    messages.push({ role: 'user', content: question });
    const node = choose(JSON.stringify(messages), nRunning);
    nRunning[node] = (nRunning[node] ?? 0) + 1;
    const { text, usage, by } = await answer(urls[node] as string, headers, messages);
    nRunning[node] = (nRunning[node] ?? 0) - 1;
    messages.push({ role: 'assistant', content: text });
    answers.set(by ?? String(node), (answers.get(by ?? String(node)) ?? 0) + 1);
    nComputed += usage.prompt_tokens - (usage.prompt_tokens_details?.cached_tokens ?? 0);
  };
  for (let n = 0; n < N_TURNS; n++) {
    // In another order each time: in turn, a chat would else go to the same node again by chance.
    const asked = all.map((messages) => ({ messages, question: words(QUESTION_WORDS), at: random.next() }));
    const left = asked.toSorted((a, b) => a.at - b.at);
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await turn(next.messages, next.question);
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, worker));
  }
  const evenShare = (N_CHATS * N_TURNS) / Math.max(urls.length, answers.size);
  return { nComputed, evenness: Math.max(...answers.values()) / evenShare };
}

interface Usage {
  prompt_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
}

async function answer(
  url: string,
  headers: Record<string, string>,
  messages: unknown,
): Promise<{ text: string; usage: Usage; by: string | null }> {
  const body = {
    model: chatModel,
    messages,
    max_tokens: 8,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  };
  const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const response = await fetch(`${url}/v1/chat/completions`, sent);
  const text = await response.text();
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  const frames = lines.map((line) => JSON.parse(line.slice('data: '.length)));
  const usage = frames.find((frame) => frame.usage)?.usage as Usage | undefined;
  if (usage === undefined) throw new Error(`an answer failed: ${response.status} ${text.slice(0, 500)}`);
  return {
    text: frames.map((frame) => frame.choices?.[0]?.delta?.content ?? '').join(''),
    usage,
    by: response.headers.get('x-svc-node'),
  };
}

function goal(isHeld: boolean, sentence: string): void {
  goals.push(isHeld);
  console.log(`${isHeld ? 'held  ' : 'missed'} ${sentence}`);
}
