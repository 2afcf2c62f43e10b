/**
 * `npm run eval:open-webui [-- --model FILE.gguf ...]`: Open WebUI as it comes from the package index, with its default settings, in front of a running server. Its page asks
 * each chat model, with all tools that it offers by default, and has to show an answer; a file of Chinese text has to be taken in. Where the package
 * index or a browser is not reached, it is skipped with the reason. The models are those that ship, one without a chat template, and `--model`.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { ChildServer, freePort } from '../child-server.ts';
import { interpreterOf, whyNotInstalled } from '../clients/environment.ts';
import { runServer } from '../server.ts';
import { chromiumOptions } from '../test-support/chromium.ts';
import { Forwarder } from './forwarder.ts';

const START_MS = 240_000;
const ANSWER_MS = 240_000;
const EMBEDDER = 'svc-embed-tiny';
const QUESTION = 'Name three colours.';

const { values } = parseArgs({ options: { model: { type: 'string', multiple: true, default: [] } } });
const failures: string[] = [];
const check = (is: boolean, what: string) => {
  console.log(`${is ? 'ok      ' : 'FAILED  '} ${what}`);
  if (!is) failures.push(what);
};

/** Starts it as somebody sets it up who has an OpenAI server: everything else stays as it comes. */
async function startOpenWebUi(interpreter: string, folder: string, upstream: string): Promise<ChildServer> {
  const url = `http://127.0.0.1:${await freePort()}`;
  return await ChildServer.start({
    program: join(interpreter, '../open-webui'),
    args: ['serve', '--host', '127.0.0.1', '--port', new URL(url).port],
    env: {
      ...process.env,
      DATA_DIR: folder,
      WEBUI_AUTH: 'False',
      WEBUI_SECRET_KEY: 'eval',
      OPENAI_API_BASE_URL: `${upstream}/v1`,
      OPENAI_API_KEY: 'none',
      ENABLE_OLLAMA_API: 'False',
      RAG_EMBEDDING_ENGINE: 'openai',
      RAG_EMBEDDING_MODEL: EMBEDDER,
      RAG_OPENAI_API_BASE_URL: `${upstream}/v1`,
      RAG_OPENAI_API_KEY: 'none',
      // It looks for models and updates elsewhere otherwise.
      OFFLINE_MODE: 'True',
      HF_HUB_OFFLINE: '1',
      ANONYMIZED_TELEMETRY: 'False',
    },
    url,
    readyPath: '/health',
    readyWithinMs: START_MS,
  });
}

async function tokenOf(url: string): Promise<string> {
  const body = JSON.stringify({ email: '', password: '' });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v1/auths/signin`, { method: 'POST', headers, body });
  return ((await response.json()) as { token: string }).token;
}

/** Returns what the page shows as the answer, once it has ended; empty where there is none. */
async function askPage(browser: Browser, url: string, token: string, model: string): Promise<string> {
  const context = await browser.newContext();
  await context.addInitScript((given) => localStorage.setItem('token', given), token);
  const page = await context.newPage();
  try {
    await page.goto(`${url}/?models=${encodeURIComponent(model)}`, { timeout: START_MS });
    const input = page.locator('#chat-input');
    await input.waitFor({ timeout: START_MS });
    // What is new in this version stands in front of the page of a new user.
    await page.keyboard.press('Escape');
    await input.click();
    await page.keyboard.type(QUESTION);
    await page.keyboard.press('Enter');
    const answer = page.locator('.chat-assistant').last();
    await answer.waitFor({ timeout: ANSWER_MS });
    const regenerate = page.locator('button[aria-label="Regenerate"], .regenerate-response-button').last();
    await regenerate.waitFor({ timeout: ANSWER_MS, state: 'attached' });
    return ((await answer.textContent()) ?? '').trim();
  } finally {
    await context.close();
  }
}

/** Tells whether a text file is taken in, which embeds its pieces. */
async function isTakenIn(url: string, token: string, name: string, text: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/plain' }), name);
  const added = await fetch(`${url}/api/v1/files/`, { method: 'POST', headers, body: form });
  const { id } = (await added.json()) as { id?: string };
  for (let i = 0; i < 120 && id !== undefined; i++) {
    const response = await fetch(`${url}/api/v1/files/${id}/process/status`, { headers });
    const { status } = (await response.json()) as { status?: string };
    if (status === 'completed' || status === 'failed') return status === 'completed';
    await wait(1_000);
  }
  return false;
}

async function measure(interpreter: string, folder: string): Promise<void> {
  const modelsFolder = join(folder, 'svc', 'models');
  await mkdir(modelsFolder, { recursive: true });
  for (const file of values.model) await symlink(resolve(file), join(modelsFolder, basename(file)));
  const models = { 'random-base': { arch: 'llama', isBase: true } } as const;
  const env = { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '', SVC_DEFAULT_MODEL: 'svc-chat-tiny' };
  const server = await runServer({ folder: join(folder, 'svc'), models, env });
  const forwarder = await Forwarder.start(server.url);
  let openWebUi: ChildServer | undefined;
  let browser: Browser | undefined;
  try {
    openWebUi = await startOpenWebUi(interpreter, join(folder, 'open-webui'), forwarder.url);
    const { url } = openWebUi;
    const token = await tokenOf(url);
    const listed = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string; capabilities: string[] }[] };
    browser = await chromium.launch({ ...chromiumOptions, headless: true });
    for (const { id, capabilities } of listed.data) {
      if (!capabilities.includes('chat') && !capabilities.includes('completion')) continue;
      const answer = await askPage(browser, url, token, id).catch((error: Error) => `\nno answer: ${error.message}`);
      const asked = forwarder.chats.filter(({ model, nTools }) => model === id && nTools > 0);
      for (const { nTools, status, ignored } of asked)
        console.log(`         ${id}: ${nTools} tools, ${status}${ignored === undefined ? '' : `, left out as ${ignored}`}`);
      const isAnswered =
        answer !== '' && !answer.startsWith('\n') && asked.length > 0 && asked.every(({ status }) => status === 200);
      check(isAnswered, `${id} answers on the page: ${JSON.stringify(answer.slice(0, 100))}`);
    }
    const chinese = '灯塔建于一八九三年由渔民建造守塔人住在旁边的小屋里每天晚上点灯'.repeat(26).slice(0, 769);
    check(await isTakenIn(url, token, 'lighthouse.txt', chinese), 'a file of 769 Chinese characters is taken in');
  } finally {
    if (failures.length > 0) console.log(openWebUi?.log.slice(-3_000) ?? '');
    await browser?.close();
    await openWebUi?.stop();
    await forwarder.stop();
    await server.stop();
  }
}

const requirements = join(import.meta.dirname, 'open-webui.txt');
const interpreter = await interpreterOf(requirements).catch((error: Error) => error);
if (typeof interpreter !== 'string') console.log(`skipped  Open WebUI: ${whyNotInstalled(interpreter)}`);
else if (chromiumOptions === undefined || !existsSync(chromiumOptions.executablePath))
  console.log('skipped  Open WebUI: there is no browser');
else {
  const folder = await mkdtemp(join(tmpdir(), 'svc-open-webui-'));
  try {
    await measure(interpreter, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(failures.length === 0 ? 'all goals held' : `${failures.length} goals missed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
