/** Bedrock's ConverseStream in AWS's binary framing, as the public references of both describe them. */
import { crc32 } from 'node:zlib';
import type { Dialect } from './provider-server.ts';

/** One message: lengths, their checksum, headers, payload, checksum of everything. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const encoded = Object.entries(headers).map(([name, value]) => {
    const head = Buffer.alloc(2 + name.length + 2);
    head.writeUInt8(name.length, 0);
    head.write(name, 1);
    head.writeUInt8(7, 1 + name.length);
    head.writeUInt16BE(Buffer.byteLength(value), 2 + name.length);
    return Buffer.concat([head, Buffer.from(value)]);
  });
  const body = Buffer.concat([...encoded, Buffer.from(payload)]);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + body.length + 4, 0);
  prelude.writeUInt32BE(
    encoded.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const all = Buffer.concat([prelude, body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(all), 0);
  return Buffer.concat([all, sum]);
}

const event = (type: string, members: object): Buffer =>
  awsMessage({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, JSON.stringify(members));

export const bedrockDialect: Dialect = {
  contentType: 'application/vnd.amazon.eventstream',
  isChat: (path) => /^\/model\/[^/]+\/converse-stream$/.test(path),
  models: () => ({}),
  frames: ({ reasoning, signature, texts, calls = [], finish = 'stop', tokens }) => {
    const { prompt, cached, written, completion } = tokens;
    let index = 0;
    const block = (start: object | undefined, deltas: object[]): Buffer[] => {
      const contentBlockIndex = index++;
      return [
        ...(start === undefined ? [] : [event('contentBlockStart', { contentBlockIndex, start })]),
        ...deltas.map((delta) => event('contentBlockDelta', { contentBlockIndex, delta })),
        event('contentBlockStop', { contentBlockIndex }),
      ];
    };
    const signed = signature === undefined ? [] : [{ reasoningContent: { signature } }];
    const reasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;
    return {
      before: [event('messageStart', { role: 'assistant' })],
      texts: [
        ...(reasoning === undefined ? [] : block(undefined, [{ reasoningContent: { text: reasoning } }, ...signed])),
        ...block(
          undefined,
          texts.map((text) => ({ text })),
        ),
        ...calls.flatMap(({ id, name, arguments: text }) =>
          block({ toolUse: { toolUseId: id, name } }, text === '' ? [] : [{ toolUse: { input: text } }]),
        ),
        event('messageStop', { stopReason: reasons[finish] }),
      ],
      usage: [],
      end: [
        event('metadata', {
          usage: {
            inputTokens: prompt - cached - written,
            outputTokens: completion,
            cacheReadInputTokens: cached,
            cacheWriteInputTokens: written,
          },
        }),
      ],
    };
  },
  error: (_status, message) => ({ message }),
  errorFrame: (message) =>
    awsMessage({ ':message-type': 'exception', ':exception-type': 'serviceUnavailableException' }, JSON.stringify({ message })),
};
