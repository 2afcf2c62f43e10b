import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatSeconds, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { ClusterFacts } from '../cluster/cluster-facts.tsx';
import { nodeActions } from '../cluster/node-actions.ts';
import { type ClusterNode, NodeRolesDialog } from '../cluster/node-roles-dialog.tsx';
import { TokenDialog } from '../cluster/token-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

type Storage = Answer<'GET /api/v1/cluster/storage'>;
type Replica = Storage['replicas'][number];
type Backend = Answer<'GET /api/v1/cloud/backends'>['data'][number];

interface Row extends ClusterNode {
  leads: boolean;
  replica: Replica | undefined;
}

interface Beside {
  topology: Answer<'GET /api/v1/cluster/topology'>;
  storage: Storage;
  map: Answer<'GET /health'>['module_map'];
  split: readonly Backend[];
}

const EVERY_MS = 5000;
const REPLICA_TONES = { ok: 'good', behind: 'warn', unreachable: 'danger' } as const;
const TONES = { ready: 'good', draining: 'neutral', suspect: 'warn', gone: 'danger' } as const;
/** A model that is served over several nodes is a backend of this name. */
const SPLIT = 'split-';

/** The machines of the cluster, with what an administrator has them do. */
export const Screen = listScreen<Row, Beside>({
  title: 'cluster',
  detail: 'cluster_detail',
  label: 'nodes',
  everyMs: EVERY_MS,
  load: async () => {
    const { topology, storage } = await loadCluster();
    const replicaOf = (id: string) => storage.replicas.find(({ node }) => node === id);
    const { nodes, leader } = topology;
    return { data: nodes.map((node) => ({ ...node, leads: node.id === leader, replica: replicaOf(node.id) })) };
  },
  beside: async () => {
    const [cluster, { module_map: map }, split] = await Promise.all([loadCluster(), call('GET /health'), loadSplit()]);
    return { ...cluster, map, split };
  },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  empty: { icon: 'link', title: 'nodes' },
  head: (tools) =>
    hasRole('superadmin') && (
      <Button look="main" icon="plus" onClick={() => tools.open(({ close }) => <TokenDialog onClose={close} />)}>
        {t('add_machine')}
      </Button>
    ),
  above: (_, beside) => beside && <ClusterFacts topology={beside.topology} storage={beside.storage} map={beside.map} />,
  columns: [
    {
      head: 'name',
      cell: ({ name, address, leads }) => (
        <div class="two-lines">
          <span class="row">
            {name} {leads && <Badge tone="accent">{t('node_leads')}</Badge>}
          </span>
          <span class="small quiet">{address}</span>
        </div>
      ),
    },
    {
      head: 'state',
      cell: ({ state, last_seen_seconds: seconds }) => (
        <div class="two-lines">
          <span>
            <Badge tone={TONES[state]}>{t(`node_${state}`)}</Badge>
          </span>
          {seconds > 0 && <span class="small quiet">{t('node_seen', { time: formatSeconds(seconds) })}</span>}
        </div>
      ),
    },
    {
      head: 'version',
      cell: ({ version, update }) => (
        <div class="two-lines">
          <span>{version}</span>
          {update !== null && (
            <span>
              <Badge tone={update === 'next' ? 'warn' : 'neutral'}>{t(`node_update_${update}`)}</Badge>
            </span>
          )}
        </div>
      ),
    },
    {
      head: 'node_load',
      cell: ({ load }) => (
        <div class="two-lines">
          <span>{load.cpu.toFixed(2)}</span>
          <span class="small quiet">{t('node_memory', { size: formatBytes(load.memory_free_bytes) })}</span>
        </div>
      ),
    },
    {
      head: 'node_does',
      cell: ({ roles, models }) => (
        <div class="two-lines">
          <span class="small">{roles.join(', ') || '–'}</span>
          {models.length > 0 && <span class="small quiet breakable">{models.join(', ')}</span>}
        </div>
      ),
    },
    { head: 'node_replica', cell: ({ replica }) => (replica === undefined ? '–' : <ReplicaState replica={replica} />) },
    { head: 'node_certificate', cell: ({ certificate_expires_at: at }) => <span class="small">{formatTime(at)}</span> },
  ],
  menu: (row) => {
    if (!hasRole('superadmin')) return [];
    const roles = {
      text: t('switch_roles'),
      icon: 'swap' as const,
      window: ({ close, reload }: { close(): void; reload(): Promise<void> }) => (
        <NodeRolesDialog node={row} onClose={close} onChanged={reload} />
      ),
    };
    return [...(row.state === 'gone' ? [] : [roles]), ...nodeActions<Row>(row, row.replica !== undefined)];
  },
  below: (_, beside) =>
    beside && (
      <>
        <DatabaseReplicas replicas={beside.storage.replicas.filter(({ node }) => node === null)} />
        <SplitModels backends={beside.split} />
      </>
    ),
});

async function loadCluster() {
  const [topology, storage] = await Promise.all([call('GET /api/v1/cluster/topology'), call('GET /api/v1/cluster/storage')]);
  return { topology, storage };
}

/** A node without the role cloud splits no model. */
async function loadSplit(): Promise<readonly Backend[]> {
  const { data } = await call('GET /api/v1/cloud/backends').catch(() => ({ data: [] }));
  return data.filter(({ id }) => id.startsWith(SPLIT));
}

function ReplicaState({ replica: { state, lag_seconds: seconds, lag_commits: commits, problem } }: { replica: Replica }) {
  return (
    <div class="two-lines">
      <span>
        <Badge tone={REPLICA_TONES[state]}>{t(`replica_${state}`)}</Badge>
      </span>
      {seconds !== null && seconds > 0 && (
        <span class="small quiet">
          {commits === null ? formatSeconds(seconds) : t('replica_lag', { time: formatSeconds(seconds), count: commits })}
        </span>
      )}
      {problem !== null && <span class="small quiet breakable">{problem}</span>}
    </div>
  );
}

/** Servers of PostgreSQL, which are no nodes. */
function DatabaseReplicas({ replicas }: { replicas: readonly Replica[] }) {
  if (replicas.length === 0) return null;
  return (
    <section class="stack">
      <h2>{t('database_replicas')}</h2>
      <Table
        label={t('database_replicas')}
        rows={replicas}
        keyOf={({ name }) => name}
        columns={[
          { head: t('name'), cell: ({ name }) => name },
          { head: t('state'), cell: (replica) => <ReplicaState replica={replica} /> },
        ]}
      />
    </section>
  );
}

function SplitModels({ backends }: { backends: readonly Backend[] }) {
  if (backends.length === 0) return null;
  return (
    <section class="stack">
      <h2>{t('split_models')}</h2>
      <p class="small quiet">{t('split_models_detail')}</p>
      <Table
        label={t('split_models')}
        rows={backends}
        keyOf={({ id }) => id}
        columns={[
          { head: t('name'), cell: ({ id }) => id.slice(SPLIT.length) },
          {
            head: t('state'),
            cell: ({ serving_state: state }) => (
              <Badge tone={state === 'ok' ? 'good' : 'warn'}>{t(`backend_state_${state}`)}</Badge>
            ),
          },
          {
            head: t('details'),
            kind: 'long',
            cell: ({ serving_state_reason: reason }) => <span class="breakable">{reason?.detail ?? '–'}</span>,
          },
        ]}
      />
    </section>
  );
}
