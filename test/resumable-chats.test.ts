/** Chats whose streams outlive their clients, over sockets: resumed, followed by several, cancelled, and stored once. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { sayHello } from '../ts/server/domains/completions/test-support/response-node.ts';
import type { CompletionSink } from '../ts/server/domains/inference/backend.ts';
import { scriptedUsage } from '../ts/server/domains/inference/test-support/scripted-engine.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import type { Answer } from './matrix/client.ts';
import { type Headers, password } from './matrix/credentials.ts';
import { openProgram, type Program } from './matrix/program.ts';

const CHAT = '/v1/chat/completions';
const STREAMS = '/api/v1/edge/conversations/streams';

interface Shared {
  program: Program;
  ann: Headers;
  ben: Headers;
}

async function openShared(t: Test, environment: Record<string, string> = {}): Promise<Shared> {
  const program = await openProgram(t.testdir(), environment);
  t.teardown(() => program.stop());
  const register = async (username: string): Promise<Headers> => {
    const { token } = await program.client.json('POST', '/api/v1/auth/register', {}, { username, password });
    return { authorization: `Bearer ${token}` };
  };
  return { program, ann: await register('ann'), ben: await register('ben') };
}

const shared = await openShared(t);

/** A conversation of its own, and an engine that has done nothing yet. */
async function openWorld({ program, ann, ben }: Shared = shared) {
  const { client, port, binding } = program;
  binding.engine.jobs.length = 0;
  binding.engine.calls.length = 0;
  binding.engine.script = sayHello;
  const { id: conversation } = await client.json('POST', '/api/v1/edge/conversations', ann, { title: 'Harbour' });
  const messages = async () =>
    (await client.json('GET', `/api/v1/edge/conversations/messages?id=${conversation}`, ann)).data as Record<string, unknown>[];
  const body = (more: object = {}) => ({
    model: 'm',
    stream: true,
    resumable: true,
    conversation_id: conversation,
    messages: [{ role: 'user', content: 'Where is it?' }],
    ...more,
  });
  /** Reads until so many events have come, then cuts the connection; or to the end. */
  const read = (path: string, { method = 'GET', headers = {}, sent, nMost = Number.POSITIVE_INFINITY }: ReadOptions = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const text = sent === undefined ? undefined : JSON.stringify(sent);
      const all = { ...ann, ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) };
      const asked = request({ host: '127.0.0.1', port, method, path, headers: all }, (response) => {
        let got = '';
        const isStream = response.headers['content-type'] === 'text/event-stream';
        const done = () => {
          const text = isStream ? eventsOf(got).slice(0, nMost).join('') : got;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        };
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          got += chunk;
          if (eventsOf(got).length < nMost) return;
          response.destroy();
          done();
        });
        response.on('end', done);
        response.on('error', done);
      });
      asked.on('error', reject);
      asked.end(text);
    });
  const ask = (more: object = {}, nMost?: number) => read(CHAT, { method: 'POST', sent: body(more), ...(nMost && { nMost }) });
  return { ...program, ann, ben, conversation, messages, body, read, ask };
}

interface ReadOptions {
  method?: string;
  headers?: Record<string, string>;
  sent?: object;
  nMost?: number;
}

/** Whole events, without comments. */
function eventsOf(text: string): string[] {
  return text
    .split(/(?<=\n\n)/)
    .map((event) => event.replace(/^(:\n\n)+/, ''))
    .filter((event) => event.endsWith('\n\n') && event !== ':\n\n' && event !== '');
}

const lastIdOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '0';

/** An engine that says a word whenever the test lets it. */
function speakSlowly(world: Pick<Program, 'binding'>) {
  const opened = Promise.withResolvers<CompletionSink>();
  world.binding.engine.script = (sink) => {
    sink.onStart(7, 2);
    opened.resolve(sink);
  };
  const say = async (text: string) => {
    const sink = await opened.promise;
    sink.onContent(0, Buffer.from(JSON.stringify(text).slice(1, -1)));
    sink.onFlush();
  };
  const finish = async () => {
    const sink = await opened.promise;
    sink.onFinish(0, 'stop', '');
    sink.onDone(scriptedUsage);
    sink.onFlush();
  };
  return { say, finish };
}

const errorOf = ({ status, text }: Answer | { status: number; text: string }) => ({ status, error: JSON.parse(text).error });

