/** The OpenID Connect provider, spoken to with openid-client: authorization code with PKCE, state and nonce. */

import type { JWTVerifyGetKey } from 'jose';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { HttpClient } from '../../../platform/network/http-client.ts';
import type { RefusalReason } from '../credentials/refused-credential.ts';
import type { OidcConfig } from './oidc-config.ts';
import type { Claims } from './person.ts';
import { providerFailure } from './provider-failure.ts';
import type { SignInFlow } from './sign-in-flow.ts';

interface ProvenPerson {
  issuer: string;
  subject: string;
  /** Those of the ID token, and of the user info endpoint where the provider has one. */
  claims: Claims;
}

type Library = typeof import('openid-client');

interface ProvenToken {
  readonly issuer: string;
  readonly subject: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface Discovered {
  library: Library;
  configuration: Configuration;
}

const TIMEOUT_SECONDS = 10;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The provider's addresses and keys are read again after so long. */
const DISCOVERY_VALID_MS = 60 * 60 * 1000;
/** A key that is shared with the client could be its own forgery. */
const SIGNATURES = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** A provider that is down is asked again after so long, however many people want to sign in. */
const RETRY_MS = 2_000;

export class Provider {
  readonly #config: OidcConfig;
  /** It has no policy: the operator named the issuer, and the issuer names its endpoints, which may lie inside the network as it does. */
  readonly #client = new HttpClient();
  #keys: { readonly address: string; readonly find: JWTVerifyGetKey } | undefined;
  #discovery: { discovered: Promise<Discovered>; validUntil: number } | undefined;

  constructor(config: OidcConfig) {
    this.#config = config;
  }

  /** The address to which the browser goes. Throws `oidc_provider_unreachable` or `oidc_provider_failed`. */
  async authorizationUrl({ state, nonce, verifier }: SignInFlow): Promise<URL> {
    const { library, configuration } = await this.#discover();
    const { redirectUrl, scopes } = this.#config;
    return library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUrl.href,
      scope: scopes,
      response_type: 'code',
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Exchanges the code that the browser brought and checks everything about the answer. Throws `oidc_sign_in_failed`, `oidc_provider_failed` or
   * `oidc_provider_unreachable`.
   */
  async exchange(query: string, { state, nonce, verifier }: SignInFlow): Promise<ProvenPerson> {
    const { library, configuration } = await this.#discover();
    const url = new URL(this.#config.redirectUrl);
    url.search = query;
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    try {
      const tokens = await library.authorizationCodeGrant(configuration, url, checks);
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('there is no ID token');
      const info = await this.#userInfo(library, configuration, tokens.access_token, claims.sub);
      return { issuer: claims.iss, subject: claims.sub, claims: { ...info, ...claims } };
    } catch (error) {
      throw providerFailure(error);
    }
  }

  /** Returns whom a signed access token is of, if it is for this audience. Throws what the provider cannot be asked with. */
  async verifyAccessToken(token: string, audience: string): Promise<ProvenToken | RefusalReason> {
    const { configuration } = await this.#discover();
    const { issuer, jwks_uri: address } = configuration.serverMetadata();
    if (address === undefined) return 'bad_signature';
    const jose = await import('jose');
    if (this.#keys?.address !== address) {
      const fetch = fetchBy(this.#client);
      const customFetch: typeof globalThis.fetch = (url, init) => fetch(String(url), { ...init, body: null } as never);
      this.#keys = { address, find: jose.createRemoteJWKSet(new URL(address), { [jose.customFetch]: customFetch }) };
    }
    try {
      const checks = { issuer, audience, algorithms: SIGNATURES, requiredClaims: ['sub', 'exp'], clockTolerance: 5 };
      const { payload } = await jose.jwtVerify(token, this.#keys.find, checks);
      return { issuer, subject: payload.sub ?? '', expiresAt: (payload.exp ?? 0) * 1000 };
    } catch (error) {
      if (error instanceof jose.errors.JWTExpired) return 'expired';
      if (error instanceof jose.errors.JWKSTimeout || !(error instanceof jose.errors.JOSEError)) throw providerFailure(error);
      return 'bad_signature';
    }
  }

  async #userInfo(library: Library, configuration: Configuration, accessToken: string, subject: string): Promise<object> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return library.fetchUserInfo(configuration, accessToken, subject);
  }

  async #discover(): Promise<Discovered> {
    const now = Date.now();
    if (this.#discovery === undefined || this.#discovery.validUntil <= now) {
      const entry = { discovered: this.#read(), validUntil: now + DISCOVERY_VALID_MS };
      this.#discovery = entry;
      entry.discovered.catch(() => {
        entry.validUntil = Date.now() + RETRY_MS;
      });
    }
    try {
      return await this.#discovery.discovered;
    } catch (error) {
      throw providerFailure(error);
    }
  }

  async #read(): Promise<Discovered> {
    // Loaded with the first sign-in: most nodes have no provider.
    const library = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.#config;
    const configuration = await library.discovery(issuer, clientId, undefined, authentication(library, clientSecret), {
      timeout: TIMEOUT_SECONDS,
      [library.customFetch]: fetchBy(this.#client),
      execute: [
        // Signatures are checked although the token came over TLS: a proxy between may end it.
        library.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
      ],
    });
    return { library, configuration };
  }
}

/** As fetch does it, whose failures openid-client knows. */
function fetchBy(client: HttpClient): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    try {
      const given = body instanceof URLSearchParams ? body.toString() : (body as string | Uint8Array | null | undefined);
      const answer = await client.request(new URL(url), { method, headers, body: given ?? undefined, signal });
      const bytes = await answer.bytes(MAX_ANSWER_BYTES);
      const fields = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: answer.status, headers: fields });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new TypeError('fetch failed', { cause });
    }
  };
}

/** The way that the provider takes; basic, where it does not say (RFC 8414 section 2). */
function authentication(library: Library, secret: string): ClientAuth {
  const basic = library.ClientSecretBasic(secret);
  const post = library.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}
