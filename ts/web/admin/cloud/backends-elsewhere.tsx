/** Backends of other nodes of the database, and how those of a lost one become this node's. */
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Table } from '../../design/table.tsx';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { BackendName } from './backend-name.tsx';

type Elsewhere = Answer<'GET /api/v1/cloud/backends/elsewhere'>['data'];

interface BackendsElsewhereProps {
  backends: Elsewhere;
  reload(): Promise<void>;
}

export function BackendsElsewhere({ backends, reload }: BackendsElsewhereProps) {
  if (backends.length === 0) return null;
  const take = async (node: string): Promise<void> => {
    if (!(await confirmed(t('take_backends'), t('take_backends_detail'), t('take_backends')))) return;
    await attempt(() => call('POST /api/v1/cloud/takeover', { body: { node } }), t('backends_taken'));
    await reload();
  };
  return (
    <section class="stack">
      <h2>{t('backends_elsewhere')}</h2>
      <p class="small quiet">{t('backends_elsewhere_detail')}</p>
      <Table
        label={t('backends_elsewhere')}
        rows={backends}
        keyOf={({ id, node }) => `${node} ${id}`}
        columns={[
          { head: t('name'), cell: (backend) => <BackendName backend={backend} /> },
          { head: t('backend_node'), cell: ({ node }) => <code class="breakable small">{node}</code> },
          {
            head: t('state'),
            cell: ({ node_is_lost: isLost }) => (
              <Badge tone={isLost ? 'danger' : 'good'}>{isLost ? t('backend_node_lost') : t('runs')}</Badge>
            ),
          },
          {
            head: t('actions'),
            kind: 'actions',
            cell: ({ node, node_is_lost: isLost }) =>
              isLost && (
                <Button size="small" look="bare" icon="swap" onClick={() => void take(node)}>
                  {t('take_backends')}
                </Button>
              ),
          },
        ]}
      />
    </section>
  );
}
