/** What a backup holds. */
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Dialog } from '../../design/dialog.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';

interface Details {
  created_at: string;
  version: string;
  database: string;
  size_bytes: number;
  tables: Record<string, number>;
  files: { path: string; size_bytes: number }[];
}

export function BackupDialog({ id, onClose }: { id: string; onClose(): void }) {
  const { data, error } = useData(async () => (await call('GET /api/v1/backup/backups/{id}', { params: { id } })) as Details);
  const nRows = Object.values(data?.tables ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <Dialog title={t('backup_holds')} wide onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && (
        <>
          <FactList
            facts={[
              { name: t('id'), value: <code class="breakable">{id}</code> },
              { name: t('created'), value: formatTime(data.created_at) },
              { name: t('version'), value: data.version },
              { name: t('database'), value: data.database },
              { name: t('database_rows'), value: formatNumber(nRows) },
              { name: t('size'), value: formatBytes(data.size_bytes) },
            ]}
          />
          <Table
            label={t('files')}
            rows={data.files}
            keyOf={({ path }) => path}
            columns={[
              { head: t('file'), cell: ({ path }) => <code class="breakable">{path}</code> },
              { head: t('size'), kind: 'number', cell: ({ size_bytes: size }) => formatBytes(size) },
            ]}
          />
        </>
      )}
      <p class="small quiet">{t('restore_hint')}</p>
      <pre class="example">{`svc backup restore ${id}`}</pre>
    </Dialog>
  );
}
