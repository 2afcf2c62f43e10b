/** What axe-core finds on a page, in every theme, and whether something is cut off at 320 pixels, written from either side. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const THEMES = ['light', 'dark', 'contrast'];

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** Must be called before the first page of the context is opened, so that each has the checker. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: axe });
}

export async function testAccessible(t: Test, page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    await page.evaluate((chosen) => {
      document.documentElement.dataset['theme'] = chosen;
    }, theme);
    // Only colours differ between themes.
    const options = theme === 'light' ? {} : { runOnly: ['color-contrast'] };
    t.strictSame(await findingsOf(page, options), [], `${name}, ${theme}`);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  for (const direction of ['rtl', 'ltr'] as const) {
    await setDirection(page, direction);
    t.equal(await isCutOff(page), false, `${name} fits into 320 pixels, ${direction}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Leaves the page as it was. */
export async function testRightToLeft(t: Test, page: Page, name: string): Promise<void> {
  await setDirection(page, 'rtl');
  t.strictSame(await findingsOf(page, {}), [], `${name}, from right to left`);
  t.equal(await isCutOff(page), false, `${name} fits, from right to left`);
  await setDirection(page, 'ltr');
}

/** As if the page were in a language that is written so. */
export async function setDirection(page: Page, direction: 'ltr' | 'rtl'): Promise<void> {
  await page.evaluate((dir) => {
    document.documentElement.dir = dir;
  }, direction);
}

function isCutOff(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

/** `options`: of axe, for example which rules. */
async function findingsOf(page: Page, options: object): Promise<string[]> {
  // Colours that still move would be judged half way.
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
  const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations)`;
  const found = (await page.evaluate(run)) as Finding[];
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
