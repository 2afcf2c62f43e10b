import t from 'tap';
import { NativeError } from '../../../native/native-error.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { EventsReply } from '../../../platform/http/route.ts';
import { scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import { plainMeter, recorderOf } from '../../inference/test-support/unmetered.ts';
import { ChunkEncoder } from '../compat/openai-chat/chunk-encoder.ts';
import { StreamSession } from './stream-session.ts';
import { ScriptedStream } from './test-support/scripted-stream.ts';

const head = { id: 'id', created: 1, model: 'm', fingerprint: 'f' };

function begin({ headerTimeoutMs = 60_000 } = {}) {
  const session = new StreamSession(new ChunkEncoder(head, 1, false), { headerTimeoutMs });
  const calls: string[] = [];
  const aborter = new AbortController();
  const job = { cancel: () => calls.push('cancel'), pause: () => calls.push('pause'), resume: () => calls.push('resume') };
  session.bind(job, { 'x-test': '1' }, aborter.signal);
  return { session, calls, aborter, stream: new ScriptedStream() };
}

async function open({ session, stream }: ReturnType<typeof begin>): Promise<EventsReply> {
  const reply = await session.reply;
  reply.start(stream);
  return reply;
}

function say(session: StreamSession, ...texts: string[]): void {
  for (const text of texts) session.onContent(0, Buffer.from(text));
  session.onFlush();
}

t.test('the stream opens when the engine admits the job, with the headers', async (t) => {
  const call = begin();
  call.session.onStart(3);
  t.strictSame((await open(call)).headers, { 'x-test': '1' });
  t.match(call.stream.text, /"role":"assistant"/);
});

t.test('what came before the socket was there is written first', async (t) => {
  const call = begin();
  call.session.onStart(3);
  say(call.session, 'early');
  await open(call);
  t.match(call.stream.text, /"role":"assistant".*"content":"early"/s);
});

t.test('a step is one write', async (t) => {
  const call = begin();
  call.session.onStart(3);
  await open(call);
  const before = call.stream.writes.length;
  say(call.session, 'a', 'b', 'c');
  t.equal(call.stream.writes.length, before + 1);
});

t.test('the first error is a plain one with its status', async (t) => {
  const { session } = begin();
  session.onError(new NativeError({ code: 'context_length_exceeded', text: 'too long', details: { nPromptTokens: 9, nCtx: 5 } }));
  await t.rejects(session.reply, { code: 'context_length_exceeded', extra: { n_prompt_tokens: 9, n_ctx: 5 } });
});

t.test('a later error is a frame, and the stream ends without [DONE]', async (t) => {
  const call = begin();
  call.session.onStart(3);
  await open(call);
  call.session.onError(new NativeError({ code: 'deadline_exceeded', text: 'late' }));
  call.session.onFlush();
  t.match(call.stream.writes.at(-1), /^data: \{"error":.*"detail":"late"\}\n\n$/);
  t.ok(call.stream.isEnded);
});

t.test('the end closes the stream', async (t) => {
  const call = begin();
  call.session.onStart(3);
  await open(call);
  call.session.onFinish(0, 'stop', '');
  call.session.onDone(scriptedUsage);
  call.session.onFlush();
  t.match(call.stream.text, /data: \[DONE\]\n\n$/);
  t.ok(call.stream.isEnded);
});

t.test('a slow reader pauses its job once, and draining resumes it', async (t) => {
  const call = begin();
  call.session.onStart(3);
  await open(call);
  call.stream.isFast = false;
  say(call.session, 'a');
  say(call.session, 'b');
  t.strictSame(call.calls, ['pause']);
  call.stream.drain();
  t.strictSame(call.calls, ['pause', 'resume']);
});

t.test('a client that leaves the stream ends its job, and hears nothing more', async (t) => {
  const call = begin();
  call.session.onStart(3);
  await open(call);
  call.stream.leave();
  const before = call.stream.writes.length;
  say(call.session, 'late');
  t.strictSame(call.calls, ['cancel']);
  t.equal(call.stream.writes.length, before);
});

t.test('a client that leaves the queue ends its job', async (t) => {
  const { session, calls, aborter } = begin();
  aborter.abort();
  await t.rejects(session.reply, { code: 'client_closed' });
  t.strictSame(calls, ['cancel']);
});

t.test('a job that waits long gets its headers before it is admitted', async (t) => {
  const call = begin({ headerTimeoutMs: 1 });
  await open(call);
  t.match(call.stream.text, /"role":"assistant"/);
  call.session.onStart(3);
  call.session.onFlush();
  t.equal(call.stream.text.match(/"role"/g)?.length, 1);
});

t.test('a call without arguments still sends an empty object', async (t) => {
  const call = begin();
  call.session.onToolCall(0, 0, 'call_1', 'now');
  call.session.onToolCall(0, 1, 'call_2', 'read');
  call.session.onToolArguments(0, 1, Buffer.from('{\\"a\\":1}'));
  call.session.onFinish(0, 'tool_calls', '');
  await open(call);
  const fragments = [...call.stream.text.matchAll(/\{"index":(\d),"function":\{"arguments":"(.*?)"\}\}\]/g)];
  t.strictSame(
    fragments.map(([, index, text]) => [index, text]),
    [
      ['0', '{}'],
      ['1', '{\\"a\\":1}'],
    ],
  );
});

/** A session whose meter the test moves. */
function beginMetered() {
  const call = begin();
  const meter = { ...plainMeter(), isCovered: true, covers: () => meter.isCovered };
  call.session.begin(recorderOf(meter));
  return { ...call, meter };
}

t.test('text waits until its use is on disk, and the end with it', async (t) => {
  const call = beginMetered();
  const { session, meter, stream } = call;
  session.onStart(3);
  await open(call);
  meter.isCovered = false;
  say(session, 'held');
  session.onDone(scriptedUsage);
  session.onFlush();
  t.notMatch(stream.text, /held|DONE/);
  meter.isCovered = true;
  meter.onChange();
  t.match(stream.text, /held.*\[DONE\]/s);
  t.equal(stream.isEnded, true);
});

t.test('no more than a MiB waits for the record of its use', async (t) => {
  const call = beginMetered();
  const { session, meter, stream, calls } = call;
  session.onStart(3);
  await open(call);
  meter.isCovered = false;
  for (let i = 0; i < 5; i++) say(session, 'x'.repeat(300 * 1024));
  t.strictSame(calls, ['pause']);
  meter.isCovered = true;
  meter.onChange();
  t.match(stream.text, /x{1000}/);
  t.strictSame(calls, ['pause', 'resume']);
});

t.test('when a quota is used up, the stream ends with why, and the job with it', async (t) => {
  const call = beginMetered();
  const { session, meter, stream, calls } = call;
  session.onStart(3);
  await open(call);
  say(session, 'sent');
  Object.assign(meter, { isCovered: false, refusal: new DomainError('quota_exceeded', 'Used up.') });
  say(session, 'never sent');
  t.match(stream.text, /sent.*quota_exceeded/s);
  t.notMatch(stream.text, /never sent/);
  t.strictSame(calls, ['cancel']);
  t.equal(stream.isEnded, true);
});

t.test('a prompt that is longer than what is left is refused before the stream opens', async (t) => {
  const { session, meter, calls } = beginMetered();
  Object.assign(meter, { refusal: new DomainError('rate_limit_exceeded', 'Used up.', { retryAfterMs: 5 }) });
  session.onStart(3);
  await t.rejects(session.reply, { code: 'rate_limit_exceeded', retryAfterMs: 5 });
  t.strictSame(calls, ['cancel']);
});
