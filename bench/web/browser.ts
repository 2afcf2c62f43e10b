/** Debian's chromium, and what is measured in it. Every figure is of a page that was never loaded before, in a profile of its own. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { scriptingByFrame, type TraceEvent } from './trace.ts';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
];
const QUIET_MS = 500;

/** Throws where there is no browser. */
export async function openBrowser(): Promise<Browser> {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined) throw new Error('the suite web needs chromium (Debian: apt install chromium)');
  return await chromium.launch({ executablePath: program, args: FLAGS });
}

/** A page that can be used: the element takes text. */
export interface Target {
  url: string;
  /** CSS selector of what the reader types into. */
  field: string;
  cookies: Parameters<BrowserContext['addCookies']>[0];
}

export interface FirstLoad {
  /** Bytes as they came, of scripts and styles. */
  scriptAndStyleBytes: number;
  /** Of everything. */
  totalBytes: number;
  nRequests: number;
  /** From the start of the navigation until the field is there and the main thread has rest: the end of the last long task. */
  interactiveMs: number;
}

/** `throttling`: how many times slower the CPU is. */
export async function measureFirstLoad(
  browser: Browser,
  { url, field, cookies }: Target,
  throttling: number,
): Promise<FirstLoad> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  try {
    await context.addCookies(cookies);
    await context.addInitScript(watchInteractive, field);
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    await client.send('Emulation.setCPUThrottlingRate', { rate: throttling });
    const loaded = await countBytes(client);
    await page.goto(url, { waitUntil: 'commit' });
    // Asked again, the page might say that it has work anew.
    const found = await page.waitForFunction((quietMs) => (globalThis as Watched).interactiveAt(quietMs), QUIET_MS, {
      timeout: 60_000,
    });
    return { ...loaded(), interactiveMs: (await found.jsonValue()) ?? Number.NaN };
  } finally {
    await context.close();
  }
}

type Watched = typeof globalThis & { interactiveAt(quietMs: number): number | undefined };

/** Runs in the page, before its own scripts. */
function watchInteractive(field: string): void {
  let fieldAt: number | undefined;
  let lastLongTaskEnd = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) lastLongTaskEnd = Math.max(lastLongTaskEnd, startTime + duration);
  }).observe({ type: 'longtask', buffered: true });
  const look = (): void => {
    const found = document.querySelector<HTMLInputElement>(field);
    if (found !== null && !found.disabled && found.getClientRects().length > 0) fieldAt = performance.now();
    else requestAnimationFrame(look);
  };
  look();
  (globalThis as Watched).interactiveAt = (quietMs) => {
    const at = Math.max(fieldAt ?? Number.POSITIVE_INFINITY, lastLongTaskEnd);
    return performance.now() - at >= quietMs ? at : undefined;
  };
}

async function countBytes(client: CDPSession): Promise<() => Omit<FirstLoad, 'interactiveMs'>> {
  const types = new Map<string, string>();
  const sums = { scriptAndStyleBytes: 0, totalBytes: 0, nRequests: 0 };
  client.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type));
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    sums.nRequests += 1;
    sums.totalBytes += encodedDataLength;
    if (['Script', 'Stylesheet'].includes(types.get(requestId) ?? '')) sums.scriptAndStyleBytes += encodedDataLength;
  });
  await client.send('Network.enable');
  return () => sums;
}

/** Asks in the open page, and measures from the first token to the last but a second. */
export async function measureStreaming(browser: Browser, page: Page, throttling: number, seconds: number): Promise<number[]> {
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setCPUThrottlingRate', { rate: throttling });
  await page.locator('textarea').fill('Tell me about queues');
  await page.keyboard.press('Enter');
  await page.locator('.answer .prose table').first().waitFor({ timeout: 60_000 });
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'v8.execute', 'disabled-by-default-devtools.timeline.frame'],
  });
  await page.waitForTimeout(seconds * 1000);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  await client.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return scriptingByFrame(trace.traceEvents);
}
