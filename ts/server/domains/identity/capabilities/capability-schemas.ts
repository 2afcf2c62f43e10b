/** Shapes of the routes of capability tokens. */
import Type, { type Static } from 'typebox';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { named } from '../../../platform/schema/named.ts';
import { CAPABILITY_SCOPES } from '../accounts/scopes.ts';
import { nameOf, schemasByKind, writeByKind } from '../members-by-kind.ts';
import { timeOf } from '../schemas.ts';
import type { CapabilityRow } from '../tables.ts';
import { MAX_LIFE_SECONDS, MAX_NAMES, MAX_TOKEN_LENGTH, NAME_PATTERN } from './capability-limits.ts';

const Names = (description: string) => Type.Array(Type.String({ pattern: NAME_PATTERN }), { maxItems: MAX_NAMES, description });
const Scopes = Type.Array(Type.Enum([...CAPABILITY_SCOPES]), {
  maxItems: CAPABILITY_SCOPES.length,
  description: 'What the token may be used for. What would make or change other credentials cannot be among them.',
});
const Seconds = Type.Integer({ minimum: 1, maximum: MAX_LIFE_SECONDS });
const NullableNames = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Null: any.' });
const NullableText = Type.Union([Type.String(), Type.Null()]);
const Token = Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH });

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
export function capabilitySchemas(kinds: readonly UseKind[]) {
  const limits = schemasByKind(kinds, nameOf, ({ labels: [, many] }) =>
    Type.Optional(Names(`The only ${many} that the token may use. Absent: any.`)),
  );
  const NewCapability = Type.Object({ scopes: Scopes, expires_in_seconds: Seconds, ...limits });
  const DerivedCapability = Type.Object({
    token: Token,
    scopes: Type.Optional(Scopes),
    expires_in_seconds: Type.Optional(Seconds),
    ...limits,
  });
  const Capability = Type.Object({
    id: Type.String(),
    user: Type.String({ description: 'Id of its account.' }),
    tenant: Type.String(),
    parent: NullableText,
    scopes: Type.Array(Type.String()),
    ...schemasByKind(kinds, nameOf, () => NullableNames),
    created_at: Type.String(),
    expires_at: Type.String(),
  });
  const IssuedCapability = Type.Object({
    ...Capability.properties,
    token: Type.String({ description: 'Shown this once. For Authorization: Bearer, or X-API-Key.' }),
  });
  return {
    NewCapability: named('NewCapability', NewCapability),
    DerivedCapability: named('DerivedCapability', DerivedCapability),
    Capability: named('Capability', Capability),
    IssuedCapability: named('IssuedCapability', IssuedCapability),
  };
}
export type CapabilitySchemas = ReturnType<typeof capabilitySchemas>;

export function capabilityBody(kinds: readonly UseKind[], row: CapabilityRow): Static<CapabilitySchemas['Capability']> {
  const { id, user_id: user, tenant, parent_id: parent } = row;
  const uses = JSON.parse(row.uses) as Record<string, string[] | null>;
  return {
    id,
    user,
    tenant,
    parent,
    scopes: JSON.parse(row.scopes) as string[],
    ...writeByKind(kinds, nameOf, (kind) => uses[kind] ?? null),
    created_at: timeOf(row.created_at),
    expires_at: timeOf(row.expires_at),
  };
}
