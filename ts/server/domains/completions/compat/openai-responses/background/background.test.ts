/** Background responses through the routes, with a scripted engine, a real database and real jobs. */

import t, { type Test } from 'tap';
import { NativeError } from '../../../../../native/native-error.ts';
import { newFolder } from '../../../../../platform/files/test-support/new-folder.ts';
import { until } from '../../../../../platform/jobs/test-support/open-jobs.ts';
import { systemScope, tenantScope } from '../../../../../platform/storage/index.ts';
import type { CompletionSink } from '../../../../inference/index.ts';
import { scriptedUsage } from '../../../../inference/test-support/scripted-engine.ts';
import type { ScriptedStream } from '../../../answer/test-support/scripted-stream.ts';
import type { ResponseTables } from '../../../stored-responses/response-tables.ts';
import { type Members, type ResponseNode, startResponseNode } from '../../../test-support/response-node.ts';

const create = '/v1/responses';
const one = '/v1/responses/{id}';
const cancel = '/v1/responses/{id}/cancel';
const body = { model: 'm', input: 'Hi', background: true };

/** A node whose engine begins each job and waits for the test to go on. */
async function startWaitingNode(t: Test, options: Parameters<typeof startResponseNode>[1] = {}) {
  const node = await startResponseNode(t, options);
  node.binding.engine.script = (sink) => sink.onStart(7, 0);
  const sinks = () => node.binding.engine.jobs.map(({ sink }) => sink);
  const nextSink = async (index = 0) => (await until(sinks, (all) => all.length > index))[index] as CompletionSink;
  return { node, nextSink };
}

function say(sink: CompletionSink, ...texts: string[]): void {
  for (const text of texts) {
    sink.onContent(0, Buffer.from(text));
    sink.onFlush();
  }
}

function finish(sink: CompletionSink): void {
  sink.onFinish(0, 'stop', '');
  sink.onDone(scriptedUsage);
  sink.onFlush();
}

interface Event {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: Members;
}

function eventsOf({ text }: ScriptedStream): Event[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as Event);
}

const numbersOf = (stream: ScriptedStream) => eventsOf(stream).map((event) => event.sequence_number);
const textOf = (stream: ScriptedStream) =>
  eventsOf(stream)
    .map(({ delta = '' }) => delta)
    .join('');
const begin = async (node: ResponseNode) => (await node.json('POST', create, body)) as { id: string; status: string };
const get = (node: ResponseNode, id: string) => node.json('GET', one, undefined, { params: { id } });
const follow = (node: ResponseNode, id: string, after?: number) =>
  node.follow('GET', one, undefined, {
    params: { id },
    query: { stream: true, ...(after === undefined ? {} : { starting_after: after }) },
  });
const untilStatus = (node: ResponseNode, id: string, status: string) =>
  until(
    () => get(node, id),
    (response) => response['status'] === status,
  );

/** Waits until all that a follower has heard is in the database. */
async function untilSaved({ storage }: ResponseNode, stream: ScriptedStream): Promise<void> {
  const access = storage.access<ResponseTables>();
  const last = numbersOf(stream).at(-1) ?? 0;
  const saved = () =>
    access.read(systemScope(), (db) =>
      db.selectFrom('response_events').select('last_sequence').where('last_sequence', '>=', last).execute(),
    );
  await until(saved, ({ length }) => length > 0);
}

t.test('a background response is queued at once, and read when it is done', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const begun = await begin(node);
  t.match(begun, { status: 'queued', background: true, store: true, output: [], usage: null });
  const sink = await nextSink();
  await untilStatus(node, begun.id, 'in_progress');
  say(sink, 'Hel', 'lo');
  finish(sink);
  const done = await untilStatus(node, begun.id, 'completed');
  t.match(done, { id: begun.id, output: [{ type: 'message', content: [{ text: 'Hello' }] }], usage: { input_tokens: 7 } });
  const [job] = await node.jobs.list(tenantScope('default'), { kind: 'inference.response' });
  t.match(job, { input: { response_id: begun.id } });
});

