/** A grammar that is built to be slow, over HTTP: it is refused in words, and a stream beside it flows. */
import t from 'tap';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';

const server = await startServer(t);

/** Each character may be followed in many times as many ways as the one before it. */
const lasts = [...'abcdefgh'].map((first) => `c root [${first}-z ]`);
const ambiguous = `root ::= ${lasts.join(' | ')} | c\nc ::= [a-z ]`;

const ask = (body: object) =>
  post(`${server.url}/v1/chat/completions`, {
    model: chatModel,
    messages: [{ role: 'user', content: 'Tell me a story.' }],
    temperature: 0,
    max_tokens: 60,
    ...body,
  });

t.test('it is refused with grammar_too_complex, and a stream beside it goes on', async (t) => {
  const alone = await ask({ stream: true, seed: 1 });
  const [refused, beside] = await Promise.all([ask({ grammar: ambiguous }), ask({ stream: true, seed: 1 })]);
  t.match(refused, { status: 400, json: { error: { code: 'grammar_too_complex', message: /ambiguous/ } } });
  t.equal(words(beside.text), words(alone.text));
  t.ok(server.running);
});

t.test('in a stream, too', async (t) => {
  const { text } = await ask({ grammar: ambiguous, stream: true });
  t.match(text, /"code":"grammar_too_complex"/);
});

t.test('one with too many characters is refused before anything runs', async (t) => {
  const characters = Array.from({ length: 12_000 }, (_, i) => String.fromCodePoint(0x4e00 + 2 * i)).join('');
  const refused = await ask({ grammar: `root ::= [${characters}]` });
  t.match(refused, { status: 400, json: { error: { code: 'grammar_too_complex' } } });
});

t.test('what stands for megabytes, or is longer than it may be, is refused in words', async (t) => {
  const schema = (pattern: string) => ({ json_schema: { type: 'string', pattern } });
  const cases: [body: object, status: number, code: string, message: RegExp][] = [
    [{ grammar: `root ::= ${'"a"{999}{999} '.repeat(40)}` }, 400, 'grammar_too_complex', /written out .*\(line 1, column/],
    [{ grammar: `root ::= "a" ${' '.repeat(262_144)}` }, 400, 'invalid_request', /grammar/],
    [schema(`^${'\\p{L}'.repeat(40_000)}$`), 400, 'invalid_grammar', /the pattern at # has 200002 characters and may have 4096/],
    [{ json_schema: { type: 'string', enum: ['a'.repeat(262_144)] } }, 400, 'grammar_too_complex', /262144 bytes/],
  ];
  for (const [body, status, code, message] of cases) t.match(await ask(body), { status, json: { error: { code, message } } });
  // A pattern that nobody asked to be strict about is left out, and named.
  const { status, headers } = await ask({ ...schema(`^${'[a-z]{0,2000}'.repeat(300)}$`), max_tokens: 4 });
  t.equal(status, 200);
  t.match(headers.get('x-svc-schema-ignored'), /pattern/);
});

/** What a stream says. */
function words(events: string): string {
  return [...events.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join('');
}
