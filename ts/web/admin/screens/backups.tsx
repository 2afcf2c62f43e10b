import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Menu } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { BackupDialog } from '../backups/backup-dialog.tsx';
import { BackupJobs } from '../backups/backup-jobs.tsx';
import { DestinationDialog } from '../backups/destination-dialog.tsx';
import { type Schedule, ScheduleDialog } from '../backups/schedule-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';

type Open = 'schedule' | 'destination' | { id: string } | undefined;

export function Screen() {
  const { data, error, reload } = useData(() => call('GET /api/v1/backup/backups'));
  const plan = useData(loadPlan);
  const [open, setOpen] = useState<Open>();
  const [asked, setAsked] = useState(0);
  const begin = async (work: () => Promise<unknown>): Promise<void> => {
    await attempt(work, t('job_begun'));
    setAsked((count) => count + 1);
  };
  const restore = async (id: string, at: string): Promise<void> => {
    const isMeant = await confirmed(t('restore_question', { time: formatTime(at) }), t('restore_detail'), t('restore'));
    if (isMeant) await begin(() => call('POST /api/v1/backup/restore', { body: { id, confirm: true } }));
  };
  const again = async (): Promise<void> => {
    await Promise.all([reload(), plan.reload()]);
  };
  const close = (): void => setOpen(undefined);
  const backups = data?.backups ?? [];
  return (
    <ScreenFrame
      title={t('backups')}
      detail={t('backups_detail')}
      error={error ?? plan.error}
      isLoading={data === undefined}
      actions={
        <Button look="main" icon="download" onClick={() => void begin(() => call('POST /api/v1/backup/backups'))}>
          {t('back_up_now')}
        </Button>
      }
    >
      {plan.data !== undefined && <Plan plan={plan.data} onOpen={setOpen} onChanged={plan.reload} />}
      <BackupJobs asked={asked} onDone={() => void again()} />
      {backups.length === 0 ? (
        <Empty icon="download" title={t('no_backups')}>
          <span>{t('no_backups_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('backups')}
          rows={backups}
          keyOf={({ id }) => id}
          columns={[
            {
              head: t('created'),
              cell: ({ id, created_at: at }) => (
                <div class="two-lines">
                  <span>{formatTime(at)}</span>
                  <code class="small quiet">{id}</code>
                </div>
              ),
            },
            {
              head: t('encryption'),
              cell: ({ encrypted }) =>
                encrypted ? <Badge tone="good">{t('encrypted')}</Badge> : <Badge tone="warn">{t('plain_text')}</Badge>,
            },
            { head: t('size'), kind: 'number', cell: ({ size_bytes: size }) => formatBytes(size) },
            { head: t('stored'), kind: 'number', cell: ({ stored_bytes: size }) => formatBytes(size) },
            { head: t('version'), cell: ({ version }) => version },
            {
              head: t('actions'),
              kind: 'actions',
              cell: ({ id, created_at: at }) => (
                <Menu
                  items={[
                    {
                      text: t('verify'),
                      icon: 'shield',
                      run: () => void begin(() => call('POST /api/v1/backup/backups/{id}/verify', { params: { id } })),
                    },
                    { text: t('details'), icon: 'list', run: () => setOpen({ id }) },
                    { text: t('restore'), icon: 'refresh', isDangerous: true, run: () => void restore(id, at) },
                  ]}
                  icon="more"
                  size="small"
                  label={t('actions_of', { name: id })}
                />
              ),
            },
          ]}
        />
      )}
      {open === 'schedule' && plan.data !== undefined && (
        <ScheduleDialog schedule={plan.data.schedule} onClose={close} onSaved={plan.reload} />
      )}
      {open === 'destination' && plan.data !== undefined && (
        <DestinationDialog folder={plan.data.destination.folder} onClose={close} onSaved={again} />
      )}
      {typeof open === 'object' && <BackupDialog id={open.id} onClose={close} />}
    </ScreenFrame>
  );
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

/** Where backups go, and when. */
function Plan({ plan, onOpen, onChanged }: { plan: PlanData; onOpen(open: Open): void; onChanged(): Promise<void> }) {
  const { hours, keep, source, next_at: next } = plan.schedule;
  const reset = async (): Promise<void> => {
    await attempt(() => call('DELETE /api/v1/backup/schedule'));
    await onChanged();
  };
  return (
    <section class="card stack" aria-label={t('backup_plan')}>
      <FactList
        facts={[
          { name: t('backup_destination'), value: <code class="breakable">{plan.destination.folder}</code> },
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
        <Button look="plain" icon="clock" onClick={() => onOpen('schedule')}>
          {t('change_schedule')}
        </Button>
        <Button look="plain" icon="edit" onClick={() => onOpen('destination')}>
          {t('change_folder')}
        </Button>
        {source === 'saved' && <Button onClick={() => void reset()}>{t('as_settings')}</Button>}
      </div>
    </section>
  );
}
