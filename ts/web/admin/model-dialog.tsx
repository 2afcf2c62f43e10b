/** One model: what it is, what it takes, and what its engine does. */
import { type Answer, call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Dialog } from '../design/dialog.tsx';
import { type Fact, FactList } from '../design/fact-list.tsx';
import { Notice } from '../design/notice.tsx';
import { Progress } from '../design/progress.tsx';
import { formatBytes, formatNumber } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';
import { abilityName, measuredName, modelStateName } from './model-words.ts';

const EVERY_MS = 1000;

export function ModelDialog({ id, onClose }: { id: string; onClose(): void }) {
  const { data, error } = useData(() => call('GET /api/v1/inference/models/{id}', { params: { id } }), [], EVERY_MS);
  const file = useData(() => call('GET /api/v1/data/models/{id}', { params: { id } }));
  return (
    <Dialog title={id} wide onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data?.load_progress !== undefined && <Progress label={t('loading')} value={data.load_progress} />}
      {data !== undefined && (
        <FactList
          facts={[
            { name: t('state'), value: modelStateName(data.state) },
            { name: t('abilities'), value: data.capabilities.map(abilityName).join(', ') || '–' },
            ...documentFacts(data),
            { name: t('kept_in_memory'), value: data.pinned ? t('yes') : t('no') },
            { name: t('requests'), value: formatNumber(data.requests) },
            { name: t('memory'), value: bytesOrNothing(data.memory_bytes) },
            { name: t('memory_predicted'), value: bytesOrNothing(data.predicted_bytes) },
            { name: t('architecture'), value: [data.architecture, data.quantisation].filter(Boolean).join(' · ') },
            { name: t('license'), value: data.license ?? '–' },
            { name: t('file'), value: <code class="breakable">{file.data?.file ?? '–'}</code> },
            { name: 'SHA-256', value: <code class="breakable">{file.data?.sha256 ?? '–'}</code> },
            ...engineFacts(data.engine),
            ...stateFacts(data.stats),
          ]}
        />
      )}
    </Dialog>
  );
}

function bytesOrNothing(bytes: number | undefined): string {
  return bytes === undefined ? '–' : formatBytes(bytes);
}

type Measured = Pick<Answer<'GET /api/v1/inference/models/{id}'>, 'documents' | 'abilities'>;

/** How it answers from documents, and what that was measured by. */
function documentFacts({ documents, abilities }: Measured): Fact[] {
  const { tasks, ...shares } = abilities ?? { tasks: 0 };
  const measured = Object.entries(shares).map(([name, share]) => `${measuredName(name)} ${formatNumber(100 * share)} %`);
  return [
    ...(documents === undefined ? [] : [{ name: t('documents'), value: t(`documents_${documents}`) }]),
    ...(tasks === 0 ? [] : [{ name: t('measured_abilities', { count: tasks }), value: measured.join(' · ') }]),
  ];
}

interface Engine {
  n_ctx: number;
  n_ctx_per_request: number;
  n_parallel: number;
  n_threads: number;
}

function engineFacts(engine: Engine | undefined): Fact[] {
  if (engine === undefined) return [];
  return [
    { name: t('engine_context'), value: formatNumber(engine.n_ctx) },
    { name: t('engine_context_request'), value: formatNumber(engine.n_ctx_per_request) },
    { name: t('engine_parallel'), value: formatNumber(engine.n_parallel) },
    { name: t('engine_threads'), value: formatNumber(engine.n_threads) },
  ];
}

interface EngineState {
  active: number;
  queued: number;
  kv_cells: number;
  kv_cells_used: number;
}

function stateFacts(stats: EngineState | undefined): Fact[] {
  if (stats === undefined) return [];
  return [
    { name: t('kv_cells'), value: `${formatNumber(stats.kv_cells_used)} / ${formatNumber(stats.kv_cells)}` },
    { name: t('in_flight'), value: `${formatNumber(stats.active)} (${formatNumber(stats.queued)} ${t('waiting_requests')})` },
  ];
}
