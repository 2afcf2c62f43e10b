/** Sign-in at an OpenID Connect provider. A browser comes here by navigation: it gets redirects, a program gets JSON. */
import Type from 'typebox';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { ownAccount } from '../accounts/access-check.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { DeviceCookie } from '../credentials/device-cookie.ts';
import { sessionCookie } from '../credentials/session-cookie.ts';
import { identityError, identityErrors } from '../errors.ts';
import { endedFlowCookie, flowCookie, readFlowCookie } from '../oidc/flow-cookie.ts';
import type { Departure, OidcSignIn } from '../oidc/oidc-sign-in.ts';
import { MAX_RETURN_LENGTH } from '../oidc/return-path.ts';
import { Time, timeOf } from '../schemas.ts';

const LOGIN_PAGE = '/login';
const MAX_PARAMETER = 8192;
const ReturnTo = Type.String({
  maxLength: MAX_RETURN_LENGTH,
  description: 'Path of this server to go to afterwards; /chat by default.',
});
const Parameter = Type.Optional(Type.String({ maxLength: MAX_PARAMETER }));
const departureErrors = [
  'invalid_return_to',
  'oidc_not_configured',
  'oidc_provider_failed',
  'oidc_provider_unreachable',
] as const;
const arrivalErrors = [
  'oidc_sign_in_failed',
  'oidc_not_authorized',
  'oidc_not_configured',
  'account_disabled',
  'name_taken',
  'oidc_provider_failed',
  'oidc_provider_unreachable',
  'no_account',
  'invalid_credential',
  'too_many_attempts',
] as const;
export const OIDC_START = '/api/v1/auth/oidc/start';

const { get, post, del } = routes({ tag: 'Account', auth: 'viewer', errors: identityErrors });

/** `oidc` is undefined where no provider is configured: the routes are there all the same. */
export function oidcRoutes(oidc: OidcSignIn | undefined, devices: DeviceCookie): Route[] {
  return [...signInRoutes(oidc, devices), ...linkRoutes(oidc)];
}

function signInRoutes(oidc: OidcSignIn | undefined, devices: DeviceCookie): Route[] {
  return [
    get(OIDC_START, {
      auth: 'open',
      summary: 'Send the browser to the sign-in provider',
      description: `A browser that cannot go on gets ${LOGIN_PAGE}?error=CODE instead of an error body.`,
      query: Type.Object({ return_to: Type.Optional(ReturnTo) }),
      responses: { 303: Type.Null() },
      errors: departureErrors,
      handle: (context) =>
        orLoginPage(context, async () => {
          const departure = await required(oidc).depart(context.query.return_to, undefined);
          return redirect(departure.url.href, [flowCookie(context, departure.sealed)]);
        }),
    }),
    get('/api/v1/auth/oidc/callback', {
      auth: 'open',
      summary: 'Where the sign-in provider sends the browser back to: opens the session and goes on',
      description: `A browser that cannot go on gets ${LOGIN_PAGE}?error=CODE instead of an error body.`,
      query: Type.Object({ code: Parameter, state: Parameter, iss: Parameter, error: Parameter }),
      responses: { 303: Type.Null() },
      errors: arrivalErrors,
      handle: (context) => orLoginPage(context, () => arrive(required(oidc), devices, context)),
    }),
  ];
}

function linkRoutes(oidc: OidcSignIn | undefined): Route[] {
  const path = '/api/v1/users/me/links';
  const Link = Type.Object({ issuer: Type.String(), subject: Type.String(), created_at: Time });
  return [
    get(path, {
      scope: 'account:manage',
      summary: 'Accounts at the sign-in provider that sign in to the caller’s account',
      answer: Type.Object({ data: Type.Array(Link) }),
      errors: ['no_account', 'oidc_not_configured'],
      handle: async (context) => {
        const links = await required(oidc).links(auditSource(context));
        const data = links.map(({ issuer, subject, created_at }) => ({ issuer, subject, created_at: timeOf(created_at) }));
        return { data };
      },
    }),
    post(path, {
      scope: 'account:manage',
      summary: 'Begin to link the caller’s account to one at the sign-in provider',
      description: 'The browser goes to `url` next, with the cookie of this answer and that of its session.',
      body: Type.Object({ return_to: Type.Optional(ReturnTo) }),
      bodyOptional: true,
      responses: { 200: Type.Object({ url: Type.String() }) },
      errors: [...departureErrors, 'no_account'],
      handle: async (context) => {
        const { userId } = ownAccount(context.caller);
        const { url, sealed }: Departure = await required(oidc).depart(context.body?.return_to, userId);
        return json(200, { url: url.href }, { 'set-cookie': [flowCookie(context, sealed)], 'cache-control': 'no-store' });
      },
    }),
    del(path, {
      scope: 'account:manage',
      summary: 'Unlink the caller’s account from the sign-in provider',
      description: 'Only what its owner linked: an account that the provider made stays with it.',
      errors: ['no_account', 'oidc_not_configured', 'link_not_found', 'last_superadmin'],
      handle: async (context) => {
        await required(oidc).unlink(auditSource(context));
      },
    }),
  ];
}

async function arrive(oidc: OidcSignIn, devices: DeviceCookie, context: RequestContext): Promise<Reply> {
  const query = new URLSearchParams(context.query as Record<string, string>).toString();
  const userAgent = context.headers.get('user-agent') ?? '';
  const client = { source: auditSource(context), userAgent, devices: devices.read(context) };
  const { returnTo, session } = await oidc.arrive(query, readFlowCookie(context), client);
  const cookies = [endedFlowCookie(context)];
  if (session !== undefined) {
    cookies.push(sessionCookie(context, session.token, Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1000))));
    cookies.push(devices.issue(context, session.user.id));
  }
  return redirect(returnTo, cookies);
}

function redirect(location: string, cookies: readonly string[] = []): Reply {
  // The address that the browser comes from holds a code: it is not told to the next page.
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'set-cookie': cookies };
  return { kind: 'bytes', status: 303, headers, body: '' };
}

/** The page says in its own words what a code means; texts from elsewhere do not get into it. */
async function orLoginPage({ headers }: RequestContext, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const isBrowser = headers.get('accept')?.includes('text/html') === true;
    if (!isBrowser || !(error instanceof DomainError)) throw error;
    const reason = typeof error.extra['reason'] === 'string' ? `&reason=${encodeURIComponent(error.extra['reason'])}` : '';
    return redirect(`${LOGIN_PAGE}?error=${error.code}${reason}`);
  }
}

function required(oidc: OidcSignIn | undefined): OidcSignIn {
  if (oidc !== undefined) return oidc;
  throw identityError('oidc_not_configured', 'No sign-in provider is configured here; set identity.oidc.issuer.');
}
