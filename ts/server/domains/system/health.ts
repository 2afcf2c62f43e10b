/** What /health says: the node's own state, and what each module contributes. */
import Type, { type Static } from 'typebox';
import type { HealthReason, HealthReport } from '../../platform/module/module.ts';
import type { Node } from '../../platform/node/node.ts';
import { named } from '../../platform/schema/named.ts';
import type { ClusterHealth } from '../cluster/index.ts';
import { remedyOf } from './remedies.ts';

const Reason = named(
  'HealthReason',
  Type.Object({
    code: Type.String({ description: 'For example cpu_lacks_avx2, cpu_lacks_arm_extensions or no_data_role.' }),
    detail: Type.String(),
    remedy: Type.Optional(Type.String({ description: 'What an operator can do about it.' })),
  }),
);

export const Health = named(
  'NodeHealth',
  Type.Object({
    status: Type.Enum(['ok', 'degraded', 'loading', 'draining']),
    version: Type.String(),
    auth: Type.Enum(['off', 'enforce'], { description: 'off while the node has no account and belongs to no cluster.' }),
    uptime_seconds: Type.Integer(),
    module_map: Type.Object({
      size: Type.Integer({ description: 'Nodes in the map, this one included.' }),
      age_seconds: Type.Number({ description: 'Since the map last changed or was confirmed.' }),
      stale: Type.Boolean(),
    }),
    modules: Type.Array(Type.String(), { description: 'Modules that this node runs.' }),
    reasons: Type.Array(Reason, { description: 'Why something that the product can do is missing here.' }),
  }),
);

type NodeHealth = Static<typeof Health>;

/** A node alone is the whole map, and what it knows of itself is always fresh. */
const MAP_OF_ONE = { size: 1, age_seconds: 0, stale: false };

export async function readHealth(node: Node): Promise<NodeHealth> {
  const parts = [...(await node.health())];
  const reasons = [...parts.flatMap(([, { reasons }]) => reasons), ...missingRoles(node)];
  return {
    status: statusOf(node, reasons),
    version: node.version,
    auth: node.auth(),
    uptime_seconds: Math.floor(process.uptime()),
    module_map: mapOf(parts),
    modules: [...node.modules()],
    reasons: reasons.map(withRemedy),
    ...Object.fromEntries(
      parts.filter(([, { state }]) => Object.keys(state).length > 0).map(([name, { state }]) => [name, state]),
    ),
  };
}

function mapOf(parts: readonly [string, HealthReport][]): NodeHealth['module_map'] {
  const state = parts.find(([name]) => name === 'cluster')?.[1].state as ClusterHealth | undefined;
  return state?.map ?? MAP_OF_ONE;
}

/** What the modules say, and the roles that lack. */
export async function reasonsOf(node: Node): Promise<HealthReason[]> {
  return [...[...(await node.health()).values()].flatMap(({ reasons }) => reasons), ...missingRoles(node)];
}

function withRemedy(reason: HealthReason): Static<typeof Reason> {
  const remedy = remedyOf(reason.code);
  return { ...reason, ...(remedy !== undefined && { remedy }) };
}

/** These are choices of an operator: to run without a role, or to trust a syslog server unseen. Lacking a CPU feature is a defect of the place. */
const CHOICES: readonly string[] = ['no_data_role', 'syslog_unverified'];

function statusOf(node: Node, reasons: readonly HealthReason[]): NodeHealth['status'] {
  const waiting = node.notReady();
  if (waiting !== undefined) return waiting.code === 'draining' ? 'draining' : 'loading';
  return reasons.some(({ code }) => !CHOICES.includes(code)) ? 'degraded' : 'ok';
}

function missingRoles(node: Node): HealthReason[] {
  if (node.modules().includes('data')) return [];
  return [
    { code: 'no_data_role', detail: 'This node has no data role: knowledge bases and stored documents are not served here.' },
  ];
}
