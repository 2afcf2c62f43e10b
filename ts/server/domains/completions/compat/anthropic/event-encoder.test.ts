import t from 'tap';
import { HttpError } from '../../../../platform/http/errors.ts';
import { scriptedUsage } from '../../../inference/test-support/scripted-engine.ts';
import { Frames } from '../../answer/frames.ts';
import { anthropicMessage } from './answer.ts';
import { MessagesEncoder } from './event-encoder.ts';

function encode(write: (encoder: MessagesEncoder, out: Frames) => void): string {
  const out = new Frames();
  write(new MessagesEncoder('msg_1', 'm'), out);
  return out.take().toString();
}

const event = (type: string, members: string) => `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`;

t.test('a text answer, byte for byte', async (t) => {
  const text = encode((encoder, out) => {
    encoder.open(out, 7);
    encoder.content(out, 0, Buffer.from('Hé'));
    encoder.content(out, 0, Buffer.from('\\n'));
    encoder.finish(out, 0, 'stop', 'END');
    encoder.done(out, scriptedUsage);
  });
  const message =
    '{"id":"msg_1","type":"message","role":"assistant","model":"m","container":null,"diagnostics":null,"stop_details":null,' +
    '"content":[],"stop_reason":null,"stop_sequence":null';
  const counted = (members: string) =>
    `"usage":{${members},"cache_creation":null,"inference_geo":null,"output_tokens_details":null,"server_tool_use":null,` +
    '"service_tier":null,"speed":null}';
  const opened = '"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0';
  const closed = '"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":2,"output_tokens":3';
  t.equal(
    text,
    event('message_start', `,"message":${message},${counted(opened)}}`) +
      event('ping', '') +
      event('content_block_start', ',"index":0,"content_block":{"type":"text","text":"","citations":null}') +
      event('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":"Hé"}') +
      event('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":"\\n"}') +
      event('content_block_stop', ',"index":0') +
      event(
        'message_delta',
        `,"delta":{"stop_reason":"stop_sequence","stop_sequence":"END","container":null,"stop_details":null},${counted(closed)}`,
      ) +
      event('message_stop', ''),
  );
});

t.test('thinking that is to be omitted has its blocks and no text', async (t) => {
  const out = new Frames();
  const encoder = new MessagesEncoder('msg_1', 'm', true);
  encoder.reasoning(out, 0, Buffer.from('hm'));
  encoder.content(out, 0, Buffer.from('Hi'));
  encoder.finish(out, 0, 'stop', '');
  const text = out.take().toString();
  t.match(text, /"type":"thinking","thinking":""/);
  t.notMatch(text, /thinking_delta|hm/);
  const logprobs = undefined;
  const choice = { content: 'Hi', reasoning: 'hm', toolCalls: [], logprobs, finish: 'stop', stopString: '' } as const;
  const answer = { choices: [{ ...choice, toolCalls: [] }], usage: scriptedUsage };
  const blocks = (omits: boolean) => anthropicMessage('msg_1', 'm', answer, omits)['content'];
  t.match(blocks(true), [
    { type: 'thinking', thinking: /^$/ },
    { type: 'text', text: 'Hi' },
  ]);
  t.match(blocks(false), [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'Hi' },
  ]);
});

t.test('thinking, text and tool use are blocks of their own', async (t) => {
  const text = encode((encoder, out) => {
    encoder.reasoning(out, 0, Buffer.from('hm'));
    encoder.toolCall(out, 0, 0, 'toolu_1', 'read');
    encoder.toolArguments(out, 0, 0, Buffer.from('{\\"a\\":1}'));
    encoder.finish(out, 0, 'tool_calls', '');
  });
  t.equal(
    text,
    event('content_block_start', ',"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}') +
      event('content_block_delta', ',"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}') +
      event('content_block_stop', ',"index":0') +
      event(
        'content_block_start',
        ',"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{},"caller":{"type":"direct"}}',
      ) +
      event('content_block_delta', ',"index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}') +
      event('content_block_stop', ',"index":1'),
  );
});

for (const [finish, reason] of [
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
] as const) {
  t.test(`the end by ${finish} is ${reason}`, async (t) => {
    const text = encode((encoder, out) => {
      encoder.finish(out, 0, finish, '');
      encoder.done(out, scriptedUsage);
    });
    t.match(text, `"delta":{"stop_reason":"${reason}","stop_sequence":null`);
  });
}

t.test('an error has the shape of this API', async (t) => {
  const text = encode((encoder, out) => encoder.error(out, new HttpError(429, 'queue_full', 'Too busy.')));
  t.match(text, /^event: error\ndata: \{"type":"error","error":\{"type":"rate_limit_error","message":"Too busy\."/);
});
