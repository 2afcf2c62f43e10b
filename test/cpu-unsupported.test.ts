/** On a CPU that cannot run local models the server starts all the same and says why it has none. */
import t from 'tap';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

const code = process.arch === 'arm64' ? 'cpu_lacks_arm_extensions' : 'cpu_lacks_avx2';
const server = await startServer(t, { env: { SVC_FORCE_CPU_FEATURES: 'none' }, readyPath: '/livez' });

t.test('local models answer 503 with the reason', async (t) => {
  const { status, json } = await post(`${server.url}/v1/chat/completions`, {
    model: chatModel,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  t.equal(status, 503);
  t.match(json, { error: { code } });
});

t.test('health names the missing CPU feature', async (t) => {
  const { status, text } = await send(`${server.url}/health`);
  t.equal(status, 200);
  t.match(text, new RegExp(code));
});

t.test('the model list still answers', async (t) => {
  t.equal((await send(`${server.url}/v1/models`)).status, 200);
});
