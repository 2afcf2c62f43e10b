import { join } from 'node:path';
import t from 'tap';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.test('after kill -9 a start on the same folder is ready without repair', async (t) => {
  const folder = join(t.testdir(), 'node');
  const ask = (url: string) =>
    post(`${url}/v1/chat/completions`, { model: chatModel, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 });
  const first = await startServer(t, { folder });
  t.equal((await ask(first.url)).status, 200);
  t.match(await first.stop('SIGKILL'), { signal: 'SIGKILL' });

  const startedAt = performance.now();
  const second = await startServer(t, { folder });
  t.comment(`ready ${Math.round(performance.now() - startedAt)} ms after the restart (goal: 3,000)`);
  t.equal((await ask(second.url)).status, 200);
});
