/** A node whose one chat model says what a test has it say, in a browser where its administrator is signed in. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { openAiDialect } from '../providers/openai.ts';
import { type ProviderServer, startProvider } from '../providers/provider-server.ts';
import { startServer } from '../server.ts';
import { openBrowser, openPage, register } from './browser.ts';

interface ScriptedPage {
  page: Page;
  /** `openPage` gathers them. */
  faults: string[];
  /** Its `say` is the model's script. */
  model: ProviderServer;
}

/** The model is called `actor`, and offered when this returns; the page was loaded before. */
export async function openScriptedModel(t: Test, env: Record<string, string> = {}): Promise<ScriptedPage> {
  const { url } = await startServer(t, { models: {}, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', ...env } });
  const model = await startProvider(t, openAiDialect);
  model.models = ['actor'];
  const { page, faults } = await openPage(await openBrowser(t), url);
  await register(page);
  const backend = { id: 'one', kind: 'openai', base_url: `${model.origin}/v1`, key: 'sk-test' };
  t.equal((await page.request.post('/api/v1/cloud/backends', { data: backend })).status(), 201);
  const isOffered = async () => (await (await page.request.get('/v1/models')).text()).includes('"actor"');
  while (!(await isOffered())) await page.waitForTimeout(50);
  return { page, faults, model };
}
