/** A file of a loaded model that is cut or written into fails that model with the reason, and the node lives. */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../models/random/fixture.ts';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.setTimeout(120_000);

t.test('a model file is cut, then written into, then whole again', async (t) => {
  const source = await randomModel({ arch: 'llama' });
  const folder = t.testdir({ models: {} });
  // A file of the test's own, which the server finds in the place of the shared one.
  const path = join(folder, 'models', `${chatModel}.gguf`);
  const restore = () => copyFileSync(source, path);
  restore();
  const server = await startServer(t, { folder });
  const request = { model: chatModel, ignore_eos: true, seed: 1, messages: [{ role: 'user', content: 'Hello' }] };
  const chat = () => post(`${server.url}/v1/chat/completions`, { ...request, max_tokens: 4 });
  /** An answer that has begun; what follows of it. */
  const running = async () => {
    const body = JSON.stringify({ ...request, max_tokens: 100_000, stream: true });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    return async () => {
      let text = '';
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
      return text;
    };
  };
  const untilOk = async () => {
    while ((await chat()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await untilOk();

  for (const [what, damage] of [
    ['cut', () => truncateSync(path, 4096)],
    ['written into', () => writeFileSync(path, readFileSync(source).fill(7, 100_000, 200_000))],
  ] as const) {
    const rest = await running();
    damage();
    t.match(await rest(), /"model_file_changed"/, what);
    t.equal((await send(`${server.url}/livez`)).status, 200, 'the node lives');
    restore();
    await untilOk();
  }
});
