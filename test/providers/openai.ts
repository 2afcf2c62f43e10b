/** OpenAI's chat completions, as its public reference describes them. */
import type { Billed, Dialect } from './provider-server.ts';

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

function openAiUsage({ prompt, cached, completion, reasoning }: Billed) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

export const openAiDialect: Dialect = {
  contentType: 'text/event-stream; charset=utf-8',
  isChat: (path) => /\/chat\/completions/.test(path),
  models: (names) => ({ object: 'list', data: names.map((id) => ({ id, object: 'model', created: 1, owned_by: 'test' })) }),
  frames: ({ reasoning, texts, calls = [], finish = 'stop', tokens }, { body }) => {
    const model = String(body?.model ?? 'model-a');
    const chunk = (choices: object[], more: object = {}) =>
      event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more });
    const delta = (content: object, reason: string | null = null) =>
      chunk([{ index: 0, delta: content, logprobs: null, finish_reason: reason }]);
    return {
      before: [delta({ role: 'assistant', content: '' })],
      texts: [
        ...(reasoning === undefined ? [] : [delta({ reasoning_content: reasoning })]),
        ...texts.map((content) => delta({ content })),
        ...calls.map(({ id, name }, index) =>
          delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ),
        ...calls.map((call, index) => delta({ tool_calls: [{ index, function: { arguments: call.arguments } }] })),
        delta({}, finish),
      ],
      usage: [chunk([], { usage: openAiUsage(tokens) })],
      end: ['data: [DONE]\n\n'],
    };
  },
  error: (_status, message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  errorFrame: (message) => event({ error: { message, type: 'server_error', code: null } }),
  other: (path, body) => {
    if (/\/embeddings/.test(path)) {
      const inputs = body.input as string[];
      return {
        object: 'list',
        model: body.model,
        data: inputs.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1, 0] })),
        usage: { prompt_tokens: inputs.length * 2, total_tokens: inputs.length * 2 },
      };
    }
    if (!/\/rerank/.test(path)) return undefined;
    const documents = body.documents as string[];
    return { results: documents.map((text, index) => ({ index, relevance_score: text.length })), usage: { total_tokens: 5 } };
  },
};
