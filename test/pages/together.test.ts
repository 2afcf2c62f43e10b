/** Two models on one question, a message that waits for the connection, and tabs that agree. */
import t from 'tap';
import { startServer } from '../server.ts';
import { ask, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

t.test('the chat with two models, without a connection, and in two tabs', { skip: whyNoBrowser() }, async (t) => {
  const models = { 'tiny-chat': { arch: 'llama' }, 'tiny-rival': { arch: 'llama', seed: 7 } } as const;
  const server = await startServer(t, { models });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  page.setDefaultTimeout(60_000);
  const composer = page.getByLabel('Message', { exact: true });
  const bubble = (text: string) => page.getByText(text, { exact: true }).and(page.locator('.bubble'));
  await register(page);
  await page.getByRole('button', { name: 'Instructions and parameters' }).click();
  await page.getByLabel('Longest answer').fill('40');
  await page.getByRole('button', { name: 'Save' }).click();

  await t.test('two models answer side by side, and the reader goes on with one', async (t) => {
    await page.getByRole('button', { name: 'Compare with a second model' }).click();
    await page.getByRole('menuitemradio', { name: 'tiny-rival' }).click();
    await composer.fill('Which is better?');
    await page.keyboard.press('Enter');
    const sides = page.locator('.compared-side');
    await sides.nth(1).locator('.facts').waitFor();
    await sides.nth(0).locator('.facts').waitFor();
    t.match(await sides.nth(0).locator('.facts').textContent(), /^tiny-chat/);
    t.match(await sides.nth(1).locator('.facts').textContent(), /^tiny-rival/);
    const chosen = await sides.nth(1).locator('.prose').textContent();
    await sides.nth(1).getByRole('button', { name: 'Go on with this answer' }).click();
    await page.locator('.compared').waitFor({ state: 'detached' });
    t.equal(await page.locator('.answer .prose').textContent(), chosen);
    await page.locator('.answer .branches').waitFor();
    await page.reload();
    await page.locator('.answer .branches').waitFor();
    t.equal(await page.locator('.answer .prose').textContent(), chosen, 'the other one is a branch');
  });

  await t.test('a message that is written without a connection is sent later, once', async (t) => {
    await context.setOffline(true);
    await composer.fill('Sent from a tunnel');
    await page.keyboard.press('Enter');
    await page.getByText('Waits for the connection').waitFor();
    t.equal(await page.locator('.unsent .bubble').textContent(), 'Sent from a tunnel');
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await composer.fill('A new chat from a tunnel');
    await page.keyboard.press('Enter');
    await bubble('A new chat from a tunnel').waitFor();
    await context.setOffline(false);
    await page.locator('.unsent').waitFor({ state: 'detached' });
    await page.locator('.answer .facts').waitFor();
    t.equal(await page.locator('.bubble').count(), 1);
    await page.getByRole('link', { name: 'Which is better?' }).click();
    await bubble('Sent from a tunnel').waitFor();
    t.equal(await page.locator('.bubble').count(), 2);
    await page.locator('.answer .facts').nth(1).waitFor();
    t.equal(await page.evaluate(() => localStorage.getItem('svc.outbox')), null);
  });

  await t.test('a message that waits can be taken back', async (t) => {
    await context.setOffline(true);
    await composer.fill('Never mind');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Take back' }).click();
    t.equal(await composer.inputValue(), 'Never mind');
    await composer.fill('');
    await context.setOffline(false);
  });

  await t.test('tabs show the same list, titles and messages', async (t) => {
    const other = await context.newPage();
    other.setDefaultTimeout(60_000);
    await other.goto(page.url());
    await other.getByText('Sent from a tunnel', { exact: true }).and(other.locator('.bubble')).waitFor();
    await page.getByRole('button', { name: 'Actions for Which is better?' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Rename' }).fill('Better roots');
    await page.keyboard.press('Enter');
    await other.getByRole('heading', { level: 1, name: 'Better roots' }).waitFor();
    await other.getByRole('link', { name: 'Better roots' }).waitFor();
    await ask(page, 'Asked in the first tab');
    await other.getByText('Asked in the first tab', { exact: true }).and(other.locator('.bubble')).waitFor();
    const last = (await page.locator('.answer .prose').last().textContent()) ?? '';
    await other.waitForFunction((text) => [...document.querySelectorAll('.answer .prose')].at(-1)?.textContent === text, last);
    await page.getByRole('button', { name: 'Actions for Better roots' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await other.getByRole('link', { name: 'Better roots' }).waitFor({ state: 'detached' });
    await other.getByRole('heading', { name: /Hello, ada/ }).waitFor();
    t.pass();
    await other.close();
  });

  await t.test('what is marked of an answer is quoted', async (t) => {
    await page.getByRole('link', { name: 'A new chat from a tunnel' }).click();
    const answer = page.locator('.answer').last();
    await answer.hover();
    await answer.getByRole('button', { name: 'Quote' }).click();
    t.match(await composer.inputValue(), /^> .+\n\n$/s);
    await composer.fill('');
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});
