import t from 'tap';
import { HttpError } from '../../../../platform/http/errors.ts';
import { scriptedUsage } from '../../../inference/test-support/scripted-engine.ts';
import { Frames } from '../../answer/frames.ts';
import { ChunkEncoder } from './chunk-encoder.ts';

const head = { id: 'chatcmpl-1', created: 1700000000, model: 'm"odel', fingerprint: 'svc-1' };
const start =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m\\"odel","system_fingerprint":"svc-1","choices":[';

function encode(write: (encoder: ChunkEncoder, out: Frames) => void, { n = 1, usage = false } = {}): string {
  const out = new Frames();
  write(new ChunkEncoder(head, n, usage), out);
  return out.take().toString();
}

const delta = (index: number, text: string, finish = 'null', logprobs = 'null') =>
  `${start}{"index":${index},"delta":${text},"logprobs":${logprobs},"finish_reason":${finish}}]}\n\n`;

t.test('the role comes first, once for each choice', async (t) => {
  const role = '{"role":"assistant","content":"","refusal":null}';
  t.equal(
    encode((encoder, out) => encoder.open(out), { n: 2 }),
    delta(0, role) + delta(1, role),
  );
});

t.test('content is copied as the engine wrote it', async (t) => {
  const body = Buffer.from('a \\"quoted\\" line\\n \u{1F600}');
  t.equal(
    encode((encoder, out) => encoder.content(out, 0, body)),
    delta(0, `{"content":"${body.toString()}"}`),
  );
});

t.test('reasoning has its own member', async (t) => {
  t.equal(
    encode((encoder, out) => encoder.reasoning(out, 0, Buffer.from('hm'))),
    delta(0, '{"reasoning_content":"hm"}'),
  );
});

t.test('choices interleave under their own index', async (t) => {
  const text = encode(
    (encoder, out) => {
      encoder.content(out, 1, Buffer.from('b'));
      encoder.content(out, 0, Buffer.from('a'));
      encoder.content(out, 7, Buffer.from('no such choice'));
    },
    { n: 2 },
  );
  t.equal(text, delta(1, '{"content":"b"}') + delta(0, '{"content":"a"}'));
});

t.test('a tool call is named once; its arguments follow as fragments', async (t) => {
  const text = encode((encoder, out) => {
    encoder.toolCall(out, 0, 0, 'call_1', 'read');
    encoder.toolArguments(out, 0, 0, Buffer.from('{\\"a\\":'));
    encoder.toolArguments(out, 0, 0, Buffer.from('1}'));
    encoder.finish(out, 0, 'tool_calls');
  });
  t.equal(
    text,
    delta(0, '{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]}') +
      delta(0, '{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":"}}]}') +
      delta(0, '{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}') +
      delta(0, '{}', '"tool_calls"'),
  );
});

const token = {
  token: 5,
  bytes: Buffer.from('é'),
  logprob: -0.5,
  top: [{ token: 6, bytes: Buffer.from('x'), logprob: Number.NEGATIVE_INFINITY }],
};
const tokenJson = '{"token":"é","logprob":-0.5,"bytes":[195,169],"top_logprobs":[{"token":"x","logprob":-9999,"bytes":[120]}]}';

t.test('log probabilities travel with the text of their tokens', async (t) => {
  const text = encode((encoder, out) => {
    encoder.logprobs(out, 0, [token]);
    encoder.content(out, 0, Buffer.from('é'));
    encoder.content(out, 0, Buffer.from('!'));
  });
  t.equal(text, delta(0, '{"content":"é"}', 'null', `{"content":[${tokenJson}],"refusal":null}`) + delta(0, '{"content":"!"}'));
});

t.test('log probabilities without text come before the end', async (t) => {
  const text = encode((encoder, out) => {
    encoder.logprobs(out, 0, [token]);
    encoder.logprobs(out, 0, [token]);
    encoder.finish(out, 0, 'stop');
  });
  const both = `{"content":[${tokenJson},${tokenJson}],"refusal":null}`;
  t.equal(text, delta(0, '{"content":""}', 'null', both) + delta(0, '{}', '"stop"'));
});

t.test('the stream ends with [DONE] and, when asked for, a usage chunk without choices', async (t) => {
  t.equal(
    encode((encoder, out) => encoder.done(out, scriptedUsage)),
    'data: [DONE]\n\n',
  );
  const text = encode(
    (encoder, out) => {
      encoder.finish(out, 0, 'length');
      encoder.done(out, scriptedUsage);
    },
    { usage: true },
  );
  const [last, usage, done] = text.split('\n\n');
  t.equal(last, `${start}{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null}`);
  t.match(
    usage,
    /"choices":\[\],"usage":\{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":\{"cached_tokens":2\}\}/,
  );
  t.equal(done, 'data: [DONE]');
});

t.test('an error is one frame with the sentence twice', async (t) => {
  const text = encode((encoder, out) => encoder.error(out, new HttpError(504, 'deadline_exceeded', 'Too late.')));
  t.equal(
    text,
    'data: {"error":{"message":"Too late.","type":"server_error","param":null,"code":"deadline_exceeded"},"detail":"Too late."}\n\n',
  );
});
