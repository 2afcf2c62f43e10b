/** Tenants by key: a budget of tokens a minute that refuses one tenant and not the other. */
import t from 'tap';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';
import { makeTenantKeys } from './tenant-keys.ts';

t.test('a tenant with a budget is refused to the token, the others are not', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, { folder });
  const keys = await makeTenantKeys(server.url, { frugal: { tokensPerMinute: 1000 }, free: {} });
  const ask = (headers: Record<string, string>) =>
    post(
      `${server.url}/v1/chat/completions`,
      { model: chatModel, max_tokens: 32, messages: [{ role: 'user', content: 'Tell me something.' }] },
      headers,
    );
  const frugal = { authorization: `Bearer ${keys.frugal}` };
  let used = 0;
  let answer = await ask(frugal);
  while (answer.status === 200) {
    used += (answer.json as { usage: { total_tokens: number } }).usage.total_tokens;
    if (used > 1000) break;
    answer = await ask(frugal);
  }
  t.equal(answer.status, 429);
  t.ok(used > 500 && used <= 1000, `${used} tokens were let through`);
  t.match(answer.json, { error: { code: 'rate_limit_exceeded' } });
  const retryAfter = Number(answer.headers.get('retry-after'));
  t.ok(retryAfter >= 1 && retryAfter <= 60, `retry after ${retryAfter} s`);
  t.equal((await ask({ 'x-api-key': keys.free })).status, 200, 'the other tenant has its own budget');
});
