/** For tests: a real OpenID Connect provider on loopback, whose users consent to everything. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Test } from 'tap';

export const CLIENT = { id: 'svc', secret: 'a secret that only the two know' };
/** Browsers of the tests know where the server really listens. */
export const REDIRECT_URL = 'http://127.0.0.1:1/api/v1/auth/oidc/callback';

export interface LocalProvider {
  issuer: string;
  /** Claims of people by subject. */
  people: Map<string, Record<string, unknown>>;
  /** Who sits before the browser. */
  signInAs(subject: string): void;
  /** A signed one, as a client gets it that names the resource. */
  accessToken(subject: string, resource: string, seconds?: number): Promise<string>;
  stop(): Promise<void>;
}

export async function startProvider(t: Test): Promise<LocalProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Record<string, unknown>>();
  let current = '';
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [REDIRECT_URL] }],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: async (_context: unknown, accountId: string) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...people.get(accountId) }),
    }),
  });
  const callback = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, request, response, current);
    else callback(request, response);
  });
  const stop = (): Promise<void> => close(server);
  t.teardown(stop);
  return {
    issuer,
    people,
    stop,
    accessToken: async (accountId, resource, expiresIn = 600) => {
      const client = await provider.Client.find(CLIENT.id);
      const token = new provider.AccessToken({ accountId, client, scope: 'openid', gty: 'authorization_code', expiresIn });
      token.resourceServer = new provider.ResourceServer(resource, { audience: resource, accessTokenFormat: 'jwt', scope: '' });
      token.setAudience(resource);
      return await token.save();
    },
    signInAs: (subject) => {
      current = subject;
    },
  };
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId } });
  const grant = new provider.Grant({ accountId: session?.accountId ?? accountId, clientId: params.client_id });
  grant.addOIDCScope('openid email profile');
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
