/** The OpenID Connect provider, spoken to with openid-client: authorization code with PKCE, state and nonce. */
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { HttpClient } from '../../../platform/network/http-client.ts';
import type { OidcConfig } from './oidc-config.ts';
import type { Claims } from './person.ts';
import { providerFailure } from './provider-failure.ts';
import type { SignInFlow } from './sign-in-flow.ts';

interface ProvenPerson {
  issuer: string;
  subject: string;
  /** Of the ID token, and of the user info endpoint where the provider has one. */
  claims: Claims;
}

type Library = typeof import('openid-client');

interface Discovered {
  library: Library;
  configuration: Configuration;
}

const TIMEOUT_SECONDS = 10;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The provider's addresses and keys are read again after so long. */
const DISCOVERY_VALID_MS = 60 * 60 * 1000;
/** A provider that is down is asked again after so long, however many people want to sign in. */
const RETRY_MS = 2_000;

export class Provider {
  readonly #config: OidcConfig;
  /** Without a policy: the operator named the issuer, and the issuer names its endpoints, which may lie inside the network as it does. */
  readonly #client = new HttpClient();
  #discovery: { discovered: Promise<Discovered>; validUntil: number } | undefined;

  constructor(config: OidcConfig) {
    this.#config = config;
  }

  /** Where the browser goes. Throws `oidc_provider_unreachable` or `oidc_provider_failed`. */
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

/** What the provider takes; basic, where it does not say (RFC 8414 section 2). */
function authentication(library: Library, secret: string): ClientAuth {
  const basic = library.ClientSecretBasic(secret);
  const post = library.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}
