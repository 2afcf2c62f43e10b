/** The sign-in page: the first account, the provider's button, reset by message and token, and the look that a tenant chose. */
import t from 'tap';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { administrator, bearerOf, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

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

  t.strictSame(faults, []);
  t.strictSame(guest.faults, []);
});
