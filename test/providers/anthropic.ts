/** Anthropic's Messages, as its public reference describes them. */
import type { Dialect } from './provider-server.ts';

const event = (type: string, members: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const anthropicDialect: Dialect = {
  contentType: 'text/event-stream',
  // The first one only begins a block.
  faultAt: 2,
  isChat: (path) => path === '/v1/messages',
  models: (names) => ({ data: names.map((id) => ({ type: 'model', id, display_name: id })), has_more: false }),
  frames: ({ reasoning, signature, texts, calls = [], finish = 'stop', tokens }, { body }) => {
    const { prompt, cached, written, completion } = tokens;
    const usage = {
      input_tokens: prompt - cached - written,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
      output_tokens: 1,
    };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [], usage };
    let index = 0;
    const block = (start: object, deltas: object[]): string[] => {
      const at = index++;
      return [
        event('content_block_start', { index: at, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index: at, delta })),
        event('content_block_stop', { index: at }),
      ];
    };
    const signed = signature === undefined ? [] : [{ type: 'signature_delta', signature }];
    const thoughts =
      reasoning === undefined
        ? []
        : block({ type: 'thinking', thinking: '', signature: '' }, [{ type: 'thinking_delta', thinking: reasoning }, ...signed]);
    const said = block(
      { type: 'text', text: '' },
      texts.map((text) => ({ type: 'text_delta', text })),
    );
    const called = calls.flatMap(({ id, name, arguments: text }) =>
      block({ type: 'tool_use', id, name, input: {} }, text === '' ? [] : [{ type: 'input_json_delta', partial_json: text }]),
    );
    const reasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;
    return {
      before: [event('message_start', { message }), event('ping')],
      texts: [...thoughts, ...said, ...called],
      usage: [
        event('message_delta', {
          delta: { stop_reason: reasons[finish], stop_sequence: null },
          usage: { output_tokens: completion },
        }),
      ],
      end: [event('message_stop')],
    };
  },
  error: (_status, message) => ({ type: 'error', error: { type: 'api_error', message } }),
  errorFrame: (message) => event('error', { error: { type: 'overloaded_error', message } }),
};
