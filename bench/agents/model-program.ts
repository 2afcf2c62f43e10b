/** A model of OpenAI's API that answers at once: by a call where it is offered tools and has no result yet, and by a word otherwise. */
import { chunk, serveProvider } from '../client/scripted-provider.ts';
import { MODEL, TOOL } from './agent-load.ts';

const frame = (delta: object, reason: string | null = null): string =>
  chunk(MODEL, [{ index: 0, delta, logprobs: null, finish_reason: reason }]);
const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const END = `${chunk(MODEL, [], { usage })}data: [DONE]\n\n`;
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

serveProvider([MODEL], (response, text) => {
  const { tools = [], messages } = JSON.parse(text) as { tools?: object[]; messages: { role: string }[] };
  const calls = tools.length > 0 && !messages.some(({ role }) => role === 'tool');
  response.cork(() => response.writeHeader('content-type', 'text/event-stream').end(calls ? CALL : WORD));
});
