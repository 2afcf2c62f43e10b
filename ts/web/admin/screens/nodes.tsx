import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { formatSeconds } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';

const REPLICA_TONES = { ok: 'good', behind: 'warn', unreachable: 'danger' } as const;
const TONES = { ready: 'good', draining: 'neutral', suspect: 'warn', gone: 'danger' } as const;

/** The nodes of the cluster, with what an administrator has one of them do. */
export const Screen = listScreen({
  title: 'nodes',
  detail: 'nodes_detail',
  load: async () => {
    const [{ nodes, leader }, { replicas }] = await Promise.all([
      call('GET /api/v1/cluster/topology'),
      call('GET /api/v1/cluster/storage'),
    ]);
    const replicaOf = (id: string) => replicas.find(({ node }) => node === id);
    return { data: nodes.map((node) => ({ ...node, leads: node.id === leader, replica: replicaOf(node.id) })) };
  },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  empty: { icon: 'link', title: 'nodes' },
  columns: [
    {
      head: 'name',
      cell: ({ name, address }) => (
        <div class="two-lines">
          <span>{name}</span>
          <span class="small quiet">{address}</span>
        </div>
      ),
    },
    { head: 'state', cell: ({ state }) => <Badge tone={TONES[state]}>{t(`node_${state}`)}</Badge> },
    { head: 'node_leads', cell: ({ leads }) => (leads ? t('node_leads') : '') },
    {
      head: 'version',
      cell: ({ version, update }) => (
        <div class="two-lines">
          <span>{version}</span>
          {update !== null && <Badge tone={update === 'next' ? 'warn' : 'neutral'}>{t(`node_update_${update}`)}</Badge>}
        </div>
      ),
    },
    { head: 'node_seen', cell: ({ last_seen_seconds: seconds }) => formatSeconds(Math.round(seconds)) },
    { head: 'node_load', cell: ({ load }) => load.cpu.toFixed(2) },
    {
      head: 'node_replica',
      cell: ({ replica }) =>
        replica && (
          <div class="two-lines">
            <Badge tone={REPLICA_TONES[replica.state]}>{t(`replica_${replica.state}`)}</Badge>
            {replica.lag_seconds !== null && <span class="small quiet">{formatSeconds(Math.round(replica.lag_seconds))}</span>}
          </div>
        ),
    },
    { head: 'node_roles', kind: 'long', cell: ({ roles }) => roles.join(' ') },
  ],
  buttons: ({ id, name, state, replica }) => {
    if (state === 'gone')
      return [
        {
          text: t('delete'),
          isDangerous: true,
          question: [t('delete'), t('node_forget_detail', { name }), t('delete')],
          run: () => call('DELETE /api/v1/cluster/nodes/{id}', { params: { id } }),
        },
      ];
    if (state === 'draining')
      return [{ text: t('node_resume'), run: () => call('POST /api/v1/cluster/nodes/{id}/resume', { params: { id } }) }];
    const sync = {
      text: t('node_sync'),
      run: () => call('POST /api/v1/cluster/storage/{node}/sync', { params: { node: id } }),
    };
    return [
      ...(replica === undefined ? [] : [sync]),
      {
        text: t('node_drain'),
        question: [t('node_drain'), t('node_drain_detail', { name }), t('node_drain')],
        run: () => call('POST /api/v1/cluster/nodes/{id}/drain', { params: { id } }),
      },
    ];
  },
});
