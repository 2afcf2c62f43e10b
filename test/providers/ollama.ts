/** Ollama's chat, as its public reference describes it. */
import type { Dialect } from './provider-server.ts';

const line = (value: object): string => `${JSON.stringify(value)}\n`;

export const ollamaDialect: Dialect = {
  contentType: 'application/x-ndjson',
  isChat: (path) => path === '/api/chat',
  models: (names) => ({ models: names.map((name) => ({ name, model: name })) }),
  frames: ({ reasoning, texts, calls = [], finish = 'stop', tokens }, { body }) => {
    const part = (message: object): string =>
      line({ model: body.model, message: { role: 'assistant', content: '', ...message }, done: false });
    const called = calls.map(({ name, arguments: text }) => ({
      function: { name, arguments: JSON.parse(text || '{}') as object },
    }));
    const end = {
      model: body.model,
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: finish === 'length' ? 'length' : 'stop',
    };
    return {
      before: [],
      texts: [
        ...(reasoning === undefined ? [] : [part({ thinking: reasoning })]),
        ...texts.map((content) => part({ content })),
        ...(called.length === 0 ? [] : [part({ tool_calls: called })]),
      ],
      usage: [],
      end: [line({ ...end, prompt_eval_count: tokens.prompt, eval_count: tokens.completion })],
    };
  },
  error: (_status, message) => ({ error: message }),
  errorFrame: (message) => line({ error: message }),
  other: (path, body) =>
    path === '/api/embed'
      ? { embeddings: (body.input as string[]).map((text) => [text.length, 0.5]), prompt_eval_count: 4 }
      : undefined,
};
