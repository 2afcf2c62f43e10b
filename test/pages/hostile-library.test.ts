/** Nothing that a knowledge base, a document, a prompt, an artifact, a folder, a link or a file is called runs in the page. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { dropFiles, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';
import { hostileNames } from './hostile-texts.ts';

t.setTimeout(120_000);

const time = '2026-01-01T00:00:00Z';
const bases = hostileNames.map((namespace) => ({
  namespace,
  documents: 1,
  chunks: 1,
  embedding_model: namespace,
  bytes: 1,
  created_at: time,
}));
const documents = hostileNames.map((source, i) => ({
  id: String(i),
  source,
  title: source,
  kind: source,
  state: 'stored',
  detail: source,
  tags: [],
  date: time,
  chunks: 1,
  bytes: 1,
  sha256: '',
  added_at: time,
}));
const prompts = hostileNames.map((title, i) => ({
  id: String(i),
  title,
  content: title,
  shared: i % 2 === 0,
  created_at: time,
  updated_at: time,
}));
const artifacts = hostileNames.map((title, i) => ({
  id: String(i),
  title,
  kind: 'html',
  language: title,
  conversation_id: null,
  last_version: 1,
  created_at: time,
  updated_at: time,
}));
const folders = hostileNames.map((folder) => ({ folder, conversations: 1 }));
const shared = {
  title: hostileNames[0],
  model: hostileNames[1],
  shared_at: time,
  data: hostileNames.map((content, i) => ({
    id: `m${i}`,
    seq: i + 1,
    parent_id: i === 0 ? null : `m${i - 1}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    content,
    ts: time,
    metadata: {
      files: [{ name: content, namespace: content, state: 'stored', detail: content }],
      images: [content, 'javascript:window.ran=1', 'data:image/svg+xml,<svg onload="window.ran=1"/>', '//evil.example/p.png'],
    },
  })),
};

t.test('hostile names', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(browser, server.url);
  await register(page);
  const answers: Record<string, object> = {
    '**/api/v1/vector/namespaces/*': { data: bases },
    '**/api/v1/vector/namespaces/*/*/documents*': { data: documents },
    '**/api/v1/edge/prompts': { data: prompts },
    '**/api/v1/artifacts?*': { data: artifacts },
    '**/api/v1/edge/conversations/folders': { data: folders },
    '**/api/v1/edge/conversations/shared?*': shared,
  };
  for (const [path, json] of Object.entries(answers)) await page.route(path, (route) => route.fulfill({ json }));
  const isClean = async (t: Test, name: string): Promise<void> => {
    t.strictSame(await foreign(page), [], name);
    t.strictSame(faults.splice(0), [], `${name}: nothing was loaded or refused`);
  };
  const last = hostileNames.length - 1;
  const dialog = page.getByRole('dialog');
  const openFromMenu = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name, exact: true }).click();
  };

  await t.test('of folders', async (t) => {
    await page.reload();
    await page.locator('.folder').nth(last).waitFor();
    await isClean(t, 'folders');
  });

  await t.test('of knowledge bases and their documents', async (t) => {
    await openFromMenu('Knowledge bases');
    await dialog.getByRole('switch').nth(last).waitFor();
    await isClean(t, 'bases');
    await dialog.getByRole('button', { name: 'Documents' }).nth(80).click();
    await dialog.locator('.rows li').nth(last).waitFor();
    await isClean(t, 'documents');
    await page.keyboard.press('Escape');
  });

  await t.test('of prompts and artifacts', async (t) => {
    await openFromMenu('Prompt library');
    await dialog.locator('.prompts li').nth(last).waitFor();
    await isClean(t, 'prompts');
    await page.keyboard.press('Escape');
    await openFromMenu('Artifacts');
    await dialog.locator('.rows li').nth(last).waitFor();
    await isClean(t, 'artifacts');
    await page.keyboard.press('Escape');
  });

  await t.test('of files, before and after they are refused', async (t) => {
    await dropFiles(
      page,
      hostileNames.slice(0, 9).map((name) => ({ name, type: 'image/png', content: 'x' })),
    );
    await page.locator('.file-chip.refused').nth(8).waitFor();
    await isClean(t, 'files');
  });

  await t.test('in a conversation that somebody shared, with its files and pictures', async (t) => {
    await page.goto('/chat#s=unknown');
    await page.locator('.shared-bar').waitFor();
    // Messages are drawn as the reader comes near them.
    const seen = await page.evaluateHandle(() => new Set<string>());
    await page.waitForFunction(
      ({ seen, count }) => {
        for (const message of document.querySelectorAll('.message')) seen.add(message.id);
        document.querySelector('.thread')?.scrollTo(0, 0);
        return seen.size === count;
      },
      { seen, count: hostileNames.length },
    );
    t.equal(await page.locator('.message-files img').count(), 0);
    await isClean(t, 'a shared conversation');
  });
});

function foreign(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll(
      '#page script, iframe, object, embed, base, form[action], video, audio, math, use',
    ))
      found.push(element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('#page *'))
      for (const { name, value } of element.attributes)
        if (
          name.startsWith('on') ||
          (name === 'src' && !value.startsWith('data:image/')) ||
          /javascript:/i.test(name === 'href' ? value : '')
        )
          found.push(`${name}=${value.slice(0, 200)}`);
    if ('ran' in globalThis) found.push('a script ran');
    return found;
  });
}
