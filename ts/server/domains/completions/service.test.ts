/** Stages: in the order of their list on the way to the model, and in the reverse one on the way back. */
import t from 'tap';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import type { CompletionSink, InferenceService } from '../inference/index.ts';
import { scriptedUsage } from '../inference/test-support/scripted-engine.ts';
import type { AnswerCall, Stage } from './answer/pending-answer.ts';
import { ScriptedStream } from './answer/test-support/scripted-stream.ts';
import { ChunkEncoder } from './compat/openai-chat/chunk-encoder.ts';
import { NO_STREAMS } from './resumable-streams/stream-limits.ts';
import { StreamRegistry } from './resumable-streams/stream-registry.ts';
import { CompletionService } from './service.ts';

/** Writes down when it is asked, and asks for another model. */
function recordedStage(name: string, events: string[]): Stage {
  return {
    prepare: (answer) => {
      events.push(`prepare ${name}`);
      answer.request = { ...answer.request, model: `${answer.request.model}+${name}` };
    },
    wrap: (inner) => {
      events.push(`wrap ${name}`);
      return inner;
    },
    finish: (whole) => {
      events.push(`finish ${name}`);
      return { ...whole, choices: whole.choices.map((choice) => ({ ...choice, content: `${choice.content}+${name}` })) };
    },
  };
}

function setUp(...before: Stage[]) {
  const events: string[] = [];
  const card = { id: 'm', capabilities: {} };
  const inference = {
    resolve: async ({ model }: { model: string }) => {
      events.push(`resolve ${model}`);
      return { backend: {}, card, isSubstitute: false };
    },
    complete: async (_: unknown, request: { model: string }, sink: CompletionSink) => {
      events.push(`run ${request.model}`);
      sink.onStart(1, 0);
      sink.onContent(0, Buffer.from('Hello'));
      sink.onFinish(0, 'stop', '');
      sink.onDone(scriptedUsage);
      sink.onFlush();
      return { cancel: () => {}, pause: () => {}, resume: () => {} };
    },
  } as unknown as InferenceService;
  const stages = [...before, recordedStage('first', events), recordedStage('second', events)];
  return { events, service: new CompletionService({ inference, streams: new StreamRegistry(NO_STREAMS, silentLog), stages }) };
}

function callOf(isStreamed: boolean): AnswerCall {
  const job = { prompt: { kind: 'chat', messagesJson: '[]' } } as const;
  return {
    request: { model: 'asked', needsTools: false, needsVision: false, needsAudio: false, job },
    isStreamed,
    wire: ({ model }) => ({
      headers: { 'x-wire': '1' },
      encoder: () => new ChunkEncoder({ id: 'id', created: 1, model: model.card.id, fingerprint: 'f' }, 1, false),
      body: ({ choices }) => ({ said: choices[0]?.content }),
    }),
  };
}

const asker = { caller: ANONYMOUS, options: { tenant: 'red', signal: new AbortController().signal } };

t.test('an answer that is not streamed goes through all stages and back', async (t) => {
  const { events, service } = setUp();
  const reply = await service.answer(asker, callOf(false));
  t.match(reply, { kind: 'bytes', status: 200, headers: { 'x-wire': '1', 'x-svc-edge-tools': 'passthrough' } });
  t.match(reply.kind === 'bytes' && String(reply.body), '{"said":"Hello+second+first"}');
  const there = ['prepare first', 'prepare second', 'resolve asked+first+second', 'run asked+first+second'];
  t.strictSame(events, [...there, 'finish second', 'finish first']);
});

t.test('the events of a streamed one come to the last stage first', async (t) => {
  const { events, service } = setUp();
  const reply = await service.answer(asker, callOf(true));
  if (reply.kind !== 'events') return t.fail('it is no stream');
  const stream = new ScriptedStream();
  reply.start(stream);
  t.match(stream.text, /"content":"Hello".*\[DONE\]/s);
  t.strictSame(events.slice(2), ['resolve asked+first+second', 'wrap first', 'wrap second', 'run asked+first+second']);
});

t.test('where a stage refuses, those behind it are not asked and nothing runs', async (t) => {
  const refuse = () => Promise.reject(new Error('refused'));
  const { events, service } = setUp({ ...recordedStage('refusing', []), prepare: refuse });
  await t.rejects(service.answer(asker, callOf(true)), { message: 'refused' });
  t.strictSame(events, []);
});
