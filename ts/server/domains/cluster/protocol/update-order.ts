/** The order in which nodes of a cluster are updated: the newer side reads what the older one says, so those that others depend on go first. */
import type { Role } from '../../../platform/module/module-names.ts';

interface UpdatedNode {
  readonly id: string;
  readonly version: string;
  readonly roles: readonly Role[];
}

const FIRST: readonly Role[] = ['controller', 'edge'];

/** The nodes that are older than the newest, in the order in which they are to be updated. */
export function nodesToUpdate<N extends UpdatedNode>(nodes: readonly N[]): N[] {
  // It compares 5.0.9 and 5.0.10 by their numbers. The first one of a process takes 5 ms, which no start is to wait for.
  const byVersion = new Intl.Collator('en', { numeric: true });
  const newest = nodes.map(({ version }) => version).reduce((a, b) => (byVersion.compare(a, b) < 0 ? b : a), '');
  const old = nodes.filter(({ version }) => byVersion.compare(version, newest) < 0);
  return old.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ roles }: UpdatedNode): number {
  const first = FIRST.findIndex((role) => roles.includes(role));
  return first < 0 ? FIRST.length : first;
}
