import t from 'tap';
import { HttpError } from '../../../../platform/http/errors.ts';
import { scriptedUsage } from '../../../inference/test-support/scripted-engine.ts';
import { Frames } from '../../answer/frames.ts';
import { ResponsesEncoder } from './event-encoder.ts';

type Event = Record<string, unknown> & { type: string };

/** Checks the framing of each event and returns its data. */
function encode(write: (encoder: ResponsesEncoder, out: Frames) => void): Event[] {
  const out = new Frames();
  const encoder = new ResponsesEncoder({ id: 'resp_1', model: 'm' });
  encoder.open(out);
  write(encoder, out);
  const blocks = out.take().toString().split('\n\n');
  if (blocks.pop() !== '') throw new Error('the last event is not ended');
  return blocks.map((block) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? [];
    const event = JSON.parse(data ?? '') as Event;
    if (event.type !== name) throw new Error(`${name} carries ${event.type}`);
    return event;
  });
}

const types = (events: Event[]) => events.map((event) => event.type.replace(/^response\./, ''));

t.test('a text answer has every event in order, numbered without gaps', async (t) => {
  const events = encode((encoder, out) => {
    encoder.content(out, 0, Buffer.from('Hé'));
    encoder.content(out, 0, Buffer.from(' \\"you\\"'));
    encoder.finish(out, 0, 'stop');
    encoder.done(out, scriptedUsage);
  });
  t.strictSame(types(events), [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
  t.strictSame(
    events.map((event) => event['sequence_number']),
    events.map((_, index) => index),
  );
  const item = events[2]?.['item'] as { id: string };
  t.match(events[4], { item_id: item.id, output_index: 0, content_index: 0, delta: 'Hé', logprobs: [] });
  t.match(events[6], { text: 'Hé "you"' });
  t.match(events.at(-1), {
    response: {
      status: 'completed',
      incomplete_details: null,
      output: [{ id: item.id, type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'Hé "you"' }] }],
      usage: {
        input_tokens: 7,
        output_tokens: 3,
        total_tokens: 10,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 },
      },
    },
  });
});

t.test('an answer cut by its limit is incomplete and says why', async (t) => {
  const events = encode((encoder, out) => {
    encoder.content(out, 0, Buffer.from('a'));
    encoder.finish(out, 0, 'length');
    encoder.done(out, scriptedUsage);
  });
  t.equal(events.at(-1)?.type, 'response.incomplete');
  t.match(events.at(-1), {
    response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [{ status: 'incomplete' }] },
  });
});

t.test('reasoning, text and calls are items of their own, at their own index', async (t) => {
  const events = encode((encoder, out) => {
    encoder.reasoning(out, 0, Buffer.from('hm'));
    encoder.content(out, 0, Buffer.from('a'));
    encoder.toolCall(out, 0, 0, 'call_1', 'read');
    encoder.toolArguments(out, 0, 0, Buffer.from('{\\"a\\":1}'));
    encoder.toolCall(out, 0, 1, 'call_2', 'now');
    encoder.toolArguments(out, 0, 1, Buffer.from('{}'));
    encoder.finish(out, 0, 'tool_calls');
    encoder.done(out, scriptedUsage);
  });
  const added = events.filter((event) => event.type === 'response.output_item.added');
  t.strictSame(
    added.map((event) => [event['output_index'], (event['item'] as Event).type]),
    [
      [0, 'reasoning'],
      [1, 'message'],
      [2, 'function_call'],
      [3, 'function_call'],
    ],
  );
  t.match(
    events.find((event) => event.type === 'response.function_call_arguments.done'),
    { output_index: 2, name: 'read', arguments: '{"a":1}' },
  );
  t.match(events.at(-1), {
    response: {
      output: [
        { type: 'reasoning', content: [{ text: 'hm' }] },
        { type: 'message' },
        { call_id: 'call_1', arguments: '{"a":1}', status: 'completed' },
        { call_id: 'call_2', arguments: '{}' },
      ],
    },
  });
});

t.test('log probabilities go with their delta and again with the whole text', async (t) => {
  const events = encode((encoder, out) => {
    encoder.logprobs(out, 0, [{ token: 1, bytes: Buffer.from('a'), logprob: -1, top: [] }]);
    encoder.content(out, 0, Buffer.from('a'));
    encoder.finish(out, 0, 'stop');
  });
  const logprobs = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];
  t.match(events[4], { type: 'response.output_text.delta', logprobs });
  t.match(events[5], { type: 'response.output_text.done', logprobs });
});

t.test('an answer without a token still has its message', async (t) => {
  const events = encode((encoder, out) => {
    encoder.finish(out, 0, 'stop');
    encoder.done(out, scriptedUsage);
  });
  t.match(events.at(-1), { response: { output: [{ type: 'message', content: [{ text: '' }] }] } });
});

t.test('a failure is an error event and a failed response', async (t) => {
  const events = encode((encoder, out) => encoder.error(out, new HttpError(504, 'deadline_exceeded', 'late')));
  t.match(events[2], { type: 'error', code: 'deadline_exceeded', message: 'late' });
  t.match(events[3], {
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'deadline_exceeded', message: 'late' } },
  });
});
