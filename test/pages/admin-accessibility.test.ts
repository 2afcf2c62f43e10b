/** axe-core finds nothing on any screen of the console, in every theme; nothing is cut off at 320 pixels. */
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { bringAxe, testAccessible, testFocusSeen, testRightToLeft } from './accessible.ts';
import { consoleScreens, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(600_000);

/** Those with plots, tables and forms; that nothing is cut off is judged on all. */
const READ_FROM_RIGHT = new Set(['overview', 'models', 'settings', 'branding']);

t.test('accessibility of the console', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url, { reducedMotion: 'reduce' });
  await bringAxe(context);
  const inEachTheme = (t: Test, name: string): Promise<void> => testAccessible(t, page, name);
  await register(page);

  await t.test('the console', async (t) => {
    for (const screen of consoleScreens()) {
      await page.goto(`/admin#${screen}`);
      await page.locator('main h1').waitFor();
      await page.locator('main [role="status"].spinner').waitFor({ state: 'detached' });
      // All of its hundred rows are alike.
      if (screen === 'settings') await page.getByLabel('Search', { exact: true }).fill('inference.c');
      await inEachTheme(t, screen);
      await testFocusSeen(t, page, screen, 'main');
      if (READ_FROM_RIGHT.has(screen)) await testRightToLeft(t, page, screen);
    }
  });

  await t.test('the way to the screens', async (t) => {
    await testFocusSeen(t, page, 'navigation', '.admin-nav');
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    t.equal(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle), 'solid');
  });

  t.strictSame(faults, []);
});
