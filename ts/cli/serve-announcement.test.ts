import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { firstModelsText } from './first-models.ts';
import { announcement } from './serve-announcement.ts';

async function serverWith(t: Test, answers: Record<string, unknown>): Promise<string> {
  const server = createServer((request, response) => void response.end(JSON.stringify(answers[request.url ?? ''])));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('with a model: the address, the model, what to know of it, the page, and a command', async (t) => {
  const models = { data: [{ id: 'm', capabilities: ['chat'], state: 'loaded', note: 'It talks nonsense.' }] };
  const url = await serverWith(t, { '/v1/models': models, '/health': {} });
  const found = await announcement(url);
  t.match(found, { ready: true, url, model: 'm', reason: null });
  t.match(
    found.text,
    `is ready at ${url} with m (It talks nonsense.)\nOpen: ${url}/chat\nTry: curl -N ${url}/v1/chat/completions`,
  );
});

t.test('beside a demonstration, and without a model, it says which models this machine has memory for', async (t) => {
  t.equal(
    firstModelsText(16e9),
    'svc models pull smollm2-135m-instruct (98.4 MB); better and larger: qwen3-0.6b-q8_0 (639 MB), qwen3-4b-q4_k_m (2.5 GB)',
  );
  t.equal(firstModelsText(1.5e9), 'svc models pull smollm2-135m-instruct (98.4 MB)');
  t.equal(firstModelsText(1e8), 'svc models list --catalogue');
});

t.test('of several that are loaded it names the default one', async (t) => {
  const data = ['a', 'b'].map((id) => ({
    id,
    capabilities: ['chat'],
    state: 'loaded',
    ...(id === 'b' ? { default: true } : {}),
  }));
  const url = await serverWith(t, { '/v1/models': { data }, '/health': {} });
  t.match(await announcement(url), { model: 'b', page: `${url}/chat` });
});

t.test('an embedding model gets a command that fits', async (t) => {
  const models = { data: [{ id: 'e', capabilities: ['embeddings'], state: 'loaded' }] };
  const url = await serverWith(t, { '/v1/models': models, '/health': {} });
  t.match((await announcement(url)).text, `${url}/v1/embeddings`);
});

t.test('without a model it says why', async (t) => {
  const unloaded = { data: [{ id: 'm', capabilities: ['chat'], state: 'unloaded' }] };
  const cases: [inference: unknown, reason: RegExp][] = [
    [{ default_model: 'm', reason: 'This CPU lacks avx2' }, /local models cannot run: This CPU lacks avx2/],
    [{ default_model: 'm' }, /the model m could not be loaded/],
    [{}, /svc models pull/],
  ];
  for (const [inference, reason] of cases) {
    const url = await serverWith(t, { '/v1/models': unloaded, '/health': { inference } });
    t.match(await announcement(url), { ready: false, model: null, reason, text: new RegExp(`\nOpen: ${url}/chat\n`) });
  }
});

t.test('a node that stops is not waited for, and one that does not answer announces nothing', async (t) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.teardown(() => silent.close().closeAllConnections());
  const stopped = new AbortController();
  const asked = announcement(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, stopped.signal);
  stopped.abort();
  await t.rejects(asked, { name: 'AbortError' });
});
