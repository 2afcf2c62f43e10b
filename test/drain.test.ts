import t from 'tap';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.test('SIGTERM lets a stream finish, takes no new work, and exits with 0', async (t) => {
  const server = await startServer(t);
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: chatModel,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 1_500,
      ignore_eos: true,
      stream: true,
    }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  const exit = server.stop('SIGTERM');
  // The signal takes its time to arrive: until then the same request is a plain 400.
  let late: number | undefined = 400;
  while (late === 400) late = await statusOf(server.url);
  t.ok(late === undefined || late === 503, 'new work is refused');
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) text += read.value;
  t.match(text, /data: \[DONE\]\n\n$/);
  t.match(text, /"finish_reason":"(length|stop)"/);
  t.strictSame(await exit, { code: 0, signal: null });
});

/** Undefined when the connection is refused. */
async function statusOf(url: string): Promise<number | undefined> {
  const answer = await post(`${url}/v1/chat/completions`, { model: chatModel, messages: [] }).catch(() => undefined);
  return answer?.status;
}