t.test('a client that lost its connection goes on behind its last event; the answer is stored once', async (t) => {
  const world = await openWorld();
  const { say, finish } = speakSlowly(world);
  const answer = { id: 'answer-1' };
  const cut = world.ask({ conversation_answer: answer }, 2);
  await say('By');
  const first = await cut;
  t.equal(first.headers['x-svc-stream'], 'answer-1');
  t.match(first.text, /^id: 1\ndata: .*\n\nid: 2\ndata: .*"content":"By".*\n\n$/);
  await say(' the oak\n\n');
  const { data } = await world.client.json('GET', `${STREAMS}?id=${world.conversation}`, world.ann);
  t.match(data, [{ id: 'answer-1', conversation_id: world.conversation, parent_id: null, state: 'running', model: 'm' }]);
  const rest = world.read(`${STREAMS}/answer-1`, { headers: { 'last-event-id': lastIdOf(first.text) } });
  const whole = world.read(`${STREAMS}/answer-1`);
  await sleep(30);
  await finish();
  t.equal(first.text + (await rest).text, (await whole).text);
  t.match((await whole).text, /the oak.*"finish_reason":"stop".*id: 5\ndata: \[DONE\]\n\n$/s);
  const stored = await world.messages();
  t.match(stored, [
    { role: 'user', content: 'Where is it?', parent_id: null },
    { role: 'assistant', id: 'answer-1', content: 'By the oak\n\n', parent_id: stored[0]?.['id'], model: 'm' },
  ]);
  t.match(stored[1]?.['metadata'], { finish_reason: 'stop', prompt_tokens: 7, completion_tokens: 3 });
  t.equal((await world.read(`${STREAMS}/answer-1?last_event_id=4`)).text, 'id: 5\ndata: [DONE]\n\n');
  t.equal((await world.read(`${STREAMS}/answer-1?last_event_id=5`)).status, 204);
  t.match(errorOf(await world.read(`${STREAMS}/answer-1?last_event_id=6`)), { status: 400, error: 'invalid_request' });
  t.match(errorOf(await world.read(`${STREAMS}/answer-1`, { headers: { 'last-event-id': '-1' } })), { status: 400 });
  t.equal((await world.messages()).length, 2);
});

t.test('cut at random places by two readers, each has the bytes of the uncut stream', async () => {
  const world = await openWorld();
  const cuts = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 });
  const texts = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 10 });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(texts, cuts, cuts, async (texts, ofFirst, ofOther) => {
      const id = `cut-${n++}`;
      const { say, finish } = speakSlowly(world);
      const readAll = async (before: string, cuts: number[]): Promise<string> => {
        let text = before;
        for (const nMost of [...cuts, Number.POSITIVE_INFINITY]) {
          if (text.includes('[DONE]')) return text;
          text += (await world.read(`${STREAMS}/${id}`, { headers: { 'last-event-id': lastIdOf(text) }, nMost })).text;
        }
        return text;
      };
      const first = world.ask({ conversation_answer: { id } }, 1).then(({ text }) => readAll(text, ofFirst));
      await until(
        async () => (await world.read(`${STREAMS}/${id}`, { nMost: 1 })).status,
        (status) => status === 200,
      );
      const other = readAll('', ofOther);
      for (const text of texts) {
        await say(text);
        await sleep(1);
      }
      await finish();
      const whole = (await world.read(`${STREAMS}/${id}`)).text;
      return whole.endsWith('[DONE]\n\n') && (await first) === whole && (await other) === whole;
    }),
    { numRuns: 8 },
  );
});

t.test('cancelling ends the answer for everybody, and what was generated is stored', async (t) => {
  const world = await openWorld();
  const { say } = speakSlowly(world);
  const reading = world.ask({ conversation_answer: { id: 'x3' } });
  await say('Half of');
  const other = world.read(`${STREAMS}/x3`);
  await sleep(50);
  t.match(await world.client.json('DELETE', `${STREAMS}/x3`, world.ann), { id: 'x3', state: 'cancelled' });
  t.match((await world.messages())[1], { content: 'Half of', metadata: { incomplete: 'cancelled' } }, 'stored by then');
  for (const { text } of [await reading, await other]) t.match(text, /"code":"answer_cancelled".*\n\n$/, 'and the stream ends');
  await until(
    () => world.binding.engine.calls,
    (calls) => calls.includes('cancel 1'),
  );
  t.ok(world.binding.engine.calls.includes('cancel 1'));
});

