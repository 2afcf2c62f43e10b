/** `/mcp`, and where clients learn which provider's tokens it takes (RFC 9728). */
import Type from 'typebox';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import type { ProtectedResource } from '../../identity/index.ts';
import { edgeError, edgeErrors } from '../errors.ts';
import type { McpEndpoint } from './mcp-endpoint.ts';

/** Arguments may hold a program or a page. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const PATH = '/mcp';

const Message = Type.Unknown({ description: 'A JSON-RPC message, or a stream of events that hold such.' });
const Refusal = named(
  'McpRefusal',
  Type.Object({
    jsonrpc: Type.String(),
    id: Type.Unknown(),
    error: Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
  }),
);
const RESPONSES = { 200: Message, 202: Type.Null(), 405: Refusal, 406: Refusal, 415: Refusal };
const Metadata = named(
  'ProtectedResource',
  Type.Object({
    resource: Type.String({ description: 'The audience that a token must be for.' }),
    authorization_servers: Type.Array(Type.String()),
    bearer_methods_supported: Type.Array(Type.String()),
    resource_name: Type.String(),
  }),
);

export const MCP_CORS_HEADERS = {
  accepted: ['accept', 'last-event-id', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
  exposed: ['mcp-session-id', 'www-authenticate'],
};

export function mcpRoutes(endpoint: McpEndpoint, resource: ProtectedResource | undefined): Route[] {
  const group = { tag: 'MCP', auth: 'viewer', scope: 'tools:use', errors: edgeErrors } as const;
  const challenge = resource && `Bearer resource_metadata="${resource.metadataUrl}"`;
  const { get, post, del } = routes(group);
  const shared = {
    responses: RESPONSES,
    errors: ['mcp_session_missing', 'mcp_session_not_found', 'client_closed'],
    ...(challenge !== undefined && { challenge }),
  } as const;
  return [
    post(PATH, {
      ...shared,
      maxBody: MAX_BODY_BYTES,
      summary: 'Send a message to the MCP server',
      description:
        'Model Context Protocol over Streamable HTTP, revisions 2025-11-25 and 2026-07-28. The tools are those of the caller, the resources the documents ' +
        'of the knowledge bases that the caller may use, the prompts those of the library.',
      handle: (context) => endpoint.answer(context, 'POST', context.body as Uint8Array | undefined),
    }),
    get(PATH, {
      ...shared,
      summary: 'Listen to an MCP session',
      handle: (context) => endpoint.answer(context, 'GET', undefined),
    }),
    del(PATH, {
      ...shared,
      summary: 'End an MCP session',
      handle: (context) => endpoint.answer(context, 'DELETE', undefined),
    }),
    get(`/.well-known/oauth-protected-resource${PATH}`, {
      auth: 'open',
      summary: 'Which provider’s tokens the MCP server takes',
      answer: Metadata,
      errors: ['no_token_provider'],
      handle: () => {
        if (resource === undefined)
          throw edgeError('no_token_provider', 'No OpenID provider is configured, or edge.public_url is empty: use an API key.');
        return {
          resource: resource.audience,
          authorization_servers: [resource.issuer],
          bearer_methods_supported: ['header'],
          resource_name: 'svc',
        };
      },
    }),
  ];
}
