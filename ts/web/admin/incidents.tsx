/** What went wrong since the node started, and what lasts. */
import { call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Badge } from '../design/badge.tsx';
import { Empty } from '../design/empty.tsx';
import { Table } from '../design/table.tsx';
import { formatTime } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';

const EVERY_MS = 5000;

/** `isBrief`: nothing is drawn where nothing went wrong. */
export function Incidents({ isBrief = false }: { isBrief?: boolean }) {
  const { data } = useData(() => call('GET /api/v1/system/incidents'), [], EVERY_MS);
  const incidents = data?.incidents ?? [];
  if (isBrief && incidents.length === 0) return null;
  return (
    <section class="stack">
      <h2>{t('incidents')}</h2>
      {data !== undefined && incidents.length === 0 && <Empty icon="check" title={t('no_incidents')} />}
      {incidents.length > 0 && (
        <Table
          label={t('incidents')}
          rows={incidents}
          keyOf={({ code, since }) => `${code} ${since}`}
          columns={[
            {
              head: t('what_happened'),
              cell: ({ detail, remedy }) => (
                <div class="two-lines">
                  <span>{detail}</span>
                  {remedy !== null && <span class="small quiet">{remedy}</span>}
                </div>
              ),
            },
            { head: t('begun'), cell: ({ since }) => formatTime(since) },
            {
              head: t('ended'),
              cell: ({ ended_at: at }) => (at === null ? <Badge tone="warn">{t('lasts')}</Badge> : formatTime(at)),
            },
          ]}
        />
      )}
    </section>
  );
}
