/** Shapes of groups. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { Nullable, RoleName, TenantId, Time, timeOf } from '../schemas.ts';
import type { CountedGroup } from './group-store.ts';
import { MAX_NAME_LENGTH, MAX_NAMES } from './name-pattern.ts';

const Names = (what: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
    maxItems: MAX_NAMES,
    description: `${what} that the members may use; \`*\` stands for any characters, and alone for all.`,
  });
const GroupName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'Unique in the tenant, whatever the case.',
});
const GroupRole = Type.Union([Type.Enum(['viewer', 'developer', 'admin']), Type.Null()], {
  description: 'The least role of its members; null: it gives none.',
});
const ExternalId = Type.Union([Type.String({ minLength: 1, maxLength: 512 }), Type.Null()], {
  description: 'Its id or name in the directory or at the sign-in provider.',
});
const Description = Type.String({ maxLength: 1000 });
const Grants = Type.Object({ models: Names('Models'), namespaces: Names('Knowledge bases') });
const GrantsPatch = Type.Object({
  models: Type.Optional(Names('Models')),
  namespaces: Type.Optional(Names('Knowledge bases')),
});

export const Group = named(
  'Group',
  Type.Object({
    id: Type.String(),
    tenant: Type.String(),
    name: Type.String(),
    description: Type.String(),
    role: Type.Union([RoleName, Type.Null()]),
    grants: Grants,
    external_id: Nullable(Type.String()),
    member_count: Type.Integer(),
    created_at: Time,
    updated_at: Time,
  }),
);
export const NewGroup = named(
  'NewGroup',
  Type.Object({
    name: GroupName,
    description: Type.Optional(Description),
    role: Type.Optional(GroupRole),
    grants: Type.Optional(GrantsPatch),
    external_id: Type.Optional(ExternalId),
    tenant: Type.Optional(TenantId),
  }),
);
export const GroupPatch = named(
  'GroupPatch',
  Type.Object({
    name: Type.Optional(GroupName),
    description: Type.Optional(Description),
    role: Type.Optional(GroupRole),
    grants: Type.Optional(GrantsPatch),
    external_id: Type.Optional(ExternalId),
  }),
);
export const NewMembers = named(
  'NewMembers',
  Type.Object({
    users: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 1000,
      description: 'Ids of accounts of the same tenant; all of them are added, or none.',
    }),
  }),
);

export function groupBody(row: CountedGroup): Static<typeof Group> {
  const { id, tenant, name, description, role, external_id, nMembers } = row;
  const grants = { models: JSON.parse(row.models) as string[], namespaces: JSON.parse(row.namespaces) as string[] };
  const times = { created_at: timeOf(row.created_at), updated_at: timeOf(row.updated_at) };
  return { id, tenant, name, description, role, grants, external_id, member_count: nMembers, ...times };
}
