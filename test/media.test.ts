/** Images and sounds over HTTP: every format is served, and hostile ones cost their own request alone. */
import { statSync } from 'node:fs';
import sharp from 'sharp';
import t from 'tap';
import { png, pngHeader } from '../ts/server/domains/inference/media/test-support/images.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { post } from './http.ts';
import { chatModel, startServer } from './server.ts';

const server = await startServer(t, { hasProjector: true, env: { SVC_INFERENCE_CTX: '4096', SVC_INFERENCE_PARALLEL: '2' } });

async function ask(...content: object[]) {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...content] }];
  const body = { model: chatModel, max_tokens: 4, temperature: 0, messages };
  const answer = await post(`${server.url}/v1/chat/completions`, body);
  const usage = answer.json?.['usage'] as { prompt_tokens: number } | undefined;
  return { ...answer, nPromptTokens: usage?.prompt_tokens ?? 0 };
}

const image = (bytes: Uint8Array, type = 'png') => ({
  type: 'image_url',
  image_url: { url: `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}` },
});
const sound = (bytes: Uint8Array, format = 'wav') => ({
  type: 'input_audio',
  input_audio: { data: Buffer.from(bytes).toString('base64'), format },
});

t.test('the model list tells that it sees and hears', async (t) => {
  const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string; capabilities: string[] }[] };
  const capabilities = data.find(({ id }) => id === chatModel)?.capabilities ?? [];
  t.ok(capabilities.includes('vision') && capabilities.includes('audio'), capabilities.join());
});

t.test('PNG, JPEG, WebP, GIF and AVIF are seen, WAV is heard', async (t) => {
  const create = { width: 120, height: 80, channels: 3 as const, background: 'red' };
  for (const format of ['png', 'jpeg', 'webp', 'gif', 'avif'] as const) {
    const { status, nPromptTokens, text } = await ask(image(await sharp({ create }).toFormat(format).toBuffer(), format));
    t.equal(status, 200, `${format}: ${text.slice(0, 200)}`);
    t.ok(nPromptTokens > 16, 'the image is part of the prompt');
  }
  const { status, nPromptTokens, text } = await ask(sound(wav(sine(440, 44_100, 1), 44_100)), image(png(30, 20, [1, 2, 3])));
  t.equal(status, 200, text.slice(0, 200));
  t.ok(nPromptTokens > 700);
});

t.test('hostile files answer 400 with the member, and the server goes on', async (t) => {
  const bomb = await sharp({ create: { width: 7_900, height: 7_900, channels: 3, background: 'red' } })
    .png({ compressionLevel: 9 })
    .toBuffer();
  const lying = Buffer.from(bomb);
  lying.writeUInt32BE(20, 16);
  lying.writeUInt32BE(20, 20);
  const cases: Record<string, [object, string]> = {
    'sixty gigapixels': [image(pngHeader(250_000, 250_000)), 'invalid_request'],
    'a header alone': [image(pngHeader(50, 50)), 'invalid_media'],
    'a header that lies': [image(lying), 'invalid_media'],
    'a thread of pixels': [image(pngHeader(60_000, 2)), 'invalid_request'],
    'an SVG': [image(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'svg+xml'), 'invalid_request'],
    'no WAVE file': [sound(Buffer.from('RIFFxxxxWAVE')), 'invalid_media'],
    'a WAVE file of 2^32 samples a second': [sound(wavOf(0xffffffff)), 'invalid_media'],
    'noise as MP3': [sound(Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7_919) & 255)), 'mp3'), 'invalid_media'],
  };
  for (const [what, [part, code]] of Object.entries(cases)) {
    const { status, json } = await ask(part);
    t.match({ status, json }, { status: 400, json: { error: { code } } }, what);
    t.match(json, { error: { param: /^messages\[0\]\.content\[1\]\./ } });
  }
  t.equal((await ask(image(bomb))).status, 200, 'a large image is made smaller');
  t.equal(statSync(`/proc/${server.pid}`).isDirectory(), true);
});

function wavOf(rate: number): Buffer {
  const bytes = wav(sine(440, 16_000, 0.1), 16_000);
  bytes.writeUInt32LE(rate, 24);
  return bytes;
}

t.test('a hundred megabytes of text are refused before they are tokenised', async (t) => {
  const content = 'one word and another '.repeat(5_000_000);
  for (const role of ['user', 'system']) {
    const messages = [
      { role, content },
      { role: 'user', content: 'x' },
    ];
    const begin = performance.now();
    const { status, json } = await post(`${server.url}/v1/chat/completions`, { model: chatModel, max_tokens: 1, messages });
    const ms = performance.now() - begin;
    const error = { code: 'context_length_exceeded', message: /bytes/ };
    t.match({ status, json }, { status: 400, json: { error } });
    t.comment(`${role}: refused after ${ms.toFixed(0)} ms`);
  }
  const long = await post(`${server.url}/tokenize`, { content: content.slice(0, 9_000_000) });
  t.equal(long.status, 413);
  const counted = await post(`${server.url}/v1/messages/count_tokens`, {
    model: chatModel,
    messages: [{ role: 'user', content }],
  });
  t.match(counted, { status: 400, text: /bytes; at most/ });
});
