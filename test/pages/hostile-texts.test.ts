/** Nothing that a model, a document or a name says runs in the page or asks another host. */
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { openBrowser, openPage, register, whyNoBrowser } from './browser.ts';
import { hostileNames, hostileTexts } from './hostile-texts.ts';
import { intruders } from './intruders.ts';

const CONVERSATIONS = '/api/v1/edge/conversations';

t.test('hostile texts', { skip: whyNoBrowser() }, async (t) => {
  t.ok(hostileTexts.length >= 300, `${hostileTexts.length} texts`);
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  await register(page);
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const [cookie] = await context.cookies();
  // The server stores no NUL; an answer that arrives in pieces has them.
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${cookie?.value}`, 'content-type': 'application/json' };
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body).replaceAll('\\u0000', ''),
    });
    if (!response.ok) throw new Error(`${path} is answered with ${response.status}: ${await response.text()}`);
  };
  const isClean = async (t: Test, name: string): Promise<void> => {
    t.strictSame(await intruders(page), [], name);
    t.strictSame(faults.splice(0), [], `${name}: nothing was loaded or refused`);
  };

  await t.test('in stored messages of both sides, with citations, reasoning and tool calls', async (t) => {
    await post(CONVERSATIONS, { id: 'hostile', title: hostileNames[80] });
    for (const [index, content] of hostileTexts.entries()) {
      const text = `${content}\n\n[1]`;
      const citations = [
        { n: 1, document_id: content, source: content.slice(0, 200), page: 1, start: 0, end: 1, text: content, score: 1 },
      ];
      const metadata = { reasoning: content, tool_calls: [{ name: content, args: content }], completion_tokens: content };
      const message = { conversation_id: 'hostile', content: text, role: index % 3 === 0 ? 'user' : 'assistant' };
      await post(
        `${CONVERSATIONS}/messages`,
        message.role === 'user' ? message : { ...message, model: content.slice(0, 100), citations, metadata },
      );
    }
    await page.goto('/chat#c=hostile');
    await page.reload();
    // Messages are drawn as the reader comes near them.
    await page.locator('.message').first().waitFor();
    const seen = await page.evaluateHandle(() => new Set<string>());
    await page.waitForFunction(
      ({ seen, count }) => {
        for (const message of document.querySelectorAll('.message')) seen.add(message.id);
        for (const folded of document.querySelectorAll('details')) folded.open = true;
        document.querySelector('.thread')?.scrollTo(0, 0);
        return seen.size === count;
      },
      { seen, count: hostileTexts.length },
    );
    // Pictures and prefetches that were going to begin have begun.
    await page.waitForTimeout(500);
    await isClean(t, 'messages');
    await page.locator('.citation-chip').first().click();
    await page.getByRole('dialog').waitFor();
    await isClean(t, 'a passage');
    await page.keyboard.press('Escape');
  });

  await t.test('a link opens nothing before the reader has seen where it leads', async (t) => {
    const { length: nPages } = context.pages();
    // Some of the messages are drawn: on to where many have links.
    await page.waitForFunction(() => {
      const thread = document.querySelector('.thread');
      const nLinks = document.querySelectorAll('.thread a[href^="http"]').length;
      if (nLinks <= 8) thread?.scrollTo(0, thread.scrollHeight);
      return nLinks > 8;
    });
    const links = await page.locator('.thread a[href^="http"]').all();
    t.ok(links.length > 8, `${links.length} links`);
    for (const link of links.slice(0, 8)) {
      await link.click();
      await page.getByRole('dialog').waitFor();
      t.equal(
        await page.getByRole('dialog').locator('.address').textContent(),
        await link.evaluate((element) => (element as HTMLAnchorElement).href),
      );
      await page.keyboard.press('Escape');
    }
    await links[0]?.click({ button: 'middle' });
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    t.equal(context.pages().length, nPages);
    await isClean(t, 'after clicks');
  });

  await t.test('in titles, hits of a search, names of models and of accounts', async (t) => {
    for (const title of hostileNames.slice(60)) await post(CONVERSATIONS, { title });
    await post('/api/v1/identity/tenants', { id: 'hostile', name: hostileNames[0] });
    await page.route('**/v1/models', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: { id: string }[] };
      const [model] = body.data;
      const data = hostileNames.map((id) => ({ ...model, id, note: id, capabilities: ['chat', id], state: 'loaded' }));
      await route.fulfill({ response: answer, json: { ...body, data } });
    });
    await page.goto('/chat');
    await page.reload();
    await page.locator('.conversation').nth(20).waitFor();
    await page.getByTitle('Choose a model').click();
    await page
      .getByRole('menuitemradio')
      .nth(hostileNames.length - 1)
      .waitFor();
    await isClean(t, 'titles and models');
    await page.keyboard.press('Escape');
    await page.getByLabel('Search conversations').fill('script');
    await page.locator('.hit').first().waitFor();
    await isClean(t, 'hits');
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await isClean(t, 'the palette');
    await page.goto('/admin#tenants');
    await page.getByRole('rowheader', { name: 'hostile' }).waitFor();
    await isClean(t, 'tenants');
    await page.unroute('**/v1/models');
  });

  await t.test('in an answer that arrives in pieces', async (t) => {
    const text = hostileTexts.join('\n\n');
    const pieces = text.match(/.{1,7}/gs) ?? [];
    const frames = pieces.map(
      (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
    );
    const { createServer } = await import('node:http');
    // The page's own request is answered by a server that sends piece by piece.
    const source = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      Readable.from([...frames, 'data: [DONE]\n\n']).pipe(response);
    });
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    t.teardown(() => source.close());
    const address = source.address() as { port: number };
    await page.route('**/v1/chat/completions', async (route) =>
      route.fulfill({ response: await route.fetch({ url: `http://127.0.0.1:${address.port}/` }) }),
    );
    await page.goto('/chat');
    await page.reload();
    await page.getByLabel('Message', { exact: true }).fill(hostileTexts[200] ?? '');
    await page.keyboard.press('Enter');
    await page.locator('.answer .message-bar').waitFor({ timeout: 90_000 });
    await page.waitForTimeout(300);
    await isClean(t, 'a streamed answer');
    t.ok(((await page.locator('.answer .prose').textContent()) ?? '').length > 5000);
  });
});
