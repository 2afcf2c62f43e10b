/** Shapes of the security API. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { Enforcement } from './enforcement.ts';
import { ENFORCEMENT_MODES } from './enforcement-mode.ts';
import type { DecisionRow } from './tables.ts';

const Mode = Type.Enum([...ENFORCEMENT_MODES]);
const TenantId = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$' });

export const EnforcementChange = named(
  'EnforcementChange',
  Type.Object({
    mode: Type.Union([Mode, Type.Null()], { description: 'null, for a tenant: as its node.' }),
    tenant: Type.Optional(TenantId),
  }),
);

export const EnforcementShape = named(
  'Enforcement',
  Type.Object({
    mode: Type.Enum([...ENFORCEMENT_MODES], { description: 'Of this node.' }),
    tenants: Type.Array(Type.Object({ tenant: Type.String(), mode: Mode }), {
      description: 'Tenants with a mode of their own, which holds on every node.',
    }),
  }),
);

export const Decision = named(
  'EnforcementDecision',
  Type.Object({
    seq: Type.Integer(),
    at: Type.String({ description: 'ISO 8601, UTC.' }),
    node: Type.String(),
    tenant: Type.String(),
    actor: Type.String(),
    role: Type.String(),
    tool: Type.String(),
    needed_role: Type.String(),
    mode: Mode,
    outcome: Type.Enum(['allowed', 'denied'], { description: 'allowed: with `enforce` it would have been denied.' }),
  }),
);

/** A tenant's administrator sees the mode of its own tenant. */
export function enforcementBody(enforcement: Enforcement, tenant: string | undefined): Static<typeof EnforcementShape> {
  const tenants = [...enforcement.tenantModes].map(([id, mode]) => ({ tenant: id, mode }));
  return { mode: enforcement.nodeMode, tenants: tenants.filter((row) => tenant === undefined || row.tenant === tenant) };
}

export function decisionBody({ at, ...row }: DecisionRow): Static<typeof Decision> {
  return { ...row, at: new Date(at).toISOString(), outcome: row.mode === 'enforce' ? 'denied' : 'allowed' };
}
