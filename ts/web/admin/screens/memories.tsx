import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { Forecasts } from '../memory/forecasts.tsx';
import { ScreenFrame } from '../screen-frame.tsx';

type Dream = Answer<'GET /api/v1/memory/dreams'>['data'][number];
type MemoryFile = Answer<'GET /api/v1/exmm/models'>['data'][number];
type RouterStatus = Answer<'GET /api/v1/router-xlstm/status'>;

const EVERY_MS = 5_000;
const SHOWN_DREAMS = 20;
const TONES: Record<Dream['state'], Tone> = {
  queued: 'neutral',
  running: 'accent',
  done: 'good',
  failed: 'danger',
  cancelled: 'warn',
};

/** Shows when memories of the tenant are put in order and what was done, how series go on, and how well routes are chosen. */
export function Screen() {
  const dreams = useData(() => call('GET /api/v1/memory/dreams', { query: { limit: SHOWN_DREAMS } }), [], EVERY_MS);
  const router = useData(() => call('GET /api/v1/router-xlstm/status'), [], EVERY_MS);
  const time = useData(dreamTime);
  const files = useData(() => call('GET /api/v1/exmm/models'));
  const dream = async (): Promise<void> => {
    await attempt(() => call('POST /api/v1/memory/dream', { body: { owner: 'tenant' } }), t('dream_begun'));
    await dreams.reload();
  };
  return (
    <ScreenFrame
      title={t('memories')}
      detail={t('memory_detail')}
      error={dreams.error ?? router.error ?? time.error ?? files.error}
      isLoading={dreams.data === undefined || router.data === undefined || files.data === undefined}
      actions={
        <Button icon="moon" onClick={() => void dream()}>
          {t('dream_now')}
        </Button>
      }
    >
      {router.data !== undefined && <Router status={router.data} reload={router.reload} />}
      <p class="small quiet">
        {time.data === undefined
          ? t('dream_schedule')
          : time.data === ''
            ? t('dream_on_demand')
            : t('dream_at', { time: time.data })}{' '}
        {hasRole('superadmin') && <a href="#settings">{t('settings')}</a>}
      </p>
      {dreams.data !== undefined && <Dreams list={dreams.data.data} />}
      {files.data !== undefined && <Files list={files.data.data} reload={files.reload} />}
      <Forecasts files={files.data?.data.map(({ file }) => file) ?? []} />
    </ScreenFrame>
  );
}

/** Undefined: the caller does not read settings. */
async function dreamTime(): Promise<string | undefined> {
  if (!hasRole('superadmin')) return undefined;
  const { settings } = await call('GET /api/v1/system/settings');
  const value = settings.find(({ key }) => key === 'memory.dream_at')?.value;
  return typeof value === 'string' ? value : undefined;
}

function Router({ status, reload }: { status: RouterStatus; reload(): Promise<void> }) {
  const { mode, decisions, regret, accuracy, floor, file } = status;
  const learn = async (): Promise<void> => {
    await attempt(() => call('POST /api/v1/router-xlstm/learn', { body: {} }), t('router_begun'));
    await reload();
  };
  return (
    <section class="card" aria-label={t('router')}>
      <h2>{t('router')}</h2>
      <FactList
        facts={[
          { name: t('router_mode'), value: t(`router_${mode}`) },
          { name: t('router_decisions'), value: formatNumber(decisions) },
          { name: t('router_regret'), value: formatNumber(regret) },
          { name: t('router_accuracy'), value: percent(accuracy) },
          { name: t('router_floor'), value: percent(floor) },
          { name: t('memory_file'), value: <span class="breakable">{file ?? '–'}</span> },
        ]}
      />
      <p class="row">
        <Button look="plain" size="small" icon="refresh" onClick={() => void learn()}>
          {t('router_learn')}
        </Button>
      </p>
    </section>
  );
}

function percent(share: number | null): string {
  return share === null ? '–' : `${formatNumber(Math.round(share * 1_000) / 10)} %`;
}

function Dreams({ list }: { list: readonly Dream[] }) {
  if (list.length === 0) return <p class="small quiet">{t('no_dreams')}</p>;
  return (
    <Table
      label={t('dreams')}
      rows={list}
      keyOf={({ id }) => id}
      columns={[
        { head: t('dream_began'), cell: ({ began_at: at }) => formatTime(at) },
        { head: t('dream_owner'), cell: ({ owner }) => (owner === 'tenant' ? t('dream_of_all') : t('dream_of_me')) },
        {
          head: t('state'),
          cell: ({ state, dry_run: isDry }) => (
            <Badge tone={TONES[state] ?? 'neutral'}>{isDry ? t('dream_dry') : t(`dream_${state}`)}</Badge>
          ),
        },
        { head: t('dream_changes'), kind: 'long', cell: ({ report }) => changesOf(report) },
      ]}
    />
  );
}

function changesOf(report: Dream['report']): string {
  if (report === null) return '–';
  const steps = Object.entries(report.changed).map(([step, n]) => `${step} ${formatNumber(n)}`);
  return steps.length === 0 ? '–' : steps.join(', ');
}

/** A superadmin pins one of the own tenant for everybody. */
function Files({ list, reload }: { list: readonly MemoryFile[]; reload(): Promise<void> }) {
  if (list.length === 0) return <p class="small quiet">{t('no_memory_files')}</p>;
  const change = async ({ file, pinned }: MemoryFile): Promise<void> => {
    const path = '/api/v1/cluster/storage/system-exmm';
    await attempt(() => (pinned === true ? call(`DELETE ${path}`) : call(`PUT ${path}`, { body: { file } })));
    await reload();
  };
  return (
    <Table
      label={t('memory_files')}
      rows={list}
      keyOf={({ file, node }) => `${file} ${node}`}
      columns={[
        { head: t('memory_file'), cell: ({ file }) => <span class="breakable">{file}</span> },
        { head: t('size'), kind: 'number', cell: ({ size_bytes: bytes }) => formatBytes(bytes) },
        {
          head: t('state'),
          cell: ({ pinned }) => (pinned === true ? <Badge tone="accent">{t('memory_file_pinned')}</Badge> : '–'),
        },
        {
          head: t('actions'),
          kind: 'actions',
          cell: (row) =>
            hasRole('superadmin') && (
              <Button look="plain" size="small" icon="pin" onClick={() => void change(row)}>
                {t(row.pinned === true ? 'memory_unpin' : 'memory_pin', { file: row.file })}
              </Button>
            ),
        },
      ]}
    />
  );
}
