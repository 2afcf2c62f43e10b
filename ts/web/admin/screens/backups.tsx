import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatBytes, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { BackupDialog } from '../backups/backup-dialog.tsx';
import { BackupJobs, nBegun } from '../backups/backup-jobs.tsx';
import { DestinationDialog } from '../backups/destination-dialog.tsx';
import { type Schedule, ScheduleDialog } from '../backups/schedule-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

export const Screen = listScreen({
  title: 'backups',
  detail: 'backups_detail',
  load: async () => ({ data: (await call('GET /api/v1/backup/backups')).backups }),
  keyOf: ({ id }) => id,
  empty: { icon: 'download', title: 'no_backups', detail: 'no_backups_detail' },
  head: () => (
    <Button look="main" icon="download" onClick={() => void attempt(backUp, t('job_begun'))}>
      {t('back_up_now')}
    </Button>
  ),
  above: ({ reload }) => (
    <>
      <Plan onMoved={reload} />
      <BackupJobs onDone={() => void reload()} />
    </>
  ),
  columns: [
    {
      head: 'created',
      cell: ({ id, created_at: at }) => (
        <div class="two-lines">
          <span>{formatTime(at)}</span>
          <code class="small quiet">{id}</code>
        </div>
      ),
    },
    {
      head: 'encryption',
      cell: ({ encrypted }) =>
        encrypted ? <Badge tone="good">{t('encrypted')}</Badge> : <Badge tone="warn">{t('plain_text')}</Badge>,
    },
    { head: 'size', kind: 'number', cell: ({ size_bytes: size }) => formatBytes(size) },
    { head: 'stored', kind: 'number', cell: ({ stored_bytes: size }) => formatBytes(size) },
    { head: 'version', cell: ({ version }) => version },
  ],
  menu: ({ id, created_at: at }) => [
    {
      text: t('verify'),
      icon: 'shield',
      run: () => begin(call('POST /api/v1/backup/backups/{id}/verify', { params: { id } })),
      done: t('job_begun'),
    },
    { text: t('details'), icon: 'list', window: ({ close }) => <BackupDialog id={id} onClose={close} /> },
    {
      text: t('restore'),
      icon: 'refresh',
      isDangerous: true,
      question: [t('restore_question', { time: formatTime(at) }), t('restore_detail'), t('restore')],
      run: () => begin(call('POST /api/v1/backup/restore', { body: { id, confirm: true } })),
      done: t('job_begun'),
    },
  ],
});

function backUp(): Promise<void> {
  return begin(call('POST /api/v1/backup/backups'));
}

async function begin(job: Promise<unknown>): Promise<void> {
  await job;
  nBegun.value++;
}

interface PlanData {
  destination: Answer<'GET /api/v1/backup/destination'>;
  schedule: Schedule;
}

async function loadPlan(): Promise<PlanData> {
  const [destination, schedule] = await Promise.all([
    call('GET /api/v1/backup/destination'),
    call('GET /api/v1/backup/schedule'),
  ]);
  return { destination, schedule };
}

/** Where backups go, and when. `onMoved`: other backups are listed then. */
function Plan({ onMoved }: { onMoved(): Promise<void> }) {
  const { data: plan, error, reload } = useData(loadPlan);
  const [open, setOpen] = useState<'schedule' | 'destination'>();
  if (error !== undefined) return <Notice tone="danger">{explain(error)}</Notice>;
  if (plan === undefined) return null;
  const { hours, keep, source, next_at: next } = plan.schedule;
  const { folder } = plan.destination;
  const reset = async (): Promise<void> => {
    await attempt(() => call('DELETE /api/v1/backup/schedule'));
    await reload();
  };
  const moved = async (): Promise<void> => {
    await Promise.all([reload(), onMoved()]);
  };
  const close = (): void => setOpen(undefined);
  return (
    <section class="card stack" aria-label={t('backup_plan')}>
      <FactList
        facts={[
          { name: t('backup_destination'), value: <code class="breakable">{folder}</code> },
          {
            name: t('backup_schedule'),
            value:
              hours === 0
                ? t('schedule_none')
                : `${t('schedule_every', { hours })} · ${t('next_at', { time: formatTime(next) })}`,
          },
          { name: t('schedule_keep'), value: keep === 0 ? t('all') : String(keep) },
          { name: t('source'), value: source === 'saved' ? t('source_saved') : t('source_settings') },
        ]}
      />
      <div class="row">
        <Button look="plain" icon="clock" onClick={() => setOpen('schedule')}>
          {t('change_schedule')}
        </Button>
        <Button look="plain" icon="edit" onClick={() => setOpen('destination')}>
          {t('change_folder')}
        </Button>
        {source === 'saved' && <Button onClick={() => void reset()}>{t('as_settings')}</Button>}
      </div>
      {open === 'schedule' && <ScheduleDialog schedule={plan.schedule} onClose={close} onSaved={reload} />}
      {open === 'destination' && <DestinationDialog folder={folder} onClose={close} onSaved={moved} />}
    </section>
  );
}
