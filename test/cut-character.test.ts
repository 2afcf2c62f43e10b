/** max_tokens may cut a character whose bytes are tokens of their own: no answer shows half of it, in whichever shape it is asked for. */
import t from 'tap';
import { post } from './http.ts';
import { chatModel, stockServer } from './server.ts';

const server = await stockServer(t);
const grammar = 'root ::= "ok🦉🦉"';
const messages = [{ role: 'user', content: 'Say it.' }];

/** Of tokens: the letters are one, each byte of the character is one. */
const limits = [2, 3, 4, 6];
const shapes: [path: string, body: (limit: number) => Record<string, unknown>][] = [
  ['/v1/chat/completions', (limit) => ({ messages, max_tokens: limit })],
  ['/v1/responses', (limit) => ({ input: messages, max_output_tokens: limit })],
  ['/v1/messages', (limit) => ({ messages, max_tokens: limit })],
];

for (const [path, body] of shapes) {
  for (const stream of [false, true]) {
    t.test(`${path} with stream: ${stream}`, async (t) => {
      for (const limit of limits) {
        const request = { model: chatModel, temperature: 0, grammar, stream, ...body(limit) };
        const { status, text } = await post(server.url + path, request);
        t.equal(status, 200, text);
        t.match(text, /ok/);
        t.notMatch(text, /\uFFFD/);
      }
    });
  }
}
