/** A browser whose microphone plays a spoken sentence: dictate, have an answer read aloud, open a cited recording at its place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import t from 'tap';
import { writeScriptedSpeechModel } from '../../models/random/speech-model.ts';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { chromiumOptions } from '../test-support/chromium.ts';
import { bringAxe, testAccessible } from './accessible.ts';
import { ask, bearerOf, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(180_000);

const SAID = 'Open the window of the tower.';
const RATE = 24_000;

const answer = `The tower is old [1]. See [its page](https://example.com/a?b) and https://tower.example.org/very/long.

\`\`\`js
never.said();
\`\`\`

| Name | Height |
| --- | --- |
| North | 36 m |
`;
const SPOKEN = ['The tower is old.', 'See its page and tower.example.org.', 'Name: North, Height: 36 m.'];

t.test('speech in the chat', { skip: whyNoBrowser() }, async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'models'), { recursive: true });
  const says = [0, ...SAID.split(/(?= )|(?=\.)/).map((word, i) => (i === 0 ? ` ${word}` : word)), 2];
  await writeScriptedSpeechModel(join(folder, 'models', 'scripted.bin'), { says });
  const server = await startServer(t, { folder, models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  const spoken = await fetch(`${server.url}/api/v1/tts/synthesize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'This is somebody who speaks for a while.', format: 'wav' }),
  });
  if (spoken.status !== 200) return t.comment('no engine of voices is installed');
  const wav = Buffer.from(await spoken.arrayBuffer());
  const quiet = Buffer.concat([wav, Buffer.alloc(RATE * 2 * 2)]);
  quiet.writeUInt32LE(quiet.length - 8, 4);
  quiet.writeUInt32LE(quiet.length - 44, 40);
  writeFileSync(join(folder, 'microphone.wav'), quiet);
  const browser = await chromium.launch({
    ...chromiumOptions,
    args: [
      ...(chromiumOptions?.args ?? []),
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      `--use-file-for-fake-audio-capture=${join(folder, 'microphone.wav')}`,
    ],
  });
  t.teardown(() => browser.close());
  const { page, context, faults } = await openPage(browser, server.url, { permissions: ['microphone'] });
  await bringAxe(context);
  await register(page);
  const field = page.getByLabel('Message', { exact: true });
  const answerWith = (frame: object) =>
    page.route('**/v1/chat/completions', (route) =>
      route.fulfill({
        status: 200,
        contentType: 'text/event-stream',
        body: `data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`,
      }),
    );

  await t.test('what is spoken stands where the cursor was, and can be sent', async (t) => {
    await field.fill('Please: Thank you');
    await field.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(8, 8));
    await page.getByRole('button', { name: 'Dictate' }).click();
    const stop = page.getByRole('button', { name: 'Stop dictation' });
    await stop.waitFor();
    await testAccessible(t, page, 'dictation');
    await page.waitForFunction((text) => (document.getElementById('composer') as HTMLTextAreaElement).value.includes(text), SAID);
    await stop.click();
    await page.getByRole('button', { name: 'Dictate' }).and(page.locator(':not([aria-busy])')).waitFor();
    t.match(await field.inputValue(), /^Please: Open the window of the tower\..*Thank you$/);
    const citations = [{ n: 1, document_id: 'd', source: 'tower.txt', start: 0, end: 3, text: 'Old', score: 0.9 }];
    await answerWith({ choices: [{ index: 0, delta: { content: answer }, finish_reason: 'stop' }], citations });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer table').waitFor();
    t.match(await page.locator('.bubble').textContent(), /Open the window of the tower/);
  });

  await t.test('an answer is read aloud from its first sentence on, without code and citation marks', async (t) => {
    const texts: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/tts/synthesize')) texts.push(String(request.postDataJSON()['text']));
    });
    await page.evaluate(() => {
      const rates: number[] = [];
      Object.assign(globalThis, { rates });
      const { play } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.play = function () {
        rates.push(this.playbackRate);
        return play.call(this);
      };
    });
    await page.getByRole('button', { name: 'Read aloud' }).click();
    const bar = page.getByRole('region', { name: 'Reading aloud' });
    await bar.getByRole('button', { name: 'Pause' }).click();
    await testAccessible(t, page, 'reading aloud');
    await bar.getByRole('button', { name: 'Speed' }).click();
    await page.getByRole('menuitemradio', { name: '2×' }).click();
    await bar.getByRole('button', { name: 'Go on reading' }).click();
    await bar.getByText('Reading aloud: 2 of 2').waitFor();
    await bar.waitFor({ state: 'detached' });
    t.strictSame(texts, [SPOKEN[0], SPOKEN.slice(1).join(' ')]);
    const rates = await page.evaluate(() => (globalThis as unknown as { rates: number[] }).rates);
    t.equal(rates.at(-1), 2, 'the last sentence came at the chosen speed');
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await bar.getByRole('button', { name: 'Stop reading' }).click();
    t.equal(await bar.count(), 0);
  });

  await t.test('a citation of a recording opens it where it is said', async (t) => {
    const bearer = await bearerOf(context);
    const upload = async (path: string, body: object) => (await post(`${server.url}/api/v1/upload/${path}`, body, bearer)).json;
    const { upload_id: id } = (await upload('init', { filename: 'talk.wav', size: wav.length, namespace: 'talks' })) ?? {};
    await fetch(`${server.url}/api/v1/upload/chunk`, {
      method: 'POST',
      body: wav,
      headers: { ...bearer, 'content-type': 'application/octet-stream', 'x-upload-id': String(id), 'x-chunk-index': '0' },
    });
    const { job_id: job } = (await upload('finalize', { upload_id: id })) ?? {};
    await (await fetch(`${server.url}/api/v1/system/jobs/${job}/events`, { headers: bearer })).text();
    const list = await page.request.get('/api/v1/vector/namespaces/default/talks/documents');
    const [talk] = (await list.json()).data as { id: string; kind: string }[];
    t.equal(talk?.kind, 'audio-transcript');
    const place = { start: 0, end: 5, text: SAID, score: 0.9, start_seconds: 1.5, end_seconds: 2 };
    const citation = { n: 1, namespace: 'talks', document_id: talk?.id, source: 'talk.wav', ...place };
    await page.unroute('**/v1/chat/completions');
    await answerWith({
      choices: [{ index: 0, delta: { content: 'Open it [1].' }, finish_reason: 'stop' }],
      citations: [citation],
    });
    const ranged = page.waitForResponse((response) => response.url().includes(`${talk?.id}/content`));
    await ask(page, 'What shall I open?');
    await page.locator('.answer .citation-chip').last().click();
    t.equal((await ranged).status(), 206);
    const recording = page.getByRole('dialog').locator('audio');
    await page.waitForFunction(() => (document.querySelector('audio') as HTMLAudioElement | null)?.readyState === 4);
    t.ok(Math.abs((await recording.evaluate((audio: HTMLAudioElement) => audio.currentTime)) - 1.5) < 0.1);
    await testAccessible(t, page, 'a cited recording');
    await page.keyboard.press('Escape');
  });

  t.strictSame(faults, [], 'nothing went wrong, and nothing left the server');

  await t.test('where the browser gives no microphone, the page says why', async () => {
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'mediaDevices', { value: undefined });
      Object.defineProperty(globalThis, 'isSecureContext', { value: false });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Dictate' }).click();
    await page.getByText(/on https alone/).waitFor();
  });
});
