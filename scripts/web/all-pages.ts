/** Pictures of every page and every screen of the console, in both themes and three widths, whole from top to end. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';

const WIDTHS = [320, 820, 1440];
const HEIGHT = 900;
const SCHEMES = ['light', 'dark'] as const;

/** `pages`: addresses by the names of the pictures; else those that an administrator sees. */
export async function drawAllPages(page: Page, folder: string, pages?: Record<string, string>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, address] of Object.entries(pages ?? (await addresses(page)))) {
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('main, form').first().waitFor();
    await page.locator('[role="status"].spinner').first().waitFor({ state: 'detached' });
    // Plots begin with their second reading.
    if (address.endsWith('#overview')) await page.getByText(/process \d/).waitFor();
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: HEIGHT });
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await settled(page);
        await page.screenshot({
          path: join(folder, `${name}-${width}-${colorScheme}.png`),
          fullPage: true,
          animations: 'disabled',
        });
      }
    console.log(`${folder}: ${name}`);
  }
}

/** Until the page is drawn as it is now, without what still moves. */
async function settled(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  await page.waitForFunction("document.getAnimations().every(({ playState }) => playState !== 'running')");
}

async function addresses(page: Page): Promise<Record<string, string>> {
  const conversation = page.url();
  await page.goto('/admin');
  const links = page.locator('.admin-nav a[href^="#"]');
  await links.first().waitFor();
  const hashes = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
  const screens = hashes.map((hash) => [`admin-${hash.slice(1)}`, `/admin${hash}`]);
  return { login: '/login', chat: '/chat', conversation, ...Object.fromEntries(screens) };
}

/** Some of everything, so that tables are not empty. */
export async function fillConsole({ request }: BrowserContext): Promise<void> {
  const post = (path: string, data: object) => request.post(`/api/v1/${path}`, { data });
  await post('identity/tenants', { id: 'research', name: 'Research', tokens_per_minute: 50_000 });
  const user = await post('identity/users', { username: 'grace', email: 'grace@example.com', role: 'developer' });
  const { id: userId } = (await user.json()) as { id: string };
  await post('identity/users', { username: 'linus', role: 'viewer' });
  await post('identity/groups', {
    name: 'Staff',
    description: 'Who works here',
    role: 'developer',
    grants: { models: ['svc-*'] },
  });
  await post('identity/invitations', { note: 'For Ada’s team', role: 'viewer', max_uses: 5 });
  const made = await post('identity/keys', { name: 'nightly report' });
  const { api_key: key } = (await made.json()) as { api_key: string };
  await request.put('/api/v1/metering/quotas', { data: { user: userId, tokens_per_month: 2_000_000, requests_per_minute: 60 } });
  await post('webhooks', { url: 'https://example.com/hook', events: ['jobs.done'], description: 'Tells the chat of operations' });
  const chat = { model: 'svc-chat-tiny', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 32 };
  for (let n = 0; n < 3; n++) await request.post('/v1/chat/completions', { data: chat, headers: { 'x-api-key': key } });
}
