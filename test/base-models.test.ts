/** A model without a chat template lies in the library, first by name: nothing asks it that does not name it. */
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { startServer } from './server.ts';

t.setTimeout(300_000);

const server = await startServer(t, {
  models: { 'a-base': { arch: 'llama', isBase: true }, 'z-chat': { arch: 'llama' } },
  env: { SVC_DEFAULT_MODEL: '' },
});
const messages = [{ role: 'user', content: 'Once upon a time' }];
const ask = (more: object) => post(`${server.url}/v1/chat/completions`, { messages, ignore_eos: true, ...more });

t.test('it is told from models that chat, and is not the default', async (t) => {
  const { json } = await send(`${server.url}/v1/models`);
  const models = json?.['data'] as { id: string; capabilities: string[]; default?: boolean }[];
  t.match(
    models.find(({ id }) => id === 'a-base'),
    { capabilities: ['completion'], default: undefined },
  );
  t.match(
    models.find(({ id }) => id === 'z-chat'),
    { default: true },
  );
  const { json: answer } = await ask({ model: 'not-there', max_tokens: 1 });
  t.equal(answer?.['model'], 'z-chat');
});

t.test('asked for by name it writes 512 tokens unless max_tokens says otherwise, and a header warns', async (t) => {
  const plain = await ask({ model: 'a-base' });
  t.equal(plain.headers.get('x-svc-warning'), 'a-base has no chat template');
  t.match(plain.json, { model: 'a-base', usage: { completion_tokens: 512 }, choices: [{ finish_reason: 'length' }] });
  t.match((await ask({ model: 'a-base', max_tokens: 600 })).json, { usage: { completion_tokens: 600 } });
  const chat = await ask({ model: 'z-chat', max_tokens: 600 });
  t.equal(chat.headers.get('x-svc-warning'), null);
  const streamed = await ask({ model: 'a-base', stream: true, max_tokens: 2 });
  t.equal(streamed.headers.get('x-svc-warning'), 'a-base has no chat template');
});

t.test('commands ask the default model', async (t) => {
  const answer = await runCli(['chat', '--url', server.url, '--max-tokens', '2', '--json', 'Hello']);
  t.match(answer.json(), { model: 'z-chat' }, answer.stderr);
});
