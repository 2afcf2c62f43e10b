/**
 * `npm run bench -- web [--rounds N] [--quick] [--summary] [--json]`: the first load of /chat, when it can be used on a CPU four times slower, how much scripting a frame has
 * while an answer streams, how a long conversation scrolls, and what a hundred of them leave in memory. All of it is measured in the browser.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { heedSignals } from '../interruption.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { findModel } from '../model.ts';
import { type BenchOptions, readOptions, UsageError } from '../options.ts';
import { resultsFolder } from '../result-file.ts';
import { median, quantile } from '../statistics.ts';
import { requireWholeSuite } from '../summary-file.ts';
import { type FirstLoad, measureFirstLoad, measureStreaming, openBrowser, type Target } from './browser.ts';
import { importConversations, type Kept, measureMemory, measureScrolling, type Scrolling } from './conversations.ts';
import { openRivalPage } from './rival.ts';
import { openStreamingProxy } from './streaming-proxy.ts';
import { writeSummary } from './summary.ts';
import { type Figure, holds, tableLines } from './table.ts';

const SLOWER = 4;
const PACE = { tokensPerSecond: 200, nTokens: 4_000 };
const STREAMED_SECONDS = 8;
const root = join(import.meta.dirname, '../..');

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined || options.subject !== 'web')
    throw new UsageError('npm run bench -- web [--rounds N] [--quick] [--summary] [--json]');
  const machine = describeMachine();
  if (options.hasSummary) requireSummary(options, machine);
  const model = await findModel('tiny');
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-web-'));
  const browser = await openBrowser();
  const server = await startServer(folder, model);
  const rival = options.rival === 'none' ? { whyNot: 'left out' } : await openRivalPage(model);
  try {
    const ours: Target = { url: `${server.url}/chat`, field: 'textarea', cookies: [await signUp(server.url)] };
    const theirs = 'server' in rival ? { url: rival.server.url, field: 'textarea', cookies: [] } : undefined;
    const loads: FirstLoad[] = [];
    const rivalLoads: FirstLoad[] = [];
    for (let round = 0; round < options.nRounds; round++) {
      loads.push(await measureFirstLoad(browser, ours, SLOWER));
      if (theirs !== undefined) rivalLoads.push(await measureFirstLoad(browser, theirs, SLOWER));
    }
    const frames = await streamedFrames(browser, server.url, ours);
    await importConversations(server.url, ours.cookies.map(({ name, value }) => `${name}=${value}`).join('; '));
    const scrolling = await measureScrolling(browser, server.url, ours.cookies);
    const kept = await measureMemory(browser, server.url, ours.cookies);
    const figures = [...figuresOf(loads, rivalLoads, frames), ...conversationFigures(scrolling, kept)];
    const at = new Date().toISOString();
    const path = join(resultsFolder, `web-${at.replaceAll(':', '').slice(0, 17)}.json`);
    const result = {
      at,
      machine,
      loads,
      rivalLoads,
      frames,
      scrolling,
      kept,
      figures,
    };
    writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
    const facts = { at, model: basename(model), nRounds: options.nRounds, machine };
    const summary = options.hasSummary ? writeSummary({ ...facts, figures }) : undefined;
    if (options.isJson) console.log(JSON.stringify({ file: path, summary, figures }, null, 2));
    else {
      for (const line of tableLines(figures)) console.log(line);
      if ('whyNot' in rival) console.log(`llama-server: ${rival.whyNot}`);
      console.log(`samples: ${path}`);
      if (summary !== undefined) console.log(`summary: ${summary}`);
    }
    process.exitCode = figures.some((figure) => holds(figure) === false) ? 1 : 0;
  } finally {
    await browser.close();
    await server.stop();
    if ('server' in rival) await rival.server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Before anything is measured. Throws UsageError. */
function requireSummary({ isQuick, rival, rivalFlags }: BenchOptions, machine: Machine): void {
  if (rival !== undefined) throw new UsageError("--summary is beside the suite's own rival: run it without --rival");
  requireWholeSuite({ suite: 'web', isQuick, rivalFlags, machine }, []);
}

