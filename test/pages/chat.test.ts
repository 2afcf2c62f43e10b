/** The chat in a real browser against a real server. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { chatModel, startServer } from '../server.ts';
import { FaultyRelay } from '../test-support/faulty-relay.ts';
import { administrator, ask, effectsRun, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

/** A random model writes marks whose end, once it comes, takes them out of the text. */
const lettersOf = (text: string): string => text.replace(/[^\p{L}]/gu, '');

/** The text of an answer without its formulas, which are typeset some time after it is shown. */
const proseOf = (page: Page): Promise<string> =>
  page.locator('.answer .prose:not(.unread)').evaluate((prose) => {
    const copy = prose.cloneNode(true) as Element;
    for (const formula of copy.querySelectorAll('code, .formula')) formula.remove();
    return copy.textContent ?? '';
  });

t.test('the chat page', { skip: whyNoBrowser() }, async (t) => {
  // A context that takes a random model long enough to fill that it can be stopped.
  const server = await startServer(t, { env: { SVC_INFERENCE_CTX: '65536' } });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  // A slow machine answers slowly.
  page.setDefaultTimeout(60_000);
  // A random model ends its answer at any token: here it goes on until it is stopped.
  await context.route('**/v1/chat/completions', (route) => {
    const body = route.request().postDataJSON() as object;
    return route.continue({ postData: JSON.stringify({ ...body, ignore_eos: true }) });
  });
  const answers = page.locator('article.answer');
  const shown = async (of: Page = page): Promise<string> => (await of.locator('.answer .prose:not(.unread)').textContent()) ?? '';
  const longerThan = async (nCharacters: number, of: Page = page): Promise<void> => {
    await of.waitForFunction((n) => (document.querySelector('.answer .prose')?.textContent?.length ?? 0) > n, nCharacters);
  };
  const limitAnswers = async (tokens: string): Promise<void> => {
    await page.getByRole('button', { name: 'Instructions and parameters' }).click();
    await page.getByLabel('Longest answer').fill(tokens);
    await page.getByRole('button', { name: 'Save' }).click();
  };

  await t.test('the first account says what it becomes, and leads to the chat', async (t) => {
    await page.goto('/login');
    t.match(await page.getByRole('status').first().textContent(), /becomes superadmin/);
    await register(page);
    const cookies = await context.cookies();
    t.match(cookies, [{ name: 'svc_session', httpOnly: true, sameSite: 'Lax' }]);
  });

  await t.test('an answer is streamed, and says what it took', async (t) => {
    await limitAnswers('600');
    await page.evaluate(() => {
      const sizes = new Set<number>();
      Object.assign(globalThis, { sizes });
      new MutationObserver(() => sizes.add(document.querySelector('.answer .prose')?.textContent?.length ?? 0)).observe(
        document.body,
        { subtree: true, childList: true, characterData: true },
      );
    });
    await ask(page, 'What is a turnip?');
    t.ok((await page.evaluate(() => (globalThis as unknown as { sizes: Set<number> }).sizes.size)) > 2, 'the text grew in steps');
    t.match(await page.locator('.answer .facts').textContent(), new RegExp(`${chatModel} · \\d+ tokens · [\\d.,]+ tokens/s`));
    t.match(page.url(), /#c=[\w-]+$/, 'the conversation has an address');
    await limitAnswers('60');
  });

  await t.test('another answer and another question are branches', async (t) => {
    await answers.getByRole('button', { name: 'Answer again' }).click();
    await answers.getByText('2/2').waitFor();
    await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
    await answers.getByRole('button', { name: 'Previous branch' }).click();
    await answers.getByText('1/2').waitFor();
    await page.locator('.question').hover();
    await page.getByRole('button', { name: 'Edit question' }).click();
    await page.getByRole('textbox', { name: 'Edit question' }).fill('What is a swede?');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.locator('.question').getByText('2/2').waitFor();
    await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
    t.equal(await page.locator('.bubble').textContent(), 'What is a swede?');
    await page.locator('.question').getByRole('button', { name: 'Previous branch' }).click();
    await page.getByText('What is a turnip?', { exact: true }).and(page.locator('.bubble')).waitFor();
    await page.locator('.question').getByText('1/2').waitFor();
  });

  await t.test('after a reload everything is there', async (t) => {
    const before = await answers.locator('.prose').textContent();
    await page.reload();
    await answers.waitFor();
    t.equal(await answers.locator('.prose:not(.unread)').textContent(), before);
    t.equal(await page.locator('.bubble').textContent(), 'What is a turnip?', 'the branch that was shown');
    await page.getByLabel('Search conversations').fill('swed');
    t.match(await page.locator('.hit').first().textContent(), /swede/);
    await page.getByLabel('Search conversations').fill('');
  });

  await t.test('a question that is sent before the page has started goes out then', async (t) => {
    await page.getByRole('button', { name: 'New chat' }).first().click();
    let letGo = (): void => {};
    const isSent = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/v1/models', async (route) => {
      await isSent;
      await route.continue();
    });
    await page.reload();
    await page.getByLabel('Message', { exact: true }).fill('What is a beetroot?');
    await page.keyboard.press('Enter');
    t.equal(await answers.count(), 0);
    letGo();
    // An answer that is stopped before it has begun leaves nothing.
    await longerThan(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .facts').waitFor();
    t.equal(await page.locator('.bubble').textContent(), 'What is a beetroot?');
    t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '');
    await page.unroute('**/v1/models');
  });

  await t.test(
    'a question that is sent while a conversation opens goes to no other one, and is not sent once it is changed',
    async (t) => {
      const composer = page.getByLabel('Message', { exact: true });
      let letGo = (): void => {};
      const isOpened = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const list = '**/api/v1/edge/conversations/streams?*';
      await page.route(list, async (route) => {
        await isOpened;
        await route.continue().catch(() => undefined);
      });
      await page.getByRole('link', { name: 'What is a turnip?' }).click();
      await composer.press('Enter');
      await composer.fill('Only for turnips');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'What is a beetroot?' }).click();
      letGo();
      await page.getByText('What is a beetroot?', { exact: true }).and(page.locator('.bubble')).waitFor();
      await page.locator('.thread .spinner').waitFor({ state: 'detached' });
      await effectsRun(page);
      t.equal(await composer.inputValue(), 'Only for turnips');
      t.equal(await page.locator('.bubble').count(), 1);
      await composer.fill('');
      await page.unroute(list);
    },
  );

  await t.test('a conversation that is not there leaves nothing of the one before, and a question begins another', async (t) => {
    await page.getByRole('link', { name: 'What is a turnip?' }).click();
    await page.getByText('What is a turnip?', { exact: true }).and(page.locator('.bubble')).waitFor();
    await page.evaluate(() => {
      location.hash = '#c=erased';
    });
    await page.getByRole('alert').waitFor();
    t.equal(await page.locator('.bubble').count(), 0);
    t.equal(await page.locator('h1').first().textContent(), 'New chat');
  });

  await t.test('an answer can be stopped, stays, and can be continued', async (t) => {
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await limitAnswers('');
    await page.getByLabel('Message', { exact: true }).fill('Go on for long');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => (document.querySelector('.answer[aria-busy] .prose')?.textContent?.length ?? 0) > 50);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .facts').getByText('stopped').waitFor();
    const kept = (await answers.locator('.prose').textContent()) ?? '';
    t.ok(kept.length >= 50);
    await limitAnswers('10');
    await answers.getByRole('button', { name: 'Continue' }).click();
    await answers.getByText('2/2').waitFor();
    await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
    t.ok(((await answers.locator('.prose').textContent()) ?? '').startsWith(kept.slice(0, 40)));
  });

  /** Shown of the answer, whether it is still being written or not, once it is drawn and not the bare text any more. */
  const askForLong = async (text: string, of: Page = page): Promise<void> => {
    await of.getByRole('button', { name: 'New chat' }).first().click();
    await of.getByLabel('Message', { exact: true }).fill(text);
    await of.keyboard.press('Enter');
    await longerThan(50, of);
  };

  await t.test('a page that is loaded anew in the middle of an answer shows the rest of it', async (t) => {
    await limitAnswers('');
    await askForLong('Leave me');
    // Escape ends the renaming, and not the answer as well.
    await page.getByRole('button', { name: 'Actions for Leave me' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Rename' }).press('Escape');
    const before = await shown();
    await longerThan(before.length);
    await page.reload();
    await longerThan(before.length);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .facts').getByText('stopped').waitFor();
    t.ok(lettersOf(await shown()).startsWith(lettersOf(before).slice(0, 20)));
    t.equal(await answers.count(), 1);
  });

  await t.test('an answer that the server did not know yet when it was stopped does not go on without its page', async (t) => {
    await askForLong('Too early');
    const streams = '**/api/v1/edge/conversations/streams/*';
    const asked: string[] = [];
    await page.route(streams, async (route) => {
      asked.push(route.request().method());
      if (asked.length === 1) await route.fulfill({ status: 404, json: { error: 'stream_not_found' } });
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .facts').getByText('stopped').waitFor();
    const isRunning = async (): Promise<boolean> => {
      const { data } = await (await page.request.get('/api/v1/edge/conversations/streams')).json();
      return data.some(({ state }: { state: string }) => state === 'running');
    };
    while (await isRunning()) await new Promise((resolve) => setTimeout(resolve, 50));
    t.strictSame(asked, ['DELETE', 'DELETE']);
    await page.unroute(streams);
  });

  await t.test('an answer goes on while another conversation is open', async (t) => {
    await askForLong('Come back');
    const before = await shown();
    await page.getByRole('link', { name: 'Leave me' }).click();
    await page.getByText('Leave me', { exact: true }).and(page.locator('.bubble')).waitFor();
    await page.getByRole('link', { name: 'Come back' }).click();
    await page.getByText('Come back', { exact: true }).and(page.locator('.bubble')).waitFor();
    await longerThan(before.length);
    t.ok(lettersOf(await shown()).startsWith(lettersOf(before).slice(0, 20)));
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .facts').getByText('stopped').waitFor();
  });

  await t.test('two tabs show the same answer, and stopping it in one stops it in both', async (t) => {
    const other = await context.newPage();
    other.setDefaultTimeout(60_000);
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await limitAnswers('5');
    await ask(page, 'Both of us');
    await other.goto(page.url());
    await other.getByText('Both of us', { exact: true }).and(other.locator('.bubble')).waitFor();
    await limitAnswers('');
    await page.getByLabel('Message', { exact: true }).fill('At length');
    await page.keyboard.press('Enter');
    await other.getByRole('button', { name: 'Stop' }).click();
    for (const each of [page, other]) await each.locator('.answer .facts').getByText('stopped').waitFor();
    // What is stored is drawn anew, a part at a time.
    const texts = () => Promise.all([page, other].map((each) => each.locator('.answer').last().locator('.prose').textContent()));
    let [one, second] = await texts();
    for (const end = Date.now() + 10_000; one !== second && Date.now() < end; ) [one, second] = await texts();
    t.equal(second, one);
    await other.close();
  });

  await t.test('a connection that breaks is made anew, and the answer goes on behind what had come', async (t) => {
    const relay = await FaultyRelay.open(Number(new URL(server.url).port));
    t.teardown(() => relay.close());
    const relayed = await context.newPage();
    relayed.setDefaultTimeout(60_000);
    await relayed.goto(`http://127.0.0.1:${relay.port}/chat`);
    await relayed.getByLabel('Message', { exact: true }).waitFor();
    await askForLong('Hold on', relayed);
    for (let i = 0; i < 3; i++) {
      const before = await shown(relayed);
      relay.cut();
      await longerThan(before.length + 20, relayed);
      t.ok(lettersOf(await shown(relayed)).startsWith(lettersOf(before).slice(0, 20)));
    }
    await relayed.getByRole('button', { name: 'Stop' }).click();
    await relayed.locator('.answer .facts').getByText('stopped').waitFor();
    t.equal(await relayed.getByRole('alert').count(), 0);
    t.equal(await relayed.locator('.answer').count(), 1);
    const atEnd = await proseOf(relayed);
    await relayed.reload();
    await relayed.locator('.answer .facts').getByText('stopped').waitFor();
    t.equal(await proseOf(relayed), atEnd, 'what is stored is what was shown');
    await relayed.close();
  });

  await t.test('what had come of an answer that cannot be resumed is kept, and it can be continued', async (t) => {
    await page.route('**/v1/chat/completions', async (route) => {
      const delta = { content: 'Half of an' };
      const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
      await route.fulfill({ status: 200, contentType: 'text/event-stream', body });
    });
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await ask(page, 'Break off');
    await page.getByText('The connection broke').waitFor();
    t.equal((await answers.locator('.prose').textContent())?.trim(), 'Half of an');
    t.match(await page.getByRole('alert').textContent(), /cannot be reached/);
    await page.unroute('**/v1/chat/completions');
    await limitAnswers('5');
    await answers.getByRole('button', { name: 'Continue' }).click();
    await answers.getByText('2/2').waitFor();
    await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
    t.match(await answers.locator('.prose').textContent(), /^Half of an/);
  });

  await t.test('everything by keyboard', async (t) => {
    await page.locator('h1').first().click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('turnip');
    await page.getByRole('option', { name: /turnip/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('What is a turnip?', { exact: true }).and(page.locator('.bubble')).waitFor();
    await page.keyboard.press('Control+Shift+O');
    await page.getByRole('heading', { name: /Hello, ada/ }).waitFor();
    t.equal(await page.evaluate(() => document.activeElement?.id), 'composer');
  });

  await t.test('a conversation is renamed, exported, and erased', async (t) => {
    const row = page.getByRole('link', { name: 'What is a turnip?' });
    await row.hover();
    await page.getByRole('button', { name: 'Actions for What is a turnip?' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Rename' }).fill('Roots');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Roots' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Roots' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).click();
    t.match((await download).suggestedFilename(), /^conversations-.*\.md$/);
    await page.getByRole('button', { name: 'Actions for Roots' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'Roots' }).waitFor({ state: 'detached' });
  });

  await t.test('a temporary chat is not listed', async (t) => {
    await page.getByRole('button', { name: 'Temporary chat' }).click();
    await limitAnswers('5');
    await ask(page, 'Off the record');
    await page.reload();
    await page.getByRole('link', { name: 'Go on for long' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Off the record' }).count(), 0);
  });

  await t.test('the account gets a new key after a question, and the one before stops', async (t) => {
    const issue = async (): Promise<string> => {
      await page.getByRole('button', { name: administrator.username }).click();
      await page.getByRole('menuitem', { name: 'New API key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'New API key' }).click();
      const shown = page.getByRole('dialog', { name: 'Your API key' });
      const key = (await shown.getByTestId('secret').textContent()) ?? '';
      await shown.getByRole('button', { name: 'Close' }).click();
      await shown.waitFor({ state: 'detached' });
      return key;
    };
    const statusOf = async (key: string): Promise<number> => {
      const answer = await fetch(`${server.url}/api/v1/auth/whoami`, { headers: { authorization: `Bearer ${key}` } });
      return answer.status;
    };
    const first = await issue();
    t.equal(await statusOf(first), 200);
    const second = await issue();
    t.strictSame([await statusOf(first), await statusOf(second)], [401, 200]);
  });

  await t.test('signing out ends the session and leads to the form', async (t) => {
    const [cookie] = await context.cookies();
    await page.getByRole('button', { name: administrator.username }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/login');
    const answer = await fetch(`${server.url}/api/v1/auth/whoami`, { headers: { authorization: `Bearer ${cookie?.value}` } });
    t.equal(answer.status, 401);
    await page.goto('/chat');
    await page.waitForURL('**/login?next=%2Fchat');
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});
