/** axe-core finds nothing on the sign-in page, the chat and its windows, in every theme; nothing is cut off at 320 pixels. */
import type { Locator } from 'playwright-core';
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { bringAxe, setDirection, testAccessible, testFocusSeen, testRightToLeft } from './accessible.ts';
import { ask, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

const answer = `## Heading

A [link](https://example.com), \`code\` and **bold** text [1].

\`\`\`ts
const answer: number = 42; // why
\`\`\`

| a | b |
| --- | ---: |
| 1 | 2 |

> quoted

مرحبا بالعالم، \`npm start\` يبدأ كل شيء

- أول
- ثان

![a picture](https://example.com/p.png)
`;

t.test('accessibility', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url, { reducedMotion: 'reduce' });
  await bringAxe(context);
  const inEachTheme = (t: Test, name: string): Promise<void> => testAccessible(t, page, name);

  await t.test('the sign-in page', async (t) => {
    await page.goto('/login');
    for (const tab of ['Create account', 'Sign in', 'Reset password']) {
      await page.getByRole('tab', { name: tab }).click();
      await inEachTheme(t, tab);
      await testFocusSeen(t, page, tab);
    }
    await register(page);
  });

  await t.test('the chat', async (t) => {
    await inEachTheme(t, 'an empty chat');
    await page.route('**/v1/chat/completions', async (route) => {
      const frames = [
        { choices: [{ index: 0, delta: { reasoning_content: 'Let me see.' }, finish_reason: null }] },
        { choices: [{ index: 0, delta: { content: answer }, finish_reason: null }] },
        {
          choices: [
            {
              index: 0,
              delta: { tool_calls: [{ index: 0, function: { name: 'look_up', arguments: '{"a":1}' } }] },
              finish_reason: null,
            },
          ],
        },
        {
          choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          citations: [
            {
              n: 1,
              document_id: 'd',
              source: 'report.pdf',
              page: 3,
              start: 0,
              end: 5,
              text: 'A passage.',
              score: 0.8,
              unsupported: [{ text: 'bold', start: answer.indexOf('bold'), end: answer.indexOf('bold') + 4 }],
            },
          ],
        },
      ];
      const body = `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`;
      await route.fulfill({ status: 200, contentType: 'text/event-stream', body });
    });
    await ask(page, 'Show me everything');
    await page.locator('.hljs-keyword').first().waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    await inEachTheme(t, 'a conversation');
    await testRightToLeft(t, page, 'a conversation');
    await testFocusSeen(t, page, 'a conversation');
    await page.locator('.citation-chip').click();
    await page.getByRole('dialog', { name: /report\.pdf/ }).waitFor();
    t.match(await page.getByRole('dialog').textContent(), /page 3.*A passage\./);
    await inEachTheme(t, 'a passage');
    await page.keyboard.press('Escape');
  });

  await t.test('each text goes the way of its language, and the page the way of the reader’s', async (t) => {
    const direction = (of: Locator) => of.evaluate((element) => getComputedStyle(element).direction);
    const arabic = page.locator('.prose p').filter({ hasText: 'مرحبا' });
    for (const way of ['ltr', 'rtl'] as const) {
      await setDirection(page, way);
      t.equal(await direction(page.locator('.prose h2')), 'ltr', 'English');
      t.equal(await direction(arabic), 'rtl', 'Arabic');
      t.equal(await direction(page.locator('.prose ul')), 'rtl', 'the marks of an Arabic list');
      t.equal(await direction(arabic.locator('code')), 'ltr', 'code in Arabic');
      t.equal(await direction(page.locator('.code-block pre')), 'ltr', 'code');
    }
    const centre = async (of: Locator): Promise<number> => {
      const { x = 0, width = 0 } = (await of.boundingBox()) ?? {};
      return x + width / 2;
    };
    const main = page.locator('main');
    t.ok((await centre(page.locator('.sidebar'))) > (await centre(main)), 'the list of conversations is on the right');
    t.ok((await centre(page.locator('.bubble'))) < (await centre(main)), 'questions are on the left');
    t.equal(await direction(page.getByLabel('Message', { exact: true })), 'rtl', 'an empty field goes as the page does');
    await page.getByLabel('Message', { exact: true }).fill('English');
    t.equal(await direction(page.getByLabel('Message', { exact: true })), 'ltr', 'a field goes as what is written in it');
    await page.getByLabel('Message', { exact: true }).fill('');
    t.ok((await centre(page.getByRole('button', { name: 'Send' }))) < (await centre(main)), 'sending is at the end of the line');
    await page.getByRole('button', { name: 'ada' }).click();
    const [menu, opener] = [page.getByRole('menu'), page.getByRole('button', { name: 'ada' })];
    const right = async (of: Locator): Promise<number> => 2 * (await centre(of)) - ((await of.boundingBox())?.x ?? 0);
    t.equal(Math.round(await right(menu)), Math.round(await right(opener)), 'a menu begins where its button does');
    await testRightToLeft(t, page, 'a menu');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 600, height: 700 });
    await setDirection(page, 'rtl');
    const sidebar = page.locator('.sidebar');
    await page.getByRole('button', { name: 'Conversations list' }).click();
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
    t.equal(Math.round(await right(sidebar)), 600, 'the drawer comes from the right');
    await page.locator('.scrim').click({ position: { x: 20, y: 300 } });
    await sidebar.and(page.locator(':not(.open)')).waitFor({ state: 'attached' });
    await page.waitForFunction(() => (document.querySelector('.sidebar')?.getBoundingClientRect().left ?? 0) >= innerWidth);
    t.pass('and goes there');
    await page.setViewportSize({ width: 1280, height: 800 });
    await setDirection(page, 'ltr');
  });

  await t.test('the windows of the chat', async (t) => {
    for (const [keys, name] of [
      ['Control+k', 'Search and commands'],
      ['Control+Shift+E', 'Instructions and parameters'],
    ] as const) {
      await page.keyboard.press(keys);
      await page.getByRole('dialog', { name }).waitFor();
      await inEachTheme(t, name);
      await page.keyboard.press('Escape');
    }
    await page.locator('main h1, main h2').first().click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await inEachTheme(t, 'keyboard shortcuts');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'link', exact: true }).click();
    await page.getByRole('dialog', { name: 'Open example.com?' }).waitFor();
    await inEachTheme(t, 'a link that leads away');
    await page.keyboard.press('Escape');
    await page.getByTitle('Choose a model').click();
    await page.getByRole('menuitemradio').first().waitFor();
    await inEachTheme(t, 'the choice of a model');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'ada' }).click();
    await inEachTheme(t, 'the menu of the account');
    await page.keyboard.press('Escape');
  });

  t.strictSame(faults, []);
});
