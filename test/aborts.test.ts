/** Clients that leave, over HTTP: the engine stops working for them at once, and others get their place. */
import { connect } from 'node:net';
import t from 'tap';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';

const server = await startServer(t, { folder: t.testdir(), env: { SVC_INFERENCE_PARALLEL: '1' } });
const messages = [{ role: 'user', content: 'Tell me something.' }];
const endless = { model: chatModel, messages, max_tokens: 100_000, logit_bias: await withoutEnd() };

/** The random model could end its answer. */
async function withoutEnd(): Promise<Record<string, number>> {
  const { json } = await post(`${server.url}/tokenize`, { model: chatModel, content: '<|im_end|>', parse_special: true });
  return Object.fromEntries((json as { tokens: number[] }).tokens.map((token) => [token, -100]));
}

/**
 * Sends a request and leaves when `enough` has come of the answer, after so many milliseconds, or when it is fulfilled. Resolves with what
 * ran then.
 */
function leave(body: object, enough: RegExp | number | (() => Promise<void>)): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const text = JSON.stringify(body);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n`);
      socket.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    });
    let answer = '';
    const end = async () => {
      const nActive = await figure('active_sequences');
      socket.destroy();
      resolve(nActive);
    };
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      if (enough instanceof RegExp && enough.test(answer)) end();
    });
    if (typeof enough === 'number') setTimeout(end, enough);
    if (typeof enough === 'function') enough().then(end, reject);
  });
}

async function figure(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^svc_inference_${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)?.[1]);
}

/** Whether the engine has nothing to do within a second, in which no endless answer ends. */
async function becomesIdle(): Promise<boolean> {
  for (let i = 0; i < 50; i++) {
    if ((await figure('active_sequences')) === 0 && (await figure('queued_requests')) === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

async function untilItRuns(): Promise<void> {
  while ((await figure('active_sequences')) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

const departures: [string, object, RegExp | (() => Promise<void>)][] = [
  ['in the middle of a stream', { ...endless, stream: true }, /"content":"[^"]+"[\s\S]*"content":"[^"]+"/],
  ['while an answer in one piece is made', endless, untilItRuns],
];

for (const [when, body, enough] of departures) {
  t.test(when, async (t) => {
    t.equal(await leave(body, enough), 1, 'it ran');
    t.ok(await becomesIdle(), 'nothing is computed for nobody');
  });
}

t.test('from the queue, where the next one takes the place', async (t) => {
  const running = leave({ ...endless, stream: true }, 1_500);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const departures = Promise.all(Array.from({ length: 20 }, () => leave({ ...endless, stream: true }, 300)));
  const staying = post(`${server.url}/v1/chat/completions`, { model: chatModel, messages, max_tokens: 4 });
  await departures;
  await running;
  t.equal((await staying).status, 200);
  t.ok(await becomesIdle());
});
