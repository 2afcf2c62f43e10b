/** The sign-in page: the first account, the provider's button, reset by message and token, and the look that a tenant chose. */
import t from 'tap';
import { post } from '../http.ts';
import { chatModel, startServer } from '../server.ts';
import { administrator, ask, bearerOf, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

/** A JPEG of one colour. */
async function picture(): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  return sharp({ create: { width: 300, height: 60, channels: 3, background: '#8a1c3c' } })
    .jpeg()
    .toBuffer();
}

t.test('the sign-in page', { skip: whyNoBrowser() }, async (t) => {
  const env = {
    SVC_SMTP_HOST: '127.0.0.1',
    SVC_SMTP_PORT: '1',
    SVC_SMTP_FROM: 'svc@example.com',
    SVC_IDENTITY_OIDC_ISSUER: 'http://127.0.0.1:1',
    SVC_IDENTITY_OIDC_CLIENT_ID: 'svc',
    SVC_IDENTITY_OIDC_CLIENT_SECRET: 'a secret of tests',
    SVC_IDENTITY_OIDC_REDIRECT_URL: 'http://127.0.0.1:1/api/v1/auth/oidc/callback',
    SVC_IDENTITY_OIDC_DEFAULT_ACCESS: 'default:viewer',
    SVC_IDENTITY_OIDC_LABEL: 'Example <b>Login</b>',
  };
  const server = await startServer(t, { env });
  const browser = await openBrowser(t);
  // Colours change at once.
  const { page, context, faults } = await openPage(browser, server.url, { reducedMotion: 'reduce' });
  const dialog = page.getByRole('dialog');

  await t.test('it says that the first account becomes superadmin', async (t) => {
    await page.goto('/login');
    await page.getByText('The first one becomes superadmin and switches sign-in on for everyone.').waitFor();
    await register(page);
    const who = await fetch(`${server.url}/api/v1/auth/whoami`, { headers: await bearerOf(context) });
    t.match(await who.json(), { role: 'superadmin', user: { username: administrator.username } });
  });

  const bearer = await bearerOf(context);
  const guest = await openPage(browser, server.url);

  await t.test('the provider has a button, whose text is text, and a failure there is told', async (t) => {
    await guest.page.goto('/login?error=oidc_provider_unreachable');
    await guest.page.getByText('did not let you in (oidc_provider_unreachable)').waitFor();
    const link = guest.page.getByRole('link', { name: 'Sign in with Example <b>Login</b>' });
    t.match(await link.getAttribute('href'), /^\/api\/v1\/auth\/oidc\/start\?return_to=/);
    await guest.page.goto('/login?error=%3Cscript%3E');
    await guest.page.getByRole('button', { name: 'Sign in' }).waitFor();
    t.equal(await guest.page.getByRole('alert').count(), 0);
  });

  await t.test('a token is asked for by e-mail, and the link in the message leads to the form that takes it', async (t) => {
    await guest.page.goto('/login');
    await guest.page.getByRole('tab', { name: 'Reset password' }).click();
    await guest.page.getByLabel('Name or email').fill('whoever');
    await guest.page.getByRole('button', { name: 'Send me a reset token' }).click();
    await guest.page.getByText('If there is such an account').waitFor();
    const user = await post(`${server.url}/api/v1/identity/users`, { username: 'bob', role: 'viewer' }, bearer);
    const id = String(user.json?.['id']);
    const issued = await post(`${server.url}/api/v1/identity/users/${id}/password-reset`, undefined, bearer);
    await guest.page.goto(`/login#reset=${String(issued.json?.['token'])}`);
    await guest.page.reload();
    await guest.page.getByLabel('New password').fill('another horse battery');
    await guest.page.getByRole('button', { name: 'Set password' }).click();
    await guest.page.getByText('The new password is set').waitFor();
    t.equal(new URL(guest.page.url()).hash, '', 'a token that was used does not stay in the address');
    await guest.page.getByLabel('Name or email').fill('bob');
    await guest.page.getByLabel('Password', { exact: true }).fill('another horse battery');
    await guest.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await guest.page.waitForURL('**/chat');
  });

  await t.test('a tenant’s name, colours, words and logo are previewed, saved, and shown before sign-in', async (t) => {
    await openScreen(page, 'branding', 'Branding');
    const accent = () => page.evaluate(() => getComputedStyle(document.querySelector('.button.main') as Element).backgroundColor);
    const before = await accent();
    await page.getByLabel('Colour on light pages', { exact: true }).fill('#8a1c3c');
    await page.waitForFunction(
      (old) => getComputedStyle(document.querySelector('.button.main') as Element).backgroundColor !== old,
      before,
    );
    await page.getByLabel('Name', { exact: true }).fill('Red Research');
    await page.getByLabel('Words of welcome').fill('Ask the <b>library</b>.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg onload="window.ran=1"/>') });
    await page.getByRole('alert').getByText('SVG is not taken').waitFor();
    await page.locator('input[type="file"]').setInputFiles({ name: 'logo.jpg', mimeType: 'image/jpeg', buffer: await picture() });
    await page.getByRole('button', { name: 'Remove the logo' }).waitFor();
    await page.getByLabel('Colour on light pages', { exact: true }).fill('#ffe14d');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('choose a darker one').waitFor();
    await openScreen(page, 'users', 'Users');
    await page.waitForFunction(
      () => getComputedStyle(document.querySelector('.button.main') as Element).backgroundColor === 'rgb(138, 28, 60)',
    );
    t.equal(await page.title(), 'Users · Red Research');
    await page.goto('/chat');
    await page.waitForFunction(() => document.title === 'New chat · Red Research');
    const stranger = await openPage(browser, server.url);
    await stranger.page.goto('/login');
    await stranger.page.getByRole('img', { name: 'Red Research' }).waitFor();
    await stranger.page.waitForFunction(() => document.title === 'Red Research');
    await stranger.page.getByText('Ask the <b>library</b>.').waitFor();
    const loaded = await stranger.page.getByRole('img').evaluate((image) => (image as HTMLImageElement).naturalWidth);
    t.equal(loaded, 300);
    t.strictSame(stranger.faults, []);
    await stranger.context.close();
    await openScreen(page, 'branding', 'Branding');
    await page.getByRole('button', { name: 'Remove the logo' }).click();
    await page.getByRole('button', { name: 'Remove the logo' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'As the product', exact: true }).last().click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).first().waitFor();
    t.equal(await dialog.count(), 0);
  });

  await t.test('the page follows what the system says of contrast, and of colours that it forces', async (t) => {
    const contrasts = () => page.evaluate(() => document.documentElement.dataset['theme'] === 'contrast');
    t.equal(await contrasts(), false);
    await page.emulateMedia({ contrast: 'more' });
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'contrast');
    await page.emulateMedia({ contrast: 'no-preference' });
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === undefined);
    await page.emulateMedia({ forcedColors: 'active' });
    await openScreen(page, 'users', 'Users');
    const edge = () =>
      page
        .locator('.badge')
        .first()
        .evaluate((badge) => getComputedStyle(badge).borderTopWidth);
    t.equal(await edge(), '1px', 'what a colour tells has an edge');
    await page.emulateMedia({ forcedColors: 'none' });
    t.equal(await edge(), '0px');
  });

  await t.test('the page asks the default model, whatever its name', async () => {
    await page.route('**/v1/models', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: { id: string; default?: boolean }[] };
      const [known] = body.data;
      await route.fulfill({
        response: answer,
        json: { ...body, data: [{ ...known, id: 'a-first', default: undefined }, ...body.data] },
      });
    });
    await page.goto('/chat');
    await page.evaluate(() => localStorage.removeItem('svc.model'));
    await page.reload();
    await page.locator('.model-name', { hasText: chatModel }).waitFor();
    await page.unroute('**/v1/models');
  });

  const ended = page.getByRole('dialog', { name: 'Your session has ended' });
  const signInAgain = async (secret = administrator.password): Promise<void> => {
    await ended.getByLabel('Password', { exact: true }).fill(secret);
    await ended.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const composer = page.getByLabel('Message', { exact: true });
  const bubble = (text: string) => page.locator('.bubble', { hasText: text });

  await t.test('sending with an ended session asks to sign in beside it, and goes on in the same conversation', async (t) => {
    await page.route('**/v1/chat/completions', (route) =>
      route.continue({ postData: JSON.stringify({ ...(route.request().postDataJSON() as object), max_tokens: 8 }) }),
    );
    await page.goto('/chat');
    await ask(page, 'Before the end');
    const address = page.url();
    await context.clearCookies();
    await composer.fill('Behind the end');
    await composer.press('Enter');
    await signInAgain('wrong horse battery');
    await ended.getByText('Name or password is not right.').waitFor();
    t.match(await page.evaluate(() => sessionStorage.getItem('svc.draft')), /Behind the end/, 'a reload would not lose it');
    await signInAgain();
    await ended.waitFor({ state: 'detached' });
    await bubble('Behind the end').waitFor();
    await page.locator('.answer').nth(1).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    t.equal(page.url(), address);
    t.equal(await composer.inputValue(), '');
    t.equal(await bubble('Behind the end').count(), 1);
  });

  await t.test('whoever does not sign in keeps what was written, and may later', async (t) => {
    await context.clearCookies();
    await composer.fill('Not now');
    await composer.press('Enter');
    await ended.getByRole('button', { name: 'Close' }).click();
    await ended.waitFor({ state: 'detached' });
    await page.waitForFunction(() => [...document.querySelectorAll('textarea')].some(({ value }) => value === 'Not now'));
    t.equal(await composer.inputValue(), 'Not now');
    await page.getByRole('alert').getByRole('button', { name: 'Sign in' }).click();
    await signInAgain();
    await ended.waitFor({ state: 'detached' });
    await composer.press('Enter');
    await bubble('Not now').waitFor();
    await page.locator('.answer').nth(2).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  });

  await t.test('another account that signs in there gets nothing of the first one', async (t) => {
    const eve = { username: 'eve', role: 'viewer', password: 'another horse battery' };
    await page.request.post('/api/v1/identity/users', { data: eve });
    await context.clearCookies();
    await composer.fill('A secret of ada');
    await composer.press('Enter');
    await ended.getByLabel('Name or email').fill(eve.username);
    const isLoaded = page.waitForEvent('load');
    await signInAgain(eve.password);
    await isLoaded;
    await page.getByRole('button', { name: 'eve' }).waitFor();
    t.equal(await composer.inputValue(), '');
    t.equal(await page.locator('.bubble').count(), 0);
    const kept = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    t.notMatch(await kept(), /A secret of ada/);
    await page.unroute('**/v1/chat/completions');
  });

  await t.test('a form of the console goes on as well', async (t) => {
    await context.clearCookies();
    await page.request.post('/api/v1/auth/login', { data: administrator });
    await openScreen(page, 'keys', 'API keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name', { exact: true }).fill('late');
    await context.clearCookies();
    await form.getByRole('button', { name: 'Create' }).click();
    await signInAgain();
    t.match(await page.getByTestId('secret').textContent(), /^svc_/);
    const { keys = [], data = keys } = await (await page.request.get('/api/v1/identity/keys')).json();
    t.equal(data.filter(({ name }: { name: string }) => name === 'late').length, 1, 'it is made once');
  });

  t.strictSame(faults, []);
  t.strictSame(guest.faults, []);
});
