/** The test bed of an MCP server of somebody else on loopback, whose tools change as the test says, and a provider that people sign in at. */
import { createHash, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import Type from 'typebox';
import { HttpError } from '../../../platform/http/errors.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import { McpEndpoint, type McpLibrary } from '../mcp-server/mcp-endpoint.ts';
import { mcpRoutes } from '../mcp-server/mcp-routes.ts';

interface ForeignTool {
  readonly name: string;
  readonly description?: string;
  readonly schema?: object;
  /** It asks the person before it runs; `answer` is then what it got. */
  readonly asks?: { readonly message: string; readonly schema: object };
  run?(args: Record<string, unknown>): Promise<unknown> | unknown;
}

export interface ForeignServer {
  readonly url: string;
  /** The tools that it offers from now on. */
  offer(tools: readonly ForeignTool[]): void;
  /** The Authorization of each request. */
  readonly credentials: (string | undefined)[];
  /** Only these are let in; undefined: everybody is. */
  admit(tokens: readonly string[] | undefined): void;
  /** People sign in at the provider of that server from now on. */
  trust(other: Pick<ForeignServer, 'url'>): void;
  /** The requests of the token endpoint. */
  readonly grants: URLSearchParams[];
  stop(): Promise<void>;
}

export async function openForeign(t: Test, tools: readonly ForeignTool[]): Promise<ForeignServer> {
  let offered = tools;
  let admitted: readonly string[] | undefined;
  const credentials: (string | undefined)[] = [];
  const endpoint = new McpEndpoint({
    newServer: (library) => () => serverOf(library, () => offered),
    now: Date.now,
    onError: () => undefined,
  });
  const provider = new Provider(() => bed.url);
  const served = mcpRoutes(endpoint, undefined).filter(({ path }) => path === '/mcp');
  const challenge = (url: string) => `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`;
  const bed = await openTestBed(t, [...served, ...provider.routes()], {
    authenticator: {
      state: () => 'off',
      authenticate: ({ headers, path }) => {
        if (path !== '/mcp') return ANONYMOUS;
        const authorization = headers.get('authorization');
        credentials.push(authorization);
        if (admitted === undefined || admitted.some((token) => authorization === `Bearer ${token}`)) return ANONYMOUS;
        throw new HttpError(401, 'invalid_credential', 'Who is it?', { headers: { 'www-authenticate': challenge(bed.url) } });
      },
    },
  });
  t.teardown(() => endpoint.close());
  return {
    url: `${bed.url}/mcp`,
    offer: (next) => {
      offered = next;
    },
    credentials,
    admit: (tokens) => {
      admitted = tokens;
    },
    trust: ({ url }) => {
      provider.trusted = new URL(url).origin;
    },
    grants: provider.grants,
    stop: async () => {
      await endpoint.close();
      await bed.server.close();
    },
  };
}

function serverOf(library: McpLibrary, tools: () => readonly ForeignTool[]) {
  const server = new library.Server({ name: 'foreign', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: tools().map(({ name, description = 'Does something.', schema = { type: 'object' } }) => ({
      name,
      description,
      inputSchema: schema as { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools().find(({ name }) => name === params.name);
    const answer = library.inputResponse(context.mcpReq.inputResponses, 'answer');
    if (tool?.asks !== undefined && answer.kind !== 'elicit') {
      const { message, schema } = tool.asks;
      const question = library.inputRequired.elicit({ message, requestedSchema: schema as never });
      return library.inputRequired({ inputRequests: { answer: question } });
    }
    const value = await tool?.run?.({ ...params.arguments, ...(tool.asks !== undefined && { answer }) });
    return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value ?? 'done') }] };
  });
  return server;
}

/** OAuth 2.1 with dynamic registration, whose users consent to everything: the code is given by the test. */
class Provider {
  readonly grants: URLSearchParams[] = [];
  /** Undefined: the server’s own. */
  trusted: string | undefined;
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  routes(): Route[] {
    const free = { auth: 'open', tag: 'OAuth', summary: 'x', responses: { 200: Type.Unknown(), 201: Type.Unknown() } } as const;
    const read = (path: string, body: () => object): Route =>
      route({ ...free, method: 'GET', path, maxBody: 0, handle: () => json(200, body()) });
    return [
      read('/.well-known/oauth-protected-resource/mcp', () => ({
        resource: `${this.#url()}/mcp`,
        authorization_servers: [this.trusted ?? this.#url()],
      })),
      read('/.well-known/oauth-authorization-server', () => ({
        issuer: this.#url(),
        authorization_endpoint: `${this.#url()}/authorize`,
        token_endpoint: `${this.#url()}/token`,
        registration_endpoint: `${this.#url()}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      })),
      route({
        ...free,
        method: 'POST',
        path: '/register',
        maxBody: 65_536,
        handle: ({ body }) =>
          json(201, {
            ...JSON.parse(Buffer.from(body as Uint8Array).toString()),
            client_id: randomUUID(),
            token_endpoint_auth_method: 'none',
          }),
      }),
      route({
        ...free,
        method: 'POST',
        path: '/token',
        maxBody: 65_536,
        handle: ({ body }) => {
          const grant = new URLSearchParams(Buffer.from(body as Uint8Array).toString());
          this.grants.push(grant);
          return json(200, { access_token: `token-for-${grant.get('code')}`, token_type: 'Bearer', expires_in: 3_600 });
        },
      }),
    ];
  }
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
