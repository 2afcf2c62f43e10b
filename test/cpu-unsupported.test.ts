/** On a CPU that cannot run local models the server starts all the same and says why it has none. */
import t from 'tap';
import { post, send } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { startProvider } from './providers/provider-server.ts';
import { chatModel, startServer } from './server.ts';

const code = process.arch === 'arm64' ? 'cpu_lacks_arm_extensions' : 'cpu_lacks_avx2';
const server = await startServer(t, {
  env: { SVC_FORCE_CPU_FEATURES: 'none', SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' },
  readyPath: '/livez',
});

t.test('local models answer 503 with the reason', async (t) => {
  const { status, json } = await post(`${server.url}/v1/chat/completions`, {
    model: chatModel,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  t.equal(status, 503);
  t.match(json, { error: { code } });
});

t.test('so they do beside a provider, whose models answer', async (t) => {
  const provider = await startProvider(t, openAiDialect);
  const backend = { id: 'far', kind: 'openai', base_url: `${provider.origin}/v1`, model_filter: { include: ['far-model'] } };
  t.equal((await post(`${server.url}/api/v1/cloud/backends`, backend)).status, 201);
  const messages = [{ role: 'user', content: 'Hi' }];
  const local = await post(`${server.url}/v1/chat/completions`, { model: chatModel, messages });
  t.match(local, { status: 503, json: { error: { code } } }, local.text);
  t.match(await post(`${server.url}/v1/chat/completions`, { model: 'far-model', messages }), { status: 200 });
});

t.test('health names the missing CPU feature', async (t) => {
  const { status, text } = await send(`${server.url}/health`);
  t.equal(status, 200);
  t.match(text, new RegExp(code));
});

t.test('the model list still answers', async (t) => {
  t.equal((await send(`${server.url}/v1/models`)).status, 200);
});