async function startServer(folder: string, model: string): Promise<ChildServer> {
  const url = `http://127.0.0.1:${await freePort()}`;
  return await ChildServer.start({
    program: process.execPath,
    args: [join(root, 'ts/cli/svc.ts'), 'serve', '--model', model],
    env: {
      ...process.env,
      SVC_LISTEN: url.slice('http://'.length),
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_MODELS_SHIPPED: 'false',
      SVC_INFERENCE_PROBE_MODELS: 'false',
    },
    url,
    readyPath: '/readyz',
  });
}

/** The first account; the cookie of its session. Cookies know no ports, so that the proxy gets it too. */
async function signUp(url: string): Promise<Target['cookies'][number]> {
  const response = await fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password: 'correct horse battery' }),
  });
  const [pair = ''] = (response.headers.getSetCookie()[0] ?? '').split(';');
  const at = pair.indexOf('=');
  if (at === -1) throw new Error(`the first account could not be made: ${response.status} ${await response.text()}`);
  return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
}

async function streamedFrames(browser: Browser, serverUrl: string, { cookies }: Target): Promise<number[]> {
  const proxy = await openStreamingProxy(serverUrl, PACE);
  const context = await browser.newContext({ viewport: { width: 412, height: 915 }, locale: 'en-US' });
  try {
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: proxy.url })));
    const page = await context.newPage();
    await page.goto(`${proxy.url}/chat`);
    await page.locator('textarea').waitFor();
    return await measureStreaming(browser, page, SLOWER, STREAMED_SECONDS);
  } finally {
    await context.close();
    await proxy.close();
  }
}

function figuresOf(loads: readonly FirstLoad[], rivalLoads: readonly FirstLoad[], frames: readonly number[]): Figure[] {
  const both = (value: (load: FirstLoad) => number) => ({
    ours: median(loads.map(value)),
    rival: rivalLoads.length === 0 ? undefined : median(rivalLoads.map(value)),
  });
  const scripting = (share: number) => ({ ours: frames.length === 0 ? undefined : quantile(frames, share), rival: undefined });
  return [
    {
      name: 'first load of /chat, script and style',
      unit: 'KB',
      ...both((load) => load.scriptAndStyleBytes / 1000),
      atMost: 120,
    },
    { name: 'first load of /chat, everything', unit: 'KB', ...both((load) => load.totalBytes / 1000) },
    { name: 'requests of the first load', unit: 'n', ...both((load) => load.nRequests) },
    { name: `interactive on a CPU ${SLOWER} times slower`, unit: 'ms', ...both((load) => load.interactiveMs), atMost: 1000 },
    {
      name: `scripting a frame at ${PACE.tokensPerSecond} tokens/s, ${SLOWER} times slower, p50`,
      unit: 'ms',
      ...scripting(0.5),
      atMost: 4,
    },
    { name: 'the same, p95', unit: 'ms', ...scripting(0.95), atMost: 4 },
    { name: 'frames a second meanwhile', unit: 'n', ours: frames.length / STREAMED_SECONDS, rival: undefined },
    // Where others take the cores, there are fewer frames, and each has the work of several.
    {
      name: 'the scripting of a second, by sixty frames',
      unit: 'ms',
      ours: frames.length === 0 ? undefined : frames.reduce((sum, each) => sum + each, 0) / STREAMED_SECONDS / 60,
      rival: undefined,
      atMost: 4,
    },
  ];
}

function conversationFigures({ frames, nMessages }: Scrolling, { heapBytes, nNodes }: Kept): Figure[] {
  const alone = (name: string, unit: string, ours: number, atMost?: number): Figure => ({
    name,
    unit,
    ours,
    rival: undefined,
    ...(atMost === undefined ? {} : { atMost }),
  });
  return [
    alone('between frames while 5,000 messages scroll, p50', 'ms', quantile(frames, 0.5), 17.5),
    alone('the same, p95', 'ms', quantile(frames, 0.95)),
    alone('messages in the page meanwhile, at most', 'n', nMessages, 100),
    alone('heap that 90 more conversations leave', 'MB', heapBytes / 1e6, 1),
    alone('nodes that they leave', 'n', nNodes, 1000),
  ];
}

heedSignals();
try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? 2 : 3;
}