t.test('one that is cancelled before it has begun tells its own client so, and stores nothing', async (t) => {
  const world = await openWorld();
  world.binding.engine.script = () => {};
  const reading = world.ask({ conversation_answer: { id: 'x4' } });
  await until(
    () => world.binding.engine.jobs.length,
    (n) => n === 1,
  );
  await world.client.json('DELETE', `${STREAMS}/x4`, world.ann);
  t.match(await reading, { status: 200, text: /answer_cancelled/ });
  t.strictSame(await world.messages(), []);
});

t.test('a client that goes away before the stream has begun ends the answer, and its id is free', async (t) => {
  const world = await openWorld();
  world.binding.engine.script = () => {};
  const gone = request({
    host: '127.0.0.1',
    port: world.port,
    path: CHAT,
    method: 'POST',
    headers: { ...world.ann, 'content-type': 'application/json' },
  });
  gone.on('error', () => undefined);
  gone.end(JSON.stringify(world.body({ conversation_answer: { id: 'x5' } })));
  await until(
    () => world.binding.engine.jobs.length,
    (n) => n === 1,
  );
  gone.destroy();
  await until(
    () => world.binding.engine.calls,
    (calls) => calls.includes('cancel 1'),
  );
  t.match(await world.read(`${STREAMS}/x5`), { status: 404 });
  const { finish } = speakSlowly(world);
  const again = world.ask({ conversation_answer: { id: 'x5' } });
  await finish();
  t.match(await again, { status: 200, text: /DONE/ });
});

t.test('streams of others are answered as unknown ones', async (t) => {
  const world = await openWorld();
  const { say, finish } = speakSlowly(world);
  const reading = world.ask({ conversation_answer: { id: 'x6' } });
  await say('Secret');
  const headers = world.ben as Record<string, string>;
  for (const method of ['GET', 'DELETE']) {
    const foreign = await world.read(`${STREAMS}/x6`, { method, headers });
    const unknown = await world.read(`${STREAMS}/y`, { method, headers });
    t.equal(foreign.status, 404);
    t.equal(foreign.text.replaceAll('/x6', '/y'), unknown.text);
  }
  t.strictSame(await world.client.json('GET', STREAMS, world.ben), { data: [] });
  const { api_key } = await world.client.json('POST', '/api/v1/identity/keys', world.ann, { name: 'k', scopes: ['chat:use'] });
  const limited = await world.client.send({ method: 'GET', path: STREAMS, headers: { 'x-api-key': api_key } });
  t.equal(limited.status, 403);
  await finish();
  t.match((await reading).text, /DONE/, 'and nothing of that ended it');
});

t.test('what does not fit is refused before anything is generated', async (t) => {
  const world = await openWorld();
  const refused = async (more: object) => {
    const { status, text } = await world.ask(more);
    return `${status} ${JSON.parse(text).error.code} ${JSON.parse(text).error.param ?? ''}`.trim();
  };
  t.equal(await refused({ conversation_id: null }), '400 invalid_request resumable');
  t.equal(await refused({ stream: false }), '400 invalid_request resumable');
  t.match(await refused({ conversation_id: null, resumable: false, conversation_answer: {} }), /^400 .* conversation_answer$/);
  t.match(await refused({ conversation_answer: { id: 'a b' } }), /^400 .*conversation_answer\.id$/);
  t.match(await refused({ conversation_answer: { other: 1 } }), /^400 .*conversation_answer$/);
  t.match(await refused({ conversation_answer: { prefix: '\0' } }), /^400 .*conversation_answer\.prefix$/);
  t.match(await refused({ conversation_answer: { parent_id: 'none' } }), /^404 message_not_found/);
  const said = { conversation_id: world.conversation, id: 'there', role: 'user', content: 'x' };
  await world.client.json('POST', '/api/v1/edge/conversations/messages', world.ann, said);
  t.match(await refused({ conversation_answer: { id: 'there' } }), /^409 message_conflict/);
  t.equal(world.binding.engine.jobs.length, 0);
});

