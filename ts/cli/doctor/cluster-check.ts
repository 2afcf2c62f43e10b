import { existsSync } from 'node:fs';
import { databaseOptions } from '../../server/database.ts';
import { cluster, examineCluster } from '../../server/domains/cluster/index.ts';
import { modules } from '../../server/modules.ts';
import { valuesOf } from '../../server/platform/config/config.ts';
import { createStorage } from '../../server/platform/storage/index.ts';
import { VERSION } from '../../server/product.ts';
import { broken, type Check, type Finding, ok, warning } from './check.ts';

const DAY_MS = 24 * 3_600_000;
/** A certificate is made again ten days before its end, and the node was not running for a while. */
const LEAST_DAYS = 8;
const MOST_OFFSET_MS = 5_000;

type Facts = NonNullable<Awaited<ReturnType<typeof examineCluster>>>;

/** Clocks, certificates, versions, and whether a failover of the database loses what was acknowledged. */
export const clusterCheck: Check = {
  name: 'cluster',
  async run({ config }) {
    const { values } = config;
    const made = createStorage(databaseOptions(values, modules));
    // A node on SQLite without a link has no others, and one that was never started has no database.
    const isAlone =
      made.file !== undefined && (valuesOf(config, cluster.settings)['cluster.listen'] === '' || !existsSync(made.file));
    const storage = isAlone ? undefined : made;
    // To open it would change it.
    const pending = (await storage?.planMigrations())?.pending ?? [];
    if (pending.length > 0) return ok('not looked at, since its database is not of this version');
    try {
      await storage?.open();
      const facts = await examineCluster(values.data_dir, storage?.access());
      if (facts === undefined) return ok('none; this node is one of its own');
      return worstOf(facts, values['database.url'].split('@').at(-1)?.split('/')[0]?.includes(',') === true);
    } finally {
      await storage?.close();
    }
  },
};

function worstOf({ certificateEnd, nodes, toUpdate, clockOffsetMs = 0, synchronous }: Facts, hasStandby: boolean): Finding {
  const daysLeft = certificateEnd && Math.floor((certificateEnd.getTime() - Date.now()) / DAY_MS);
  if (daysLeft !== undefined && daysLeft < 0)
    return broken(
      `the certificate of this node ended ${-daysLeft} days ago`,
      'start the node: it makes one, and the others trust it',
    );
  const seconds = Math.round(clockOffsetMs / 1000);
  if (Math.abs(clockOffsetMs) > MOST_OFFSET_MS)
    return warning(
      `the clock of this machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} that of the cluster`,
      'synchronise it: timedatectl set-ntp true',
    );
  if (daysLeft !== undefined && daysLeft < LEAST_DAYS)
    return warning(`the certificate of this node ends in ${daysLeft} days`, 'start the node: it makes one ten days before');
  const others = nodes.filter(({ version }) => version !== VERSION);
  if (others.length > 0) {
    const named = others.map(({ name, version, wire }) => `${name} ${version} (wire ${wire})`).join(', ');
    return warning(
      `this node has version ${VERSION}, others have another: ${named}`,
      `update ${toUpdate[0] ?? 'this node'} next: controllers and edge nodes go before the others`,
    );
  }
  if (hasStandby && synchronous === undefined)
    return warning(
      'database.url names several servers, and the one that takes writes waits for no standby: a failover may lose the last of them',
      'set synchronous_standby_names, or synchronous_mode of Patroni',
    );
  return ok(`${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} of version ${VERSION}`);
}
