import { call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Progress } from '../../design/progress.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { type Job, JobDialog } from '../job-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

type State = Job['state'];

const TONES: Record<State, Tone> = { queued: 'neutral', running: 'accent', done: 'good', failed: 'danger', cancelled: 'warn' };
const STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

export const Screen = listScreen({
  title: 'jobs',
  load: async ({ limit, after: before }, { state }) => {
    const query = { limit, before, state: STATES.find((each) => each === state) };
    const { jobs, next } = await call('GET /api/v1/system/jobs', { query });
    return { data: jobs, next };
  },
  keyOf: ({ id }) => id,
  everyMs: 2000,
  empty: { icon: 'clock', title: 'no_jobs', detail: 'no_jobs_detail' },
  filters: [
    {
      name: 'state',
      label: 'state',
      options: () => [{ value: '', text: t('all') }, ...STATES.map((value) => ({ value, text: t(`job_${value}`) }))],
    },
  ],
  columns: [
    { head: 'kind', cell: ({ kind }) => kind },
    { head: 'state', cell: ({ state }) => <Badge tone={TONES[state]}>{t(`job_${state}`)}</Badge> },
    { head: 'progress', cell: (job) => <JobProgress job={job} /> },
    { head: 'created', cell: ({ created_at: at }) => formatTime(at) },
    { head: 'ended', cell: ({ ended_at: at }) => formatTime(at) },
  ],
  buttons: (job) => [
    {
      text: t('details'),
      label: t('details_of', { name: job.kind }),
      window: ({ close }) => <JobDialog job={job} onClose={close} />,
    },
    ...(job.state === 'queued' || job.state === 'running' ? [cancelOf(job)] : []),
  ],
});

function cancelOf({ id, kind }: Job) {
  return {
    text: t('cancel'),
    question: [t('cancel_job'), t('cancel_job_detail', { kind }), t('cancel_job')] as const,
    run: () => call('POST /api/v1/system/jobs/{id}/cancel', { params: { id } }),
  };
}

function JobProgress({ job }: { job: Job }) {
  const { progress, error, state, kind } = job;
  if (error !== null) return <span class="breakable">{error.detail}</span>;
  if (state !== 'running') return <>{progress?.message ?? '–'}</>;
  const total = progress?.total ?? undefined;
  return <Progress label={kind} value={total === undefined || total === 0 ? undefined : (progress?.done ?? 0) / total} />;
}
