/** Shapes of groups. */
import Type, { type Static } from 'typebox';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { named } from '../../../platform/schema/named.ts';
import { MAX_NAME_LENGTH, MAX_NAMES } from '../../../platform/text/name-pattern.ts';
import { nameOf, schemasByKind, writeByKind } from '../members-by-kind.ts';
import { Nullable, RoleName, TenantId, Time, timeOf } from '../schemas.ts';
import { type CountedGroup, grantsOf } from './group-store.ts';

const Names = ([, many]: UseKind['labels']) =>
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
    maxItems: MAX_NAMES,
    description: `The ${many} that the members may use; \`*\` stands for any characters, and alone for all.`,
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

export function groupSchemas(kinds: readonly UseKind[]) {
  const Grants = Type.Object(schemasByKind(kinds, nameOf, ({ labels }) => Names(labels)));
  const GrantsPatch = Type.Object(schemasByKind(kinds, nameOf, ({ labels }) => Type.Optional(Names(labels))));
  const Group = Type.Object({
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
  });
  const NewGroup = Type.Object({
    name: GroupName,
    description: Type.Optional(Description),
    role: Type.Optional(GroupRole),
    grants: Type.Optional(GrantsPatch),
    external_id: Type.Optional(ExternalId),
    tenant: Type.Optional(TenantId),
  });
  const GroupPatch = Type.Object({
    name: Type.Optional(GroupName),
    description: Type.Optional(Description),
    role: Type.Optional(GroupRole),
    grants: Type.Optional(GrantsPatch),
    external_id: Type.Optional(ExternalId),
  });
  return {
    Group: named('Group', Group),
    NewGroup: named('NewGroup', NewGroup),
    GroupPatch: named('GroupPatch', GroupPatch),
  };
}
export type GroupSchemas = ReturnType<typeof groupSchemas>;

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

export function groupBody(kinds: readonly UseKind[], row: CountedGroup): Static<GroupSchemas['Group']> {
  const { id, tenant, name, description, role, external_id, nMembers } = row;
  const granted = grantsOf(row);
  const grants = writeByKind(kinds, nameOf, (kind) => granted[kind] ?? []);
  const times = { created_at: timeOf(row.created_at), updated_at: timeOf(row.updated_at) };
  return { id, tenant, name, description, role, grants, external_id, member_count: nMembers, ...times };
}