t.test('an answer is stored behind the message that it names, with what it begins with', async (t) => {
  const world = await openWorld();
  const said = { conversation_id: world.conversation, id: 'question', role: 'user', content: 'Where?' };
  await world.client.json('POST', '/api/v1/edge/conversations/messages', world.ann, said);
  const { text } = await world.ask({ conversation_answer: { id: 'a', parent_id: 'question', prefix: 'By the ' } });
  t.match(text, /"content":"Hello"/, 'the events do not have it');
  t.match(await world.messages(), [{ id: 'question' }, { id: 'a', parent_id: 'question', content: 'By the Hello' }]);
  t.equal((await world.messages()).length, 2);
});

t.test('erasing a conversation ends and erases its streams', async (t) => {
  const world = await openWorld();
  const { say } = speakSlowly(world);
  const reading = world.ask({ conversation_answer: { id: 'x9' } });
  await say('Half of');
  await world.client.json('DELETE', `/api/v1/edge/conversations?id=${world.conversation}`, world.ann);
  t.match((await reading).text, /answer_cancelled/);
  t.equal((await world.read(`${STREAMS}/x9`)).status, 404);
});

t.test('a node that stops stores what was generated, and one that is back knows the stream no more', async (t) => {
  const world = await openWorld(await openShared(t));
  const { say } = speakSlowly(world);
  const cut = world.ask({ conversation_answer: { id: 'x10' } }, 2);
  await say('Half of');
  await cut;
  await world.stop();
  const again = await openProgram(t.testdirName);
  t.teardown(() => again.stop());
  const gone = await again.client.send({ method: 'GET', path: `${STREAMS}/x10`, headers: world.ann });
  t.match(JSON.parse(gone.text), { error: 'stream_not_found', detail: /restarted.*in its conversation/ });
  const path = `/api/v1/edge/conversations/messages?id=${world.conversation}`;
  t.match((await again.client.json('GET', path, world.ann)).data, [
    { role: 'user' },
    { id: 'x10', content: 'Half of', metadata: { incomplete: 'shutdown' } },
  ]);
});

t.test('a revoked credential ends an answer, read or not', async (t) => {
  const world = await openWorld();
  for (const isRead of [true, false]) {
    const { say } = speakSlowly(world);
    const key = await world.client.json('POST', '/api/v1/identity/keys', world.ann, { name: 'k' });
    const id = `x-${isRead}`;
    const headers = { authorization: '', 'x-api-key': key.api_key as string };
    const reading = world.read(CHAT, {
      method: 'POST',
      headers,
      sent: world.body({ conversation_answer: { id } }),
      ...(!isRead && { nMost: 2 }),
    });
    await say('Half of');
    if (!isRead) await reading;
    await world.client.json('DELETE', `/api/v1/identity/keys/${key.id}`, world.ann);
    if (isRead) t.match((await reading).text, /invalid_credential|api_key_revoked/);
    const state = async () =>
      (await world.client.json('GET', STREAMS, world.ann)).data.find((each: { id: string }) => each.id === id).state;
    await until(state, (is) => is === 'failed');
    t.equal(await state(), 'failed', `read: ${isRead}`);
    const find = async () => (await world.messages()).find((message) => message['id'] === id);
    await until(find, (found) => found !== undefined);
    t.match(await find(), { content: 'Half of', metadata: { incomplete: 'client_closed' } });
  }
});

t.test('where it is switched off, or not asked for, an answer ends with its client', async (t) => {
  const world = await openWorld(await openShared(t, { SVC_INFERENCE_STREAM_DETACHED_SECONDS: '0' }));
  const { say } = speakSlowly(world);
  const cut = world.ask({}, 2);
  await say('Half of');
  const { headers, text } = await cut;
  t.equal(headers['x-svc-stream'], undefined);
  t.notMatch(text, /^id:/m);
  await until(world.messages, ({ length }) => length === 2);
  t.match((await world.messages())[1], { content: 'Half of', metadata: { incomplete: 'client_closed' } });
});

t.test('OpenAI’s own client reads a resumable stream as any other', async (t) => {
  const world = await openWorld();
  const { authorization = '' } = world.ann;
  const client = new OpenAI({ apiKey: authorization.slice('Bearer '.length), baseURL: `http://127.0.0.1:${world.port}/v1` });
  const stream = await client.chat.completions.create(world.body() as never);
  let text = '';
  for await (const chunk of stream as unknown as AsyncIterable<{ choices: { delta: { content?: string } }[] }>)
    text += chunk.choices[0]?.delta.content ?? '';
  t.equal(text, 'Hello');
});
