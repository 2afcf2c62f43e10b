/** /chat, /login and /admin, which load before sign-in, and the files that they share. What they show comes from the API. */

import { join } from 'node:path';
import Type from 'typebox';
import { defineErrors } from '../../platform/errors/define-errors.ts';
import { HttpError } from '../../platform/http/errors.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { fileRoute, pageRoutes } from '../../platform/http/static/static-routes.ts';
import { CHAT_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.ts';

export const PAGES_NOT_BUILT =
  'The pages are not built here: run `npm start`, or `node scripts/build.mjs --web` and load the page again. The API works without them.';

const tag = 'Pages';
const PAGES = [
  { path: '/chat', index: 'chat.html', headers: CHAT_HEADERS, summary: 'The chat, as a page' },
  {
    path: '/login',
    index: 'login.html',
    headers: PAGE_HEADERS,
    summary: 'Sign-in, registration and password reset, as a page',
  },
  {
    path: '/admin',
    index: 'admin.html',
    headers: PAGE_HEADERS,
    summary: 'The admin console, as a page; what it does needs a login',
  },
] as const;

const SANDBOX = {
  path: '/sandbox',
  index: 'sandbox.html',
  summary: 'The frame in which the chat shows pages, drawings and programs that a model wrote',
} as const;

/** Refusals of the pages. */
const pagesErrors = defineErrors('pages', {
  not_found: [404, 'The client does not ask for a page (`Accept: text/html`).', 'The chat is at /chat, the reference at /docs.'],
  pages_not_built: [503, 'The pages are not built.', 'Run `npm start`, or `node scripts/build.mjs --web`.'],
});

const { get } = routes({ tag: 'Pages', auth: 'open', errors: pagesErrors });

export function pageFolder(installRoot: string): string {
  return join(installRoot, 'build', 'web');
}

export function pagesRoutes(folder: string): Route[] {
  const missing = { ...pagesErrors.spec('pages_not_built'), detail: PAGES_NOT_BUILT };
  const shared = { auth: 'open', tag, headers: PAGE_HEADERS } as const;
  return [
    startRoute(),
    ...PAGES.flatMap((page) => pageRoutes({ ...shared, ...page, folder, missing })),
    ...pageRoutes({ ...shared, ...SANDBOX, folder, missing, headers: SANDBOX_HEADERS }),
    fileRoute({
      ...shared,
      folder: join(folder, 'assets'),
      path: '/assets',
      summary: 'Scripts, styles and pictures of the pages',
    }),
  ];
}

/** The bare address, as somebody types it: a browser is sent to the chat, and every other client gets what it got before there were pages. */
function startRoute(): Route {
  return get('/', {
    summary: 'Sends a browser to the chat',
    responses: { 302: Type.String({ description: 'The chat stands at the path in Location.' }) },
    errors: ['not_found'],
    handle: ({ headers }) => {
      const vary = { vary: 'Accept' };
      if (asksForPage(headers.get('accept')))
        return { kind: 'bytes', status: 302, headers: { ...vary, location: '/chat' }, body: '' };
      throw new HttpError(404, 'not_found', 'No handler is registered for GET /. The chat is at /chat, the reference at /docs.', {
        headers: vary,
      });
    },
  });
}

/** Only what names the type: a wildcard is what programs send. */
function asksForPage(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))/i.test(accept ?? '');
}
