/** Sign-up, login, password reset, and who the caller is. */
import Type from 'typebox';
import { isFromThisMachine } from '../../../platform/http/access/this-machine.ts';
import type { AuthenticationState } from '../../../platform/http/authenticator.ts';
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { named } from '../../../platform/schema/named.ts';
import { withAccounts } from '../accounts/account-service.ts';
import type { AttemptLimit, CountedAttempt } from '../accounts/attempt-limit.ts';
import type { ResetMail } from '../accounts/reset-mail.ts';
import type { Session, SignIn } from '../accounts/sign-in.ts';
import type { Users } from '../accounts/users.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { CallerLookup } from '../credentials/caller-lookup.ts';
import type { DeviceCookie } from '../credentials/device-cookie.ts';
import { sessionCookie } from '../credentials/session-cookie.ts';
import { identityError, identityErrors } from '../errors.ts';
import type { Invitations } from '../invitations/invitations.ts';
import {
  accountBody,
  Login,
  PasswordReset,
  Registration,
  ResetAnswer,
  ResetRequest,
  SessionOpened,
  timeOf,
  whoamiSchema,
} from '../schemas.ts';
import { OIDC_START } from './oidc-routes.ts';

interface AuthRouteDeps {
  users: Users;
  signIn: SignIn;
  callers: CallerLookup;
  attempts: AttemptLimit;
  devices: DeviceCookie;
  resetMail: ResetMail;
  state(): AuthenticationState;
  isRegistrationOpen: boolean;
  invitations: Invitations;
  useKinds: readonly UseKind[];
  /** The text of the button; undefined: no provider is configured. */
  oidcLabel: string | undefined;
  /** Whether reset tokens can be asked for by e-mail. */
  hasResetMail: boolean;
}

const { get, post } = routes({ tag: 'Account', auth: 'open', errors: identityErrors });

export function authRoutes(deps: AuthRouteDeps): Route[] {
  const { users, signIn, callers, devices, resetMail } = deps;
  return [
    post('/api/v1/auth/register', {
      summary: 'Make an account for oneself',
      description:
        'The first account of the installation becomes superadmin and switches authentication on for good. It is made on the machine itself, or with the ' +
        'set-up code from the log in `X-Svc-Setup-Code`. Later accounts are viewers of the tenant `default`, if `identity.self_registration` is open. An `invitation` brings its own tenant, role and groups, ' +
        'also where it is closed.',
      body: Registration,
      responses: { 201: SessionOpened },
      errors: [
        'server_busy',
        'invalid_credential',
        'weak_password',
        'setup_code_needed',
        'registration_closed',
        'forbidden',
        'invalid_invitation',
        'name_taken',
        'too_many_attempts',
        'account_service_unreachable',
      ],
      handle: async (context) => {
        const { username, password, email, tenant, invitation } = context.body;
        if (invitation === undefined) requireRegistration(deps, context);
        // By the address alone: each account that is made brings a device, whose own window would let any number of others follow.
        const counted = deps.attempts.countClient({ account: 'register', remoteAddress: context.remoteAddress });
        const guest = { username, password, email, tenant };
        const makeAccount = async (): Promise<Session> => {
          const user =
            invitation === undefined
              ? await users.register(guest, auditSource(context))
              : await deps.invitations.redeem(invitation, guest, auditSource(context));
          // Invitations are for many people in one place; accounts without one are limited.
          if (invitation !== undefined) counted.succeeded();
          return signIn.open(user, auditSource(context), userAgent(context));
        };
        return opened(devices, context, 201, await withAccounts(makeAccount()));
      },
    }),
    post('/api/v1/auth/login', {
      summary: 'Sign in with the name or the address of an account and its password',
      body: Login,
      responses: { 200: SessionOpened },
      errors: ['server_busy', 'invalid_credential', 'account_disabled', 'too_many_attempts', 'account_service_unreachable'],
      handle: async (context) => {
        const { username, password } = context.body;
        const client = { source: auditSource(context), userAgent: userAgent(context), devices: devices.read(context) };
        const session = signIn.signIn(username, password, client);
        return opened(devices, context, 200, await withAccounts(session));
      },
    }),
    post('/api/v1/auth/reset-password/request', {
      summary: 'Have a reset token sent to the e-mail address of an account',
      description: 'The answer is the same whether there is such an account or not. Needs `smtp.host`.',
      body: ResetRequest,
      answer: ResetAnswer,
      status: 202,
      errors: ['server_busy', 'too_many_attempts', 'mail_not_configured'],
      handle: (context) => {
        resetMail.request(context.body.username, auditSource(context), devices.read(context));
        return { detail: 'If there is such an account and it has an address, a message with a token is on its way.' };
      },
    }),
    post('/api/v1/auth/reset-password', {
      summary: 'Set a new password with a reset token, which works once',
      description: 'Ends all sessions of the account. An administrator issues the token (`svc user reset`).',
      body: PasswordReset,
      errors: ['server_busy', 'weak_password', 'invalid_reset_token', 'too_many_attempts', 'account_service_unreachable'],
      handle: async (context) => {
        const { token, password } = context.body;
        const counted = countClient(deps, 'reset', context);
        await withAccounts(users.usePasswordReset(token, password, auditSource(context)));
        counted.succeeded();
      },
    }),
    methodsRoute(deps),
    get('/api/v1/auth/whoami', {
      auth: 'viewer',
      summary: 'Who the caller is, and what the credential may be used for',
      answer: whoamiSchema(deps.useKinds),
      handle: ({ caller }) => callers.describe(caller),
    }),
  ];
}