t.test('followers hear every event once, from wherever they begin, live and afterwards', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const first = await node.follow('POST', create, { ...body, stream: true });
  const sink = await nextSink();
  say(sink, 'a', 'b');
  await until(
    () => textOf(first),
    (text) => text === 'ab',
  );
  const id = String(eventsOf(first)[0]?.response?.['id']);
  const second = await follow(node, id, 5);
  say(sink, 'c');
  await untilSaved(node, first);
  const third = await follow(node, id);
  say(sink, 'd');
  finish(sink);
  const late = await until(
    () => get(node, id),
    ({ status }) => status === 'completed',
  ).then(() => follow(node, id, 6));
  for (const stream of [first, second, third, late]) await until(() => stream.isEnded, Boolean);
  const numbers = numbersOf(first);
  t.strictSame(
    numbers,
    numbers.map((_, index) => index),
  );
  t.equal(textOf(first), 'abcd');
  t.strictSame(
    eventsOf(first)
      .map(({ type }) => type.slice('response.'.length))
      .filter((type) => !type.startsWith('output_') && !type.startsWith('content_')),
    ['created', 'queued', 'in_progress', 'completed'],
  );
  t.match(eventsOf(first)[0], { response: { status: 'queued' } });
  t.strictSame(numbersOf(third), numbers);
  t.strictSame(numbersOf(second), numbers.slice(6));
  t.strictSame(numbersOf(late), numbers.slice(7));
  t.strictSame(eventsOf(first).at(-1)?.response, await get(node, id));
  const beyond = numbers.length;
  t.strictSame(numbersOf(await follow(node, id, beyond - 1)), []);
  await t.rejects(follow(node, id, beyond), { status: 400, code: 'invalid_request', param: 'starting_after' });
});

t.test('a response goes on when its client leaves, and a slow one is waited for', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const gone = await node.follow('POST', create, { ...body, stream: true });
  const sink = await nextSink();
  say(sink, 'a');
  await until(
    () => textOf(gone),
    (text) => text === 'a',
  );
  const id = String(eventsOf(gone)[0]?.response?.['id']);
  gone.leave();
  const slow = await follow(node, id);
  slow.isFast = false;
  say(sink, 'b');
  await until(
    () => slow.writes.length,
    (n) => n > 0,
  );
  const nWrites = slow.writes.length;
  finish(sink);
  await untilStatus(node, id, 'completed');
  t.equal(slow.writes.length, nWrites, 'nothing is written until it has read');
  slow.isFast = true;
  slow.drain();
  await until(() => slow.isEnded, Boolean);
  t.equal(textOf(slow), 'ab');
  t.equal(textOf(gone), 'a');
});

t.test('what is cancelled stops, and stays cancelled', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const { id } = await begin(node);
  say(await nextSink(), 'a');
  const stream = await follow(node, id);
  t.match(await node.json('POST', cancel, undefined, { params: { id } }), { id, status: 'cancelled' });
  await until(() => stream.isEnded, Boolean);
  t.notMatch(stream.text, /response.(completed|failed)/);
  await until(
    () => node.binding.engine.calls,
    (calls) => calls.includes('cancel 1'),
  );
  t.match(await node.json('POST', cancel, undefined, { params: { id } }), { status: 'cancelled' }, 'twice is once');
  t.match(await get(node, id), { status: 'cancelled' });
});

t.test('a queued response that is cancelled never runs', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push((await begin(node)).id);
  await nextSink(7);
  const last = ids.at(-1) ?? '';
  t.match(await node.json('POST', cancel, undefined, { params: { id: last } }), { status: 'cancelled' });
  for (const id of ids.slice(0, 8)) await node.json('POST', cancel, undefined, { params: { id } });
  await until(
    () => node.binding.engine.jobs.length,
    (n) => n === 9,
  );
  t.match(await get(node, last), { status: 'cancelled' });
});

t.test('only background responses are cancelled and followed, and deleting one ends it', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  node.binding.engine.script = (sink) => {
    sink.onStart(7, 0);
    finish(sink);
  };
  const { id } = (await node.json('POST', create, { model: 'm', input: 'Hi' })) as { id: string };
  await t.rejects(node.json('POST', cancel, undefined, { params: { id } }), { status: 400, code: 'invalid_request' });
  await t.rejects(follow(node, id), { status: 400, code: 'invalid_request', param: 'stream' });
  await t.rejects(node.json('POST', create, { ...body, store: false }), {
    status: 400,
    code: 'invalid_request',
    param: 'background',
  });
  node.binding.engine.script = (sink) => sink.onStart(7, 0);
  const background = await begin(node);
  await nextSink(1);
  const stream = await follow(node, background.id);
  t.match(await node.json('DELETE', one, undefined, { params: { id: background.id } }), { deleted: true });
  await until(() => stream.isEnded, Boolean);
  await until(
    () => node.binding.engine.calls,
    (calls) => calls.includes('cancel 2'),
  );
  await t.rejects(get(node, background.id), { status: 404, code: 'response_not_found' });
});

