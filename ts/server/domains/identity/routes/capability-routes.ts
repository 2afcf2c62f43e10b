/** Capability tokens. */
import Type from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Capabilities, IssuedCapability, WantedCapability } from '../capabilities/capabilities.ts';
import {
  type CapabilitySchemas,
  capabilityBody,
  capabilitySchemas,
  RevokedCapability,
} from '../capabilities/capability-schemas.ts';
import { identityError, identityErrors } from '../errors.ts';
import { nameOf, readByKind } from '../members-by-kind.ts';
import type { CapabilityRow } from '../tables.ts';
import { NO_STORE } from './answers.ts';

const path = '/api/v1/identity/capabilities';
const scope = 'account:manage';
const MAX_BODY = 64 * 1024;

const { get, post } = routes({ tag: 'Identity', auth: 'viewer', maxBody: MAX_BODY, errors: identityErrors });

/** What routes of tokens say and read, which the registered kinds are part of. */
interface Shapes extends CapabilitySchemas {
  kinds: readonly UseKind[];
  bodyOf(row: CapabilityRow): ReturnType<typeof capabilityBody>;
  wantedOf(body: Wanted): WantedCapability;
}

interface Wanted {
  scopes?: readonly string[];
  expires_in_seconds?: number;
}

export function capabilityRoutes(capabilities: Capabilities, kinds: readonly UseKind[]): Route[] {
  const shapes: Shapes = {
    ...capabilitySchemas(kinds),
    kinds,
    bodyOf: (row) => capabilityBody(kinds, row),
    wantedOf: ({ scopes, expires_in_seconds: expiresInSeconds, ...body }) => ({
      scopes,
      expiresInSeconds,
      uses: readByKind(kinds, nameOf, body),
    }),
  };
  return [listing, creation, derivation, revocation].map((make) => make(capabilities, shapes));
}

function listing(capabilities: Capabilities, { Capability, bodyOf }: Shapes): Route {
  return get(path, {
    scope,
    summary: 'The caller’s capability tokens; for an administrator those of the account that `user` names',
    description: 'Tokens that were derived offline are not known here, and are not listed.',
    query: Type.Object({ ...PageQuery.properties, user: Type.Optional(Type.String({ maxLength: 128 })) }),
    answer: listOf(Capability),
    errors: ['no_account', 'user_not_found'],
    handle: async ({ caller, query }) => {
      const { user: userId } = query;
      const rows = await capabilities.list({ ...pageRead(query), userId }, caller);
      return page(rows, query.limit, bodyOf);
    },
  });
}

function creation(capabilities: Capabilities, shapes: Shapes): Route {
  const predicates = shapes.kinds.map(({ one }) => `\`${one}\``).join(' and ');
  return post(path, {
    scope,
    summary: 'Issue a capability token, which is shown this once',
    description:
      'A Biscuit token (Ed25519, `svcc_` and URL-safe base64) that acts for the caller’s account with these scopes until it expires. Its holder can ' +
      'derive narrower tokens from it without this server, by appending a block of checks of these forms and no others: ' +
      `\`check if scope($s), ["chat:use"].contains($s)\`, likewise ${predicates}, and \`check if time($t), $t <= 2027-01-01T00:00:00Z\`, up to 32 names in a list. ` +
      'A token whose parent was revoked is refused with the reason `expired`, one whose tenant was deleted with `unknown_key`.',
    body: shapes.NewCapability,
    responses: { 201: shapes.IssuedCapability },
    errors: ['capability_too_large', 'no_account', 'scope_beyond_caller', 'tenant_not_found'],
    handle: async (context) => {
      const { body } = context;
      const wanted = { ...shapes.wantedOf(body), scopes: body.scopes, expiresInSeconds: body.expires_in_seconds };
      return issued(shapes, await capabilities.create(wanted, auditSource(context)));
    },
  });
}

function derivation(capabilities: Capabilities, shapes: Shapes): Route {
  return post(`${path}/derive`, {
    summary: 'Derive a narrower token from a capability token of the tenant',
    description:
      'What is left out stays as it is in `token`; an end behind that of `token` has no effect. A token can be derived seven times.',
    body: shapes.DerivedCapability,
    responses: { 201: shapes.IssuedCapability },
    errors: ['invalid_capability', 'capability_too_large', 'beyond_parent'],
    handle: async (context) =>
      issued(shapes, await capabilities.derive(context.body.token, shapes.wantedOf(context.body), auditSource(context))),
  });
}

function revocation(capabilities: Capabilities): Route {
  return post(`${path}/revoke`, {
    scope,
    summary: 'Revoke a capability token and all that were derived from it; they stop at once',
    body: RevokedCapability,
    errors: ['invalid_request', 'invalid_capability', 'forbidden', 'capability_not_found'],
    handle: async (context) => {
      const { token, id } = context.body;
      if (token !== undefined && id === undefined) await capabilities.revokeToken(token, auditSource(context));
      else if (id !== undefined && token === undefined) await capabilities.revokeById(id, auditSource(context));
      else throw identityError('invalid_request', 'Give `token` or `id`, and not both.');
    },
  });
}

function issued({ bodyOf }: Shapes, { row, token }: IssuedCapability) {
  return json(201, { ...bodyOf(row), token }, NO_STORE);
}