const Methods = named(
  'SignInMethods',
  Type.Object({
    auth: Type.Enum(['off', 'enforce']),
    password: Type.Boolean({ description: 'Whether accounts sign in with a password: always.' }),
    oidc: Type.Union([
      Type.Object({ label: Type.String(), start: Type.String({ description: 'Path for the browser to go to.' }) }),
      Type.Null(),
    ]),
    reset_mail: Type.Boolean({
      description: 'Whether a reset token can be asked for by e-mail; else an administrator issues one.',
    }),
    registration: Type.Object({
      open: Type.Boolean({ description: 'Whether this caller can make an account without an invitation.' }),
      first_account: Type.Boolean({ description: 'The next account becomes superadmin.' }),
      setup_code_needed: Type.Boolean({ description: 'The set-up code of the log must come with it.' }),
    }),
  }),
);

/** For the login page, before anybody has signed in. */
function methodsRoute({ state, isRegistrationOpen, oidcLabel, hasResetMail }: AuthRouteDeps): Route {
  return get('/api/v1/auth/methods', {
    summary: 'How one can sign in here, for the login page',
    answer: Methods,
    headers: { 'cache-control': 'no-store' },
    handle: (context) => {
      const isFirst = state() === 'off';
      const isTrusted = isFromThisMachine(context) || isSetupAdmin(context.caller);
      const registration = {
        open: isFirst || isRegistrationOpen,
        first_account: isFirst,
        setup_code_needed: isFirst && !isTrusted,
      };
      const oidc = oidcLabel === undefined ? null : { label: oidcLabel, start: OIDC_START };
      const body = { auth: state(), password: true, oidc, reset_mail: hasResetMail, registration };
      return body;
    },
  });
}

/** Whoever makes the first account owns the installation, so a stranger on the network must not be faster than the operator. */
function requireRegistration({ state, isRegistrationOpen }: AuthRouteDeps, context: RequestContext): void {
  if (state() === 'enforce') {
    if (isRegistrationOpen) return;
    throw identityError('registration_closed', 'Accounts are made by administrators here; ask one.');
  }
  if (isFromThisMachine(context) || isSetupAdmin(context.caller)) return;
  throw identityError(
    'setup_code_needed',
    'The first account is made on the machine itself, or with the set-up code that the log shows at start in X-Svc-Setup-Code.',
  );
}

function isSetupAdmin(caller: Principal): boolean {
  return hasRole(caller, 'superadmin');
}

/** For what anybody may try, whatever account it is about. */
function countClient({ attempts, devices }: AuthRouteDeps, what: string, context: RequestContext): CountedAttempt {
  const { remoteAddress } = context;
  return attempts.countClient({ account: what, remoteAddress, device: devices.read(context)[0]?.id });
}

function opened(devices: DeviceCookie, context: RequestContext, status: number, { token, expiresAt, user }: Session): Reply {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000));
  const headers = {
    'set-cookie': [sessionCookie(context, token, maxAgeSeconds), devices.issue(context, user.id)],
    'cache-control': 'no-store',
  };
  return json(status, { token, expires_at: timeOf(expiresAt), user: accountBody(user) }, headers);
}

function userAgent({ headers }: RequestContext): string {
  return headers.get('user-agent') ?? '';
}
