import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { actorName, userNames } from '../account-names.ts';
import { attempt } from '../attempt.ts';
import { type AuditQuery, AuditSearch } from '../audit/audit-search.tsx';
import { type AuditLine, LineDialog } from '../audit/line-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';

type Verification = Answer<'GET /api/v1/identity/audit/verify'>;

const PAGE = 100;
const TONES = { done: 'good', denied: 'warn', failed: 'danger' } as const;

export function Screen() {
  const [query, setQuery] = useState<AuditQuery>({});
  const [after, setAfter] = useState<number>();
  const [shown, setShown] = useState<AuditLine>();
  const load = () => call('GET /api/v1/security/audit', { query: { ...query, limit: PAGE, after } });
  const { data, error } = useData(load, [query, after]);
  const names = useData(userNames);
  const [verification, setVerification] = useState<Verification>();
  const [isVerifying, setVerifying] = useState(false);
  const verify = async (): Promise<void> => {
    setVerifying(true);
    await attempt(async () => setVerification(await call('GET /api/v1/security/audit/verify')));
    setVerifying(false);
  };
  const search = (asked: AuditQuery): void => {
    setAfter(undefined);
    setQuery(asked);
  };
  const rows = data?.data ?? [];
  return (
    <ScreenFrame
      title={t('audit_log')}
      detail={t('audit_detail')}
      actions={
        hasRole('superadmin') && (
          <Button look="plain" icon="shield" busy={isVerifying} onClick={() => void verify()}>
            {t('verify')}
          </Button>
        )
      }
      error={error}
    >
      {verification !== undefined && <Verified verification={verification} />}
      <AuditSearch onSearch={search} />
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && rows.length === 0 && <Empty icon="search" title={t('nothing_found')} />}
      {rows.length > 0 && (
        <Table
          label={t('audit_log')}
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          columns={[
            { head: '#', kind: 'number', cell: ({ seq }) => seq },
            { head: t('time'), cell: ({ at }) => formatTime(at) },
            { head: t('actor'), cell: ({ actor }) => <span class="breakable">{actorName(actor, names.data)}</span> },
            { head: t('action'), cell: ({ action }) => <code class="breakable">{action}</code> },
            { head: t('target'), cell: ({ target }) => <span class="breakable">{target}</span> },
            { head: t('outcome'), cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{t(`outcome_${outcome}`)}</Badge> },
            { head: t('address'), cell: ({ remote_address }) => <code>{remote_address}</code> },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (line) => (
                <Button
                  size="small"
                  aria-label={t('details_of', { name: t('audit_line', { seq: String(line.seq) }) })}
                  onClick={() => setShown(line)}
                >
                  {t('details')}
                </Button>
              ),
            },
          ]}
        />
      )}
      <div class="row">
        {after !== undefined && <Button onClick={() => setAfter(undefined)}>{t('newest')}</Button>}
        {data?.next !== undefined && <Button onClick={() => setAfter(data.next)}>{t('older')}</Button>}
      </div>
      {shown !== undefined && (
        <LineDialog line={shown} actor={actorName(shown.actor, names.data)} onClose={() => setShown(undefined)} />
      )}
    </ScreenFrame>
  );
}

function Verified({ verification: { entries, broken_at: brokenAt } }: { verification: Verification }) {
  if (brokenAt === null) return <Notice>{t('audit_holds', { count: entries })}</Notice>;
  return <Notice tone="danger">{t('audit_broken', { seq: brokenAt })}</Notice>;
}
