/** All about one background job, while it runs. */
import { type Answer, call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Dialog } from '../design/dialog.tsx';
import { FactList } from '../design/fact-list.tsx';
import { Notice } from '../design/notice.tsx';
import { formatSeconds, formatTime } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';

export type Job = Answer<'GET /api/v1/system/jobs'>['jobs'][number];
const EVERY_MS = 1000;

export function JobDialog({ job: given, onClose }: { job: Job; onClose(): void }) {
  const { data: job = given } = useData(() => call('GET /api/v1/system/jobs/{id}', { params: { id: given.id } }), [], EVERY_MS);
  const isOver = job.ended_at !== null;
  return (
    <Dialog title={job.kind} wide onClose={onClose}>
      {job.error !== null && (
        <Notice tone="danger">
          {job.error.detail} {job.error.remedy}
        </Notice>
      )}
      <FactList
        facts={[
          { name: t('id'), value: <code class="breakable">{job.id}</code> },
          { name: t('state'), value: t(`job_${job.state}`) },
          { name: t('job_owner'), value: job.owner ?? '–' },
          { name: t('attempts'), value: `${job.attempts} / ${job.max_attempts}` },
          { name: t('created'), value: formatTime(job.created_at) },
          { name: t('begun'), value: formatTime(job.started_at) },
          { name: isOver ? t('ended') : t('job_remaining'), value: isOver ? formatTime(job.ended_at) : etaOf(job) },
        ]}
      />
      <Json label={t('job_input')} value={job.input} />
      <Json label={t('job_result')} value={job.result} />
    </Dialog>
  );
}

function etaOf({ eta_seconds: eta }: Job): string {
  return eta === null ? '–' : formatSeconds(eta);
}

function Json({ label, value }: { label: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <section class="stack" aria-label={label}>
      <h3>{label}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre class="example" tabIndex={0}>
        {JSON.stringify(value, undefined, 2)}
      </pre>
    </section>
  );
}
