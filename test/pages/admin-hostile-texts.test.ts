/** Nothing that a name, a note or an error says runs in the console or asks another host: every text that the server answers is hostile. */
import t from 'tap';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { bearerOf, consoleScreens, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';
import { hostileNames } from './hostile-texts.ts';
import { intruders } from './intruders.ts';

/** The gallery has no texts of the server, and the figures of the overview are drawn from metrics. */
const SCREENS = consoleScreens().filter((id) => id !== 'overview' && id !== 'components');

t.setTimeout(600_000);

let next = 0;

/** The same answer with a hostile text for each that is no time and no word of a fixed list. */
function poisoned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(poisoned);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, poisoned(member)]));
  }
  if (typeof value !== 'string' || /^(\d{4}-\d\d-\d\dT.*|[a-z_]{1,20})$/.test(value)) return value;
  next++;
  return hostileNames[next % hostileNames.length];
}

t.test('hostile texts in the console', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t, { env: { SVC_BACKUP_PLAIN_TEXT: 'true' } });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  await register(page);
  const bearer = await bearerOf(context);
  const seeds: [path: string, body: object | undefined][] = [
    ['/api/v1/identity/groups', { name: 'Staff', description: 'All', grants: { models: ['a', 'b'], namespaces: ['c'] } }],
    ['/api/v1/identity/invitations', { note: 'For Grace' }],
    ['/api/v1/identity/keys', { name: 'One' }],
    ['/api/v1/webhooks', { url: 'https://example.com/hook', events: ['jobs.done'], description: 'Told' }],
    ['/api/v1/tools/mcp-servers', { label: 'docs', url: 'https://mcp.invalid/mcp', auth: { type: 'none' } }],
    ['/api/v1/swarm/goals', { goal: 'Find the opening hours' }],
    ['/api/v1/agent/schedules', { name: 'Digest', cron: '0 9 * * 1-5', prompt: 'What is new?' }],
    ['/api/v1/identity/users', { username: 'service', role: 'admin', service: true }],
    ['/api/v1/backup/backups', undefined],
  ];
  for (const [path, body] of seeds) t.ok((await post(server.url + path, body, bearer)).status < 300, path);
  await fetch(`${server.url}/api/v1/metering/quotas`, {
    method: 'PUT',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: '{"tokens_per_minute":100000}',
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  await page.route(/\/(api\/v1\/(?!auth)|v1\/models|health)/, async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    // It never ends, and what is kept of the log is poisoned below.
    if (route.request().url().includes('/log/tail')) return route.continue();
    const answer = await route.fetch();
    const isJson = answer.headers()['content-type']?.startsWith('application/json');
    if (!isJson) return route.fulfill({ response: answer });
    return route.fulfill({ response: answer, json: poisoned(await answer.json()) });
  });
  for (const screen of SCREENS) {
    await page.goto(`/admin#${screen}`);
    await page.reload();
    await page.locator('main h1').waitFor();
    await page.locator('main [role="status"].spinner').waitFor({ state: 'detached' });
    // Of each kind one: an entry's menu, and the window with all that is known of it.
    const details = page.locator('main td .button').first();
    if ((await details.count()) > 0) {
      await details.click();
      const item = page.getByRole('menuitem').first();
      if (await item.isVisible()) await item.click();
      await page.waitForTimeout(100);
    }
    t.strictSame(await intruders(page), [], screen);
    t.strictSame(faults.splice(0), [], `${screen}: nothing was loaded or refused`);
  }
  t.ok(next > 300, `${next} texts`);
});
