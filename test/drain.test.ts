import t from 'tap';
import { eventually, RawClient } from '../ts/server/platform/http/test-support/test-bed.ts';
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

t.test('SIGTERM with 50 streams, most of which have no head yet: each ends whole, or with an error frame', async (t) => {
  const server = await startServer(t, { env: { SVC_HTTP_DRAIN_TIMEOUT_SECONDS: '4' } });
  const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.open(t, Number(new URL(server.url).port))));
  for (const client of clients) client.send(streamRequest(200));
  await eventually(() => clients.some(({ received }) => received.includes('data: ')));
  const nHeads = clients.filter(({ received }) => received !== '').length;
  t.ok(nHeads < 25, `${nHeads} have a head`);
  const exit = server.stop('SIGTERM');
  for (const client of clients) await client.until((received, closed) => closed || /\r\n0\r\n\r\n$|\}$/.test(received), 30_000);
  for (const { received } of clients) {
    const head = received.slice(0, received.indexOf('\r\n\r\n'));
    t.notMatch(received.slice(head.length), /connection:/i);
    if (head.startsWith('HTTP/1.1 503')) t.match(head, /connection: close/i);
    else t.match(received, /data: (\[DONE\]|\{"error":.*"draining".*\})\n\n\r\n0\r\n\r\n$/);
  }
  t.strictSame(await exit, { code: 0, signal: null });
});

function streamRequest(maxTokens: number): string {
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = JSON.stringify({ model: chatModel, messages, max_tokens: maxTokens, ignore_eos: true, stream: true });
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Undefined when the connection is refused. */
async function statusOf(url: string): Promise<number | undefined> {
  const answer = await post(`${url}/v1/chat/completions`, { model: chatModel, messages: [] }).catch(() => undefined);
  return answer?.status;
}
