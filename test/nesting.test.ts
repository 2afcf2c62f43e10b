/** One request whose JSON is nested without end is refused, in each API, and the server goes on for everybody else. */
import t from 'tap';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.setTimeout(180_000);
const server = await startServer(t);
const nested = '['.repeat(200_000) + ']'.repeat(200_000);
const tool = { type: 'object', properties: { value: { type: 'array' } }, required: ['value'] };

const requests: Record<string, [path: string, body: object]> = {
  'arguments of a call, Chat Completions': [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'store', arguments: nested } }] },
        { role: 'tool', tool_call_id: 'a', content: 'done' },
      ],
    },
  ],
  'arguments of a call, Responses': [
    '/v1/responses',
    {
      input: [
        { type: 'message', role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'a', name: 'store', arguments: nested },
        { type: 'function_call_output', call_id: 'a', output: 'done' },
      ],
    },
  ],
  'input of a call, Messages': [
    '/v1/messages',
    {
      max_tokens: 4,
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'store', input: { value: JSON.parse('['.repeat(200) + ']'.repeat(200)) } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
      ],
    },
  ],
};

for (const [what, [path, body]] of Object.entries(requests)) {
  t.test(what, async (t) => {
    const { status, text } = await post(server.url + path, { model: chatModel, ...body });
    t.equal(status, 400, text.slice(0, 300));
    t.match(text, /nested deeper than 128 levels/);
    t.equal((await send(`${server.url}/health`)).status, 200);
  });
}

t.test('an answer that nests as long as it may', { timeout: 120_000 }, async (t) => {
  const { json } = await post(`${server.url}/tokenize`, { model: chatModel, content: '[[[[' });
  const tokens = [...new Set(json?.['tokens'] as number[])];
  const { status, text } = await post(`${server.url}/v1/chat/completions`, {
    model: chatModel,
    messages: [{ role: 'user', content: 'Store it' }],
    tools: [{ type: 'function', function: { name: 'store', parameters: tool } }],
    tool_choice: 'required',
    max_tokens: 4_000,
    logit_bias: Object.fromEntries(tokens.map((token) => [token, 100])),
    // A whole answer leaves out a call that the limit cuts.
    stream: true,
  });
  t.equal(status, 200, text.slice(0, 300));
  const written = [...text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map(([, piece = '""']) => JSON.parse(piece) as string);
  const nLevels = written.join('').match(/\[/g)?.length ?? 0;
  t.ok(nLevels > 100 && nLevels <= 128, `${nLevels} levels`);
  t.equal((await send(`${server.url}/health`)).status, 200);
});
