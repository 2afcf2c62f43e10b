/** A model of OpenAI's API that answers at once: by a call where it is offered tools and has no result yet, and by a word otherwise. */
import uWS from 'uWebSockets.js';
import { MODEL, TOOL } from './agent-load.ts';

const port = Number(process.argv[2]);
const frame = (delta: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: MODEL, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })}\n\n`;
const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const END = `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: MODEL, choices: [], usage })}\n\ndata: [DONE]\n\n`;
const WORD = frame({ role: 'assistant', content: 'Nothing.' }) + frame({}, 'stop') + END;
const CALL =
  frame({
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: TOOL.wireName, arguments: JSON.stringify(TOOL.arguments) },
      },
    ],
  }) +
  frame({}, 'tool_calls') +
  END;

uWS
  .App()
  .get('/livez', (response) => void response.end('ok'))
  .get('/v1/models', (response) => {
    const data = [{ id: MODEL, object: 'model', created: 1, owned_by: 'bench' }];
    response.writeHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
  })
  .post('/v1/chat/completions', (response) => {
    let text = '';
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    response.onData((piece, isLast) => {
      text += Buffer.from(piece).toString('latin1');
      if (!isLast || isGone) return;
      const { tools = [], messages } = JSON.parse(text) as { tools?: object[]; messages: { role: string }[] };
      const calls = tools.length > 0 && !messages.some(({ role }) => role === 'tool');
      response.cork(() => response.writeHeader('content-type', 'text/event-stream').end(calls ? CALL : WORD));
    });
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`port ${port} is taken`);
  });
