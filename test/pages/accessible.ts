/** What axe-core finds on a page, in every theme, and whether something is cut off at 320 pixels, written from either side. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { effectsRun } from './browser.ts';

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
  await effectsRun(page);
}

/** Leaves the page as it was. */
export async function testRightToLeft(t: Test, page: Page, name: string): Promise<void> {
  await setDirection(page, 'rtl');
  t.strictSame(await findingsOf(page, {}), [], `${name}, from right to left`);
  t.equal(await isCutOff(page), false, `${name} fits, from right to left`);
  await setDirection(page, 'ltr');
}

/** More than any part of the pages has. */
const MAX_TABS = 120;

/** Tabs through what is below `root` and finds a visible ring around each that gets the focus, or close around what holds it. */
export async function testFocusSeen(t: Test, page: Page, name: string, root = 'body'): Promise<void> {
  await page.locator(root).evaluate((element) => {
    const start = document.createElement('span');
    start.tabIndex = -1;
    element.prepend(start);
    start.focus();
    start.remove();
  });
  const unseen: string[] = [];
  let nSeen = 0;
  for (; nSeen < MAX_TABS; nSeen++) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(unmarkedFocus, root);
    if (found === undefined) break;
    if (found !== '') unseen.push(found);
  }
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('[data-was-focused]')) element.removeAttribute('data-was-focused');
  });
  t.strictSame(unseen, [], `${name}: each of ${nSeen} controls shows that it has the focus`);
  t.ok(nSeen > 0, `${name} is reached by keyboard`);
}

/** The focused element where nothing marks it; empty where something does; undefined at the end of the round. Runs in the page. */
function unmarkedFocus(root: string): string | undefined {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return undefined;
  if (!document.querySelector(root)?.contains(element) || 'wasFocused' in element.dataset) return undefined;
  element.dataset['wasFocused'] = '';
  let around: HTMLElement | null = element;
  for (let level = 0; level < 3 && around !== null; level++) {
    const { outlineStyle, outlineWidth } = getComputedStyle(around);
    if (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2) return '';
    around = around.parentElement;
  }
  return element.outerHTML.slice(0, 160);
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
