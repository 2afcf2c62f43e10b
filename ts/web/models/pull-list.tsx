/** Models that are being fetched, and those that could not be. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { Progress } from '../design/progress.tsx';
import { showToast } from '../design/toasts.tsx';
import { formatBytes, formatSeconds } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

type Pull = Answer<'GET /api/v1/system/jobs'>['jobs'][number];

const EVERY_MS = 1000;
/** Others may begin one. */
const IDLE_MS = 5000;
const SHOWN_FAILED_MS = 10 * 60_000;

/** `nBegun`: how many pulls the page has begun, so that a new one is seen at once. `onDone`: one has ended, however it did. */
export function PullList({ nBegun = 0, onDone }: { nBegun?: number; onDone(): void }) {
  const [isIdle, setIdle] = useState(true);
  const { data, reload } = useData(
    () => call('GET /api/v1/system/jobs', { query: { kind: 'inference.pull', limit: 20 } }),
    [nBegun],
    isIdle ? IDLE_MS : EVERY_MS,
  );
  const pulls = data?.jobs ?? [];
  const running = pulls.filter(({ state }) => state === 'queued' || state === 'running');
  const before = useRef(new Set<string>());
  useEffect(() => {
    const now = new Set(running.map(({ id }) => id));
    if ([...before.current].some((id) => !now.has(id))) onDone();
    before.current = now;
    setIdle(now.size === 0);
  }, [running.map(({ id }) => id).join()]);
  const failed = pulls.filter(
    ({ state, ended_at }) => state === 'failed' && Date.now() - Date.parse(ended_at ?? '') < SHOWN_FAILED_MS,
  );
  return (
    <>
      {running.map((pull) => (
        <RunningPull key={pull.id} pull={pull} onCancel={() => void cancel(pull.id).then(reload)} />
      ))}
      {failed.map((pull) => (
        <Notice key={pull.id} tone="danger">
          <strong>{nameOf(pull)}</strong>: {pull.error?.detail} {pull.error?.remedy}
        </Notice>
      ))}
    </>
  );
}

function RunningPull({ pull, onCancel }: { pull: Pull; onCancel(): void }) {
  const { progress, eta_seconds: eta } = pull;
  const total = progress?.total ?? undefined;
  const done = progress?.done ?? 0;
  const facts = [
    progress?.unit === 'bytes' ? `${formatBytes(done)}${total === undefined ? '' : ` / ${formatBytes(total)}`}` : '',
    eta === null ? '' : t('time_left', { time: formatSeconds(eta) }),
    progress?.message ?? '',
  ];
  return (
    <section class="card pull" aria-label={nameOf(pull)}>
      <div class="row">
        <strong class="breakable">{nameOf(pull)}</strong>
        <span class="small quiet">{facts.filter(Boolean).join(' · ')}</span>
        <Button class="push" size="small" onClick={onCancel}>
          {t('cancel')}
        </Button>
      </div>
      <Progress label={nameOf(pull)} value={total === undefined || total === 0 ? undefined : done / total} />
    </section>
  );
}

function nameOf({ input, id }: Pull): string {
  const given = (input ?? {}) as { reference?: unknown };
  return typeof given.reference === 'string' ? given.reference : id;
}

async function cancel(id: string): Promise<void> {
  try {
    await call('DELETE /api/v1/models/pulls/{id}', { params: { id } });
    showToast(t('pull_cancelled'));
  } catch (error) {
    showToast(explain(error));
  }
}