t.test('a failure is an end with its code, and a full queue is waited out', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const failing = await begin(node);
  const sink = await nextSink();
  say(sink, 'a');
  const stream = await follow(node, failing.id);
  sink.onError(new NativeError({ code: 'deadline_exceeded', text: 'It took too long.' }));
  sink.onFlush();
  const failed = await untilStatus(node, failing.id, 'failed');
  t.match(failed, { error: { code: 'deadline_exceeded', message: 'It took too long.' }, output: [] });
  await until(() => stream.isEnded, Boolean);
  t.match(eventsOf(stream).at(-1), { type: 'response.failed', response: failed });

  node.binding.engine.refusal = new NativeError({ code: 'queue_full', text: 'Full.' });
  const { id } = await begin(node);
  await until(
    () => node.jobs.list(tenantScope('default'), { kind: 'inference.response' }),
    ([newest]) => newest?.state === 'queued' && newest.error !== undefined,
  );
  node.binding.engine.refusal = undefined;
  const again = await nextSink(1);
  finish(again);
  await untilStatus(node, id, 'completed');
});

t.test('a response that continues one in the background waits for its end', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const { id } = await begin(node);
  const sink = await nextSink();
  const refusal = { status: 400, code: 'invalid_request', param: 'previous_response_id' };
  await t.rejects(node.json('POST', create, { ...body, previous_response_id: id }), refusal);
  say(sink, 'a');
  finish(sink);
  await untilStatus(node, id, 'completed');
  const next = (await node.json('POST', create, { ...body, input: 'And?', previous_response_id: id })) as { id: string };
  finish(await nextSink(1));
  t.match(await untilStatus(node, next.id, 'completed'), { previous_response_id: id });
  const prompt = node.binding.engine.jobs[1]?.job.prompt;
  t.match(prompt?.kind === 'chat' && JSON.parse(String(prompt.messagesJson)), [
    { content: 'Hi' },
    { content: 'a' },
    { content: 'And?' },
  ]);
});

t.test('a node that was stopped begins the response anew, under greater numbers', async (t) => {
  const url = `sqlite:${newFolder(t)}/svc.db`;
  const first = await startWaitingNode(t, { url });
  const { id } = await begin(first.node);
  say(await first.nextSink(), 'lost');
  const before = await follow(first.node, id);
  await until(
    () => textOf(before),
    (text) => text === 'lost',
  );
  await untilSaved(first.node, before);
  await first.node.stop();

  const second = await startWaitingNode(t, { url });
  const sink = await second.nextSink();
  say(sink, 'found');
  const last = numbersOf(before).at(-1) ?? 0;
  const resumed = await follow(second.node, id, last);
  const anew = await follow(second.node, id);
  finish(sink);
  for (const stream of [resumed, anew]) await until(() => stream.isEnded, Boolean);
  t.equal(textOf(resumed), 'found');
  t.equal(textOf(anew), 'found');
  t.match(eventsOf(resumed)[0], { type: 'response.in_progress' });
  t.ok((numbersOf(resumed)[0] ?? 0) > last);
  t.strictSame(numbersOf(anew).slice(2), numbersOf(resumed));
  t.match(await get(second.node, id), { status: 'completed', output: [{ content: [{ text: 'found' }] }] });
});

t.test('a response whose job was cancelled by an administrator is cancelled', async (t) => {
  const { node, nextSink } = await startWaitingNode(t);
  const scope = tenantScope('default');
  const { id } = await begin(node);
  await nextSink();
  // The model's inspection is a job as well.
  const job = (await node.jobs.list(scope)).find(({ kind }) => kind === 'inference.response');
  await node.jobs.cancel(scope, job?.id ?? '');
  await untilStatus(node, id, 'cancelled');
});
