/** Backups that are being made, verified or restored, and how the last ones ended. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Notice } from '../../design/notice.tsx';
import { Progress } from '../../design/progress.tsx';
import { formatBytes } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';

type Job = Answer<'GET /api/v1/system/jobs'>['jobs'][number];

const EVERY_MS = 1000;
const SHOWN_ENDED_MS = 10 * 60_000;

/** Counts the jobs that were begun here, which show at once. */
export const nBegun = signal(0);

export function BackupJobs({ onDone }: { onDone(): void }) {
  const load = async (): Promise<Job[]> => {
    const kinds = ['backup.create', 'backup.verify', 'backup.restore'];
    const pages = await Promise.all(kinds.map((kind) => call('GET /api/v1/system/jobs', { query: { kind, limit: 5 } })));
    return pages.flatMap(({ jobs }) => jobs);
  };
  const { data = [] } = useData(load, [nBegun.value], EVERY_MS);
  const running = data.filter(({ state }) => state === 'queued' || state === 'running');
  const before = useRef(0);
  useEffect(() => {
    if (running.length < before.current) onDone();
    before.current = running.length;
  }, [running.length]);
  const isRecent = ({ ended_at: at }: Job): boolean => Date.now() - Date.parse(at ?? '') < SHOWN_ENDED_MS;
  const failed = data.filter((job) => job.state === 'failed' && isRecent(job));
  const verified = data.filter((job) => job.state === 'done' && job.kind === 'backup.verify' && isRecent(job));
  return (
    <>
      {running.map((job) => (
        <Running key={job.id} job={job} />
      ))}
      {failed.map(({ id, error }) => (
        <Notice key={id} tone="danger">
          {error?.detail} {error?.remedy}
        </Notice>
      ))}
      {verified.map(({ id, input, result }) => (
        <Notice key={id}>{t('backup_verified', { id: textOf(input, 'backup'), count: Number(textOf(result, 'files')) })}</Notice>
      ))}
    </>
  );
}

function Running({ job: { kind, progress } }: { job: Job }) {
  const name = nameOf(kind);
  const done = progress?.done ?? 0;
  const total = progress?.total ?? undefined;
  return (
    <section class="card pull" aria-label={name}>
      <div class="row">
        <strong>{name}</strong>
        <span class="small quiet">{progress?.unit === 'bytes' ? formatBytes(done) : (progress?.message ?? '')}</span>
      </div>
      <Progress label={name} value={total === undefined || total === 0 ? undefined : done / total} />
    </section>
  );
}

function nameOf(kind: string): string {
  if (kind === 'backup.create') return t('backup_being_made');
  return kind === 'backup.verify' ? t('backup_being_verified') : t('backup_being_restored');
}

function textOf(value: unknown, member: string): string {
  const found = (value as Record<string, unknown> | null)?.[member];
  return found === undefined ? '' : String(found);
}
