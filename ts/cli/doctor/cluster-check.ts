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
      return judgeCluster(facts, values['database.url'].split('@').at(-1)?.split('/')[0]?.includes(',') === true);
    } finally {
      await storage?.close();
    }
  },
};

/** All that is wrong, the worst first. `hasServers`: `database.url` names several servers. */
export function judgeCluster(facts: Facts, hasServers: boolean): Finding {
  const found = [
    ...ofCertificates(facts),
    ...ofNodes(facts),
    ...ofClock(facts),
    ...ofVersions(facts),
    ...ofDatabase(facts, hasServers),
  ];
  const [first] = found;
  const { length: n } = facts.nodes;
  if (first === undefined) return ok(`${n} ${n === 1 ? 'node' : 'nodes'} of version ${VERSION}`);
  const worst = found.some(({ state }) => state === 'broken') ? 'broken' : first.state;
  const all = found.toSorted((a, b) => Number(b.state === 'broken') - Number(a.state === 'broken'));
  return {
    state: worst,
    finding: all.map(({ finding }) => finding).join('; '),
    remedy: [...new Set(all.map(({ remedy }) => remedy))].join('; '),
  };
}

function ofCertificates({ certificateEnd, nodes }: Facts): Finding[] {
  const daysLeft = certificateEnd && daysTo(certificateEnd);
  const ending = nodes.flatMap(({ name, certificateEnd: end }) => (end !== undefined && daysTo(end) < LEAST_DAYS ? [name] : []));
  if (daysLeft !== undefined && daysLeft < 0)
    return [
      broken(`the certificate of this node ended ${-daysLeft} days ago`, 'start the node: it makes one, and the others trust it'),
    ];
  if (daysLeft !== undefined && daysLeft < LEAST_DAYS)
    return [warning(`the certificate of this node ends in ${daysLeft} days`, 'start the node: it makes one ten days before')];
  if (ending.length === 0) return [];
  return [
    warning(
      `certificates of other nodes end in less than ${LEAST_DAYS} days: ${ending.join(', ')}`,
      'see why these did not make one ten days before, in their logs; a start makes one',
    ),
  ];
}

function ofNodes({ nodes }: Facts): Finding[] {
  const silent = nodes.flatMap(({ name, silentMs: ms }) => (ms === undefined ? [] : [`${name} for ${Math.round(ms / 1000)} s`]));
  if (silent.length === 0) return [];
  return [
    warning(
      `nodes told nothing of late: ${silent.join(', ')}`,
      'see whether they run and reach the controllers; `svc node rm ID` forgets one that is gone',
    ),
  ];
}

function ofClock({ clockOffsetMs: ms = 0 }: Facts): Finding[] {
  if (Math.abs(ms) <= MOST_OFFSET_MS) return [];
  const seconds = Math.round(Math.abs(ms) / 1000);
  return [
    warning(
      `the clock of this machine is ${seconds} s ${ms > 0 ? 'behind' : 'ahead of'} that of the cluster`,
      'synchronise it: timedatectl set-ntp true',
    ),
  ];
}

function ofVersions({ nodes, toUpdate }: Facts): Finding[] {
  const named = (some: Facts['nodes']) => some.map(({ name, version, wire }) => `${name} ${version} (wire ${wire})`).join(', ');
  const foreign = nodes.filter(({ isForeign }) => isForeign);
  const others = nodes.filter(({ version, isForeign }) => version !== VERSION && !isForeign);
  const remedy = `update ${toUpdate[0] ?? 'this node'} next: controllers and edge nodes go before the others`;
  return [
    ...(foreign.length > 0 ? [broken(`nodes speak no wire version of this program: ${named(foreign)}`, remedy)] : []),
    ...(others.length > 0
      ? [warning(`this program has version ${VERSION}, and nodes run another: ${named(others)}`, remedy)]
      : []),
  ];
}

function ofDatabase({ copies }: Facts, hasServers: boolean): Finding[] {
  if (copies === undefined) return [];
  const { isSynchronous, nStandbys, nSynchronous } = copies;
  if (!isSynchronous && (hasServers || nStandbys > 0))
    return [
      warning(
        'the database has standbys, and a write waits for none of them: a failover may lose the last ones',
        'set synchronous_standby_names, or synchronous_mode of Patroni',
      ),
    ];
  if (!isSynchronous || nSynchronous !== 0) return [];
  return [
    warning(
      'synchronous_standby_names of the database names a standby that does not follow it: writes wait until one does',
      'start the standby, or empty synchronous_standby_names',
    ),
  ];
}

function daysTo(end: Date): number {
  return Math.floor((end.getTime() - Date.now()) / DAY_MS);
}
