import { useState } from 'preact/hooks';
import type { PageQuery } from '../../../client/list-pages.ts';
import { call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Progress } from '../../design/progress.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { type Job, JobDialog } from '../job-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useRows } from '../use-rows.ts';

type State = Job['state'];

const EVERY_MS = 2000;
const STATES: readonly State[] = ['queued', 'running', 'done', 'failed', 'cancelled'];
const TONES: Record<State, Tone> = { queued: 'neutral', running: 'accent', done: 'good', failed: 'danger', cancelled: 'warn' };

export function Jobs() {
  const [state, setState] = useState('');
  const [shown, setShown] = useState<Job>();
  const load = async ({ limit, after }: PageQuery) => {
    const query = {
      limit,
      ...(after === undefined ? {} : { before: after }),
      ...(state === '' ? {} : { state: state as State }),
    };
    const { jobs, next } = await call('GET /api/v1/system/jobs', { query });
    return { data: jobs, next };
  };
  const { rows, error, reload, more } = useRows(load, { inputs: [state], everyMs: EVERY_MS });
  const states = [{ value: '', text: t('all') }, ...STATES.map((value) => ({ value, text: t(`job_${value}`) }))];
  return (
    <ScreenFrame
      title={t('jobs')}
      error={error}
      isLoading={rows === undefined}
      actions={<SelectField label={t('state')} value={state} options={states} onChange={setState} />}
    >
      {rows?.length === 0 ? (
        <Empty icon="clock" title={t('no_jobs')}>
          <span>{t('no_jobs_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('jobs')}
          rows={rows ?? []}
          more={more}
          keyOf={({ id }) => id}
          columns={[
            { head: t('kind'), cell: ({ kind }) => kind },
            { head: t('state'), cell: ({ state: at }) => <Badge tone={TONES[at]}>{t(`job_${at}`)}</Badge> },
            { head: t('progress'), cell: (job) => <JobProgress job={job} /> },
            { head: t('created'), cell: ({ created_at }) => formatTime(created_at) },
            { head: t('ended'), cell: ({ ended_at }) => formatTime(ended_at) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (job) => (
                <span class="row">
                  <Button size="small" aria-label={t('details_of', { name: job.kind })} onClick={() => setShown(job)}>
                    {t('details')}
                  </Button>
                  {(job.state === 'queued' || job.state === 'running') && (
                    <Button size="small" onClick={() => void cancel(job).then(reload)}>
                      {t('cancel')}
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
      )}
      {shown !== undefined && <JobDialog job={shown} onClose={() => setShown(undefined)} />}
    </ScreenFrame>
  );
}

async function cancel({ id, kind }: Job): Promise<void> {
  if (!(await confirmed(t('cancel_job'), t('cancel_job_detail', { kind }), t('cancel_job')))) return;
  await attempt(() => call('POST /api/v1/system/jobs/{id}/cancel', { params: { id } }));
}

function JobProgress({ job }: { job: Job }) {
  const { progress, error, state, kind } = job;
  if (error !== null) return <span class="breakable">{error.detail}</span>;
  if (state !== 'running') return <>{progress?.message ?? '–'}</>;
  const total = progress?.total ?? undefined;
  return <Progress label={kind} value={total === undefined || total === 0 ? undefined : (progress?.done ?? 0) / total} />;
}
