/** Conversations for the page to show: a long one, and many short ones; how the one scrolls, and what is left of the others. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { Target } from './browser.ts';

const N_LONG = 5_000;
const N_MANY = 100;
const N_MESSAGES = 20;
/** So many are open before it is measured, so that what is loaded once does not count. */
const N_WARM = 10;
const SCROLLED_SECONDS = 6;
const PIXELS_A_FRAME = 90;

/** As Open WebUI exports them. Throws for an answer that is no success. */
export async function importConversations(url: string, cookie: string): Promise<void> {
  const all = [
    conversationOf('long', N_LONG),
    ...Array.from({ length: N_MANY }, (_, index) => conversationOf(`many-${index}`, N_MESSAGES)),
  ];
  const response = await fetch(`${url}/api/v1/edge/conversations/import`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(all),
  });
  if (!response.ok) throw new Error(`the conversations were not imported: ${response.status} ${await response.text()}`);
}

function conversationOf(id: string, nMessages: number) {
  const messages = Array.from({ length: nMessages }, (_, index) => ({
    id: `${id}-${index}`,
    parentId: index === 0 ? null : `${id}-${index - 1}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: index % 2 === 0 ? `Question ${index} of ${id}?` : answerOf(index),
    timestamp: 1_700_000_000 + index,
  }));
  const history = {
    messages: Object.fromEntries(messages.map((message) => [message.id, message])),
    currentId: messages.at(-1)?.id,
  };
  return { id, title: `Conversation ${id}`, chat: { title: id, history } };
}

function answerOf(index: number): string {
  const list = ['A request comes in.', 'Its prompt is cut into **chunks**.', 'Each chunk is `decoded`.']
    .map((text) => `- ${text}`)
    .join('\n');
  const table = index % 6 === 1 ? '\n\n| step | rows |\n| --- | ---: |\n| prefill | 512 |\n| decode | 32 |' : '';
  return `What waits is taken in its turn, the oldest first, as message ${index} says.\n\n${list}${table}`;
}

export interface Scrolling {
  /** Milliseconds between frames. */
  frames: number[];
  /** The most that were in the page at once. */
  nMessages: number;
}

/** Upwards through the long conversation, a step each frame. */
export async function measureScrolling(browser: Browser, url: string, cookies: Target['cookies']): Promise<Scrolling> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  try {
    await context.addCookies(cookies);
    const page = await context.newPage();
    await openIn(page, url, 'long', `long-${N_LONG - 1}`);
    await page.waitForTimeout(1_000);
    return await page.evaluate(scroll, { seconds: SCROLLED_SECONDS, pixels: PIXELS_A_FRAME });
  } finally {
    await context.close();
  }
}

/** Runs in the page. */
async function scroll({ seconds, pixels }: { seconds: number; pixels: number }): Promise<Scrolling> {
  const thread = document.querySelector('.thread');
  if (thread === null) throw new Error('there is no thread');
  const frames: number[] = [];
  let nMessages = 0;
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  const begun = await frame();
  for (let last = begun; last - begun < seconds * 1000; ) {
    thread.scrollBy(0, -pixels);
    const now = await frame();
    frames.push(now - last);
    last = now;
    nMessages = Math.max(nMessages, document.querySelectorAll('.message').length);
  }
  return { frames, nMessages };
}

export interface Kept {
  /** Bytes and nodes that are more after all conversations than after the first ones, garbage aside. */
  heapBytes: number;
  nNodes: number;
}

export async function measureMemory(browser: Browser, url: string, cookies: Target['cookies']): Promise<Kept> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  try {
    await context.addCookies(cookies);
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    await client.send('Performance.enable');
    let before = { heapBytes: 0, nNodes: 0 };
    for (let index = 0; index < N_MANY; index++) {
      await openIn(page, url, `many-${index}`, `many-${index}-${N_MESSAGES - 1}`);
      if (index + 1 === N_WARM) before = await memoryOf(client);
    }
    const after = await memoryOf(client);
    return { heapBytes: after.heapBytes - before.heapBytes, nNodes: after.nNodes - before.nNodes };
  } finally {
    await context.close();
  }
}

async function openIn(page: Page, url: string, id: string, lastMessage: string): Promise<void> {
  // Another address behind the # loads nothing anew.
  await page.goto(`${url}/chat#c=${id}`);
  await page.locator(`[id="m-${lastMessage}"] .prose:not(.unread)`).waitFor({ timeout: 60_000 });
}

async function memoryOf(client: CDPSession): Promise<Kept> {
  for (let round = 0; round < 3; round++) await client.send('HeapProfiler.collectGarbage');
  const { metrics } = await client.send('Performance.getMetrics');
  const metric = (name: string): number => metrics.find((each) => each.name === name)?.value ?? Number.NaN;
  return { heapBytes: metric('JSHeapUsedSize'), nNodes: metric('Nodes') };
}
