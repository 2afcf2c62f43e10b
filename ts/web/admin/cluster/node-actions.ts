/** The actions that an administrator has for a node of the cluster. */
import { Refusal } from '../../../client/refusal.ts';
import { call } from '../../api/call.ts';
import { confirmed } from '../../design/confirm.tsx';
import { t } from '../../i18n/language.ts';
import type { RowAction } from '../list-screen.tsx';
import type { ClusterNode } from './node-roles-dialog.tsx';

/** `isStandby`: it has a copy of the data of a primary on SQLite. */
export function nodeActions<Row>({ id, name, state }: ClusterNode, isStandby: boolean): readonly RowAction<Row>[] {
  const params = { id };
  const isGone = state === 'gone';
  const drain: RowAction<Row> =
    state === 'draining'
      ? { text: t('node_resume'), icon: 'play', run: () => call('POST /api/v1/cluster/nodes/{id}/resume', { params }) }
      : {
          text: t('node_drain'),
          icon: 'pause',
          question: [t('node_drain'), t('node_drain_detail', { name }), t('node_drain')],
          run: () => call('POST /api/v1/cluster/nodes/{id}/drain', { params }),
        };
  return [
    ...(isGone ? [] : [drain]),
    ...(isStandby ? standbyActions<Row>(id, name) : []),
    {
      text: t('node_remove'),
      icon: 'trash',
      isDangerous: true,
      isApart: true,
      question: [t('node_remove'), t(isGone ? 'node_forget_detail' : 'node_remove_detail', { name }), t('node_remove')],
      run: () => call('DELETE /api/v1/cluster/nodes/{id}', { params }),
    },
  ];
}

function standbyActions<Row>(node: string, name: string): readonly RowAction<Row>[] {
  return [
    {
      text: t('node_sync'),
      icon: 'refresh',
      run: () => call('POST /api/v1/cluster/storage/{node}/sync', { params: { node } }),
      done: t('node_synced', { name }),
    },
    {
      text: t('node_promote'),
      icon: 'swap',
      question: [t('node_promote'), t('node_promote_detail', { name }), t('node_promote')],
      run: () => promote(node),
    },
  ];
}

/** Commits that the standby lacks are lost only if the reader says so. */
async function promote(node: string): Promise<void> {
  const send = (force: boolean) => call('POST /api/v1/cluster/storage/{node}/promote', { params: { node }, body: { force } });
  try {
    await send(false);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'replica_behind') throw error;
    if (await confirmed(t('node_promote'), error.message, t('node_promote_forced'))) await send(true);
  }
}
