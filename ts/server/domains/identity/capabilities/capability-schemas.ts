/** Shapes of the routes of capability tokens. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { CAPABILITY_SCOPES } from '../accounts/scopes.ts';
import { timeOf } from '../schemas.ts';
import type { CapabilityRow } from '../tables.ts';
import { MAX_LIFE_SECONDS, MAX_NAMES, MAX_TOKEN_LENGTH, NAME_PATTERN } from './capability-limits.ts';

const Names = (description: string) => Type.Array(Type.String({ pattern: NAME_PATTERN }), { maxItems: MAX_NAMES, description });
const Scopes = Type.Array(Type.Enum([...CAPABILITY_SCOPES]), {
  maxItems: CAPABILITY_SCOPES.length,
  description: 'What the token may be used for. What would make or change other credentials cannot be among them.',
});
const Seconds = Type.Integer({ minimum: 1, maximum: MAX_LIFE_SECONDS });
const Models = Names('Ids of the only models that the token may use. Absent: any.');
const Namespaces = Names('Names of the only knowledge bases that the token may use. Absent: any.');
const NullableNames = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Null: any.' });
const NullableText = Type.Union([Type.String(), Type.Null()]);
const Token = Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH });

export const NewCapability = named(
  'NewCapability',
  Type.Object({
    scopes: Scopes,
    expires_in_seconds: Seconds,
    models: Type.Optional(Models),
    namespaces: Type.Optional(Namespaces),
  }),
);
export const DerivedCapability = named(
  'DerivedCapability',
  Type.Object({
    token: Token,
    scopes: Type.Optional(Scopes),
    expires_in_seconds: Type.Optional(Seconds),
    models: Type.Optional(Models),
    namespaces: Type.Optional(Namespaces),
  }),
);
export const RevokedCapability = named(
  'RevokedCapability',
  Type.Object(
    {
      token: Type.Optional(Token),
      id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    },
    { description: 'Exactly one of the two.' },
  ),
);
export const Capability = named(
  'Capability',
  Type.Object({
    id: Type.String(),
    user: Type.String({ description: 'Id of its account.' }),
    tenant: Type.String(),
    parent: NullableText,
    scopes: Type.Array(Type.String()),
    models: NullableNames,
    namespaces: NullableNames,
    created_at: Type.String(),
    expires_at: Type.String(),
  }),
);
export const IssuedCapability = named(
  'IssuedCapability',
  Type.Object({
    ...Capability.properties,
    token: Type.String({ description: 'Shown this once. For Authorization: Bearer, or X-API-Key.' }),
  }),
);

export function capabilityBody(row: CapabilityRow): Static<typeof Capability> {
  const { id, user_id: user, tenant, parent_id: parent } = row;
  return {
    id,
    user,
    tenant,
    parent,
    scopes: JSON.parse(row.scopes) as string[],
    models: namesOf(row.models),
    namespaces: namesOf(row.namespaces),
    created_at: timeOf(row.created_at),
    expires_at: timeOf(row.expires_at),
  };
}

function namesOf(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}
