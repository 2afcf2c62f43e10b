/** For tests: an OpenID Connect provider that answers whatever a test wants. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface HostileProvider {
  issuer: string;
  /** Called for the paths of the discovery document; what it does not answer is answered as a good provider would. */
  answer: (path: string, response: ServerResponse) => boolean;
  /** Members of the discovery document in place of the good ones. */
  metadata: Record<string, unknown>;
  /** The ID token of the next exchange. */
  idToken: string;
}

export type Claims = Record<string, unknown>;

const good = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const HEADER = { alg: 'RS256', kid: 'one', typ: 'JWT' };

export async function startHostileProvider(t: Test): Promise<HostileProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hostile: HostileProvider = { issuer, answer: () => false, metadata: {}, idToken: '' };
  server.on('request', (request, response: ServerResponse) => {
    request.resume();
    const path = request.url ?? '';
    if (hostile.answer(path, response)) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(documentOf(hostile, path)));
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return hostile;
}

function documentOf({ issuer, metadata, idToken }: HostileProvider, path: string): object {
  if (path === '/jwks') return { keys: [{ ...good.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] };
  if (path === '/token') return { access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: idToken };
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    ...metadata,
  };
}

export function signedToken(claims: Claims, header: Claims = HEADER): string {
  const text = unsigned(claims, header);
  return `${text}.${sign('sha256', Buffer.from(text), good.privateKey).toString('base64url')}`;
}

/** Says that the known key signed it, and another one did. */
export function forgedToken(claims: Claims): string {
  const text = unsigned(claims, HEADER);
  return `${text}.${sign('sha256', Buffer.from(text), other.privateKey).toString('base64url')}`;
}

export function unsignedToken(claims: Claims): string {
  return `${unsigned(claims, { alg: 'none' })}.`;
}

/** Signed with what the client knows too, as some libraries take it. */
export function symmetricToken(claims: Claims, secret: string): string {
  const text = unsigned(claims, { alg: 'HS256', kid: 'one' });
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

function unsigned(claims: Claims, header: Claims): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}
