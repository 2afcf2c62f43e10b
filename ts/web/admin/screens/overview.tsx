import { useEffect, useState } from 'preact/hooks';
import { call, request } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { formatBytes, formatNumber, formatSeconds } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { FirstSteps } from '../first-steps.tsx';
import { Incidents } from '../incidents.tsx';
import { History } from '../overview/history.ts';
import { readMetrics } from '../overview/metrics.ts';
import { Plot } from '../overview/plot.tsx';
import { ReasonList } from '../reason-list.tsx';
import { ScreenFrame } from '../screen-frame.tsx';

const EVERY_MS = 2000;
const TONES: Record<string, Tone> = { ok: 'good', degraded: 'warn', loading: 'accent', draining: 'warn' };

export function Screen() {
  const health = useData(() => call('GET /health'), [], EVERY_MS);
  const { data } = health;
  return (
    <ScreenFrame
      title={t('overview')}
      error={health.error}
      isLoading={data === undefined}
      actions={data !== undefined && <Badge tone={TONES[data.status] ?? 'neutral'}>{t(`status_${data.status}`)}</Badge>}
    >
      {data !== undefined && <ReasonList reasons={data.reasons} />}
      {data !== undefined && <FirstSteps hasAccounts={data.auth === 'enforce'} />}
      {data !== undefined && (
        <dl class="tiles">
          <Tile name={t('version')} value={data.version} />
          <Tile name={t('uptime')} value={formatSeconds(data.uptime_seconds)} />
          <Tile name={t('authentication')} value={data.auth === 'enforce' ? t('auth_on') : t('auth_off')} />
          <Tile name={t('modules_running')} value={formatNumber(data.modules.length)} />
          {gpusOf(data).map(({ name, description }) => (
            <Tile key={name} name={name} value={description} />
          ))}
        </dl>
      )}
      <Incidents isBrief />
      <Plots />
    </ScreenFrame>
  );
}

/** What a module says of itself stands beside the members that every node has. */
function gpusOf(health: object): readonly { name: string; description: string }[] {
  return (health as { inference?: { gpu?: { devices: { name: string; description: string }[] } } }).inference?.gpu?.devices ?? [];
}

function Tile({ name, value }: { name: string; value: string }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

async function metricsText(): Promise<string> {
  return await (await request('GET /metrics')).text();
}

function Plots() {
  const [history, setHistory] = useState(new History());
  useEffect(() => {
    let isGone = false;
    let isReading = false;
    const read = async (): Promise<void> => {
      if (document.hidden || isReading) return;
      isReading = true;
      const text = await metricsText().catch(() => undefined);
      isReading = false;
      if (text !== undefined && !isGone) setHistory((known) => known.with(readMetrics(text, Date.now() / 1000)));
    };
    void read();
    const timer = setInterval(() => void read(), EVERY_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, []);
  const { times } = history;
  const ttft = 'svc_inference_time_to_first_token_seconds';
  const itl = 'svc_inference_inter_token_seconds';
  const gpuMemory = history.gauges('svc_inference_gpu_memory_bytes{total}');
  const ms = (value: number): string => `${formatNumber(value * 1000, value < 0.01 ? 1 : 0)} ms`;
  const plain = (value: number): string => formatNumber(value, value < 10 ? 2 : 0);
  return (
    <div class="plots">
      <Plot
        title={t('tokens_rate')}
        times={times}
        format={plain}
        least={1}
        series={[
          { name: t('written'), values: history.rates('svc_inference_tokens_total{completion}') },
          { name: t('read'), values: history.rates('svc_inference_tokens_total{prompt}') },
        ]}
      />
      <Plot
        title={t('ttft')}
        times={times}
        format={ms}
        least={0.01}
        series={[
          { name: 'p50', values: history.percentiles(ttft, 0.5) },
          { name: 'p95', values: history.percentiles(ttft, 0.95) },
        ]}
      />
      <Plot
        title={t('itl')}
        times={times}
        format={ms}
        least={0.01}
        series={[
          { name: 'p50', values: history.percentiles(itl, 0.5) },
          { name: 'p95', values: history.percentiles(itl, 0.95) },
        ]}
      />
      <Plot
        title={t('requests')}
        times={times}
        format={plain}
        least={1}
        series={[
          { name: t('in_flight'), values: history.gauges('svc_http_requests_in_flight') },
          { name: t('waiting_requests'), values: history.gauges('svc_inference_queued_requests') },
        ]}
      />
      <Plot
        title={t('kv_cells')}
        times={times}
        format={plain}
        least={64}
        series={[
          { name: t('used'), values: history.gauges('svc_inference_kv_cells_used') },
          { name: t('in_all'), values: history.gauges('svc_inference_kv_cells') },
        ]}
      />
      <Plot
        title={t('memory')}
        times={times}
        format={formatBytes}
        least={1}
        series={[
          { name: t('process'), values: history.gauges('process_resident_memory_bytes') },
          { name: t('models'), values: history.gauges('svc_inference_model_memory_bytes{used}') },
        ]}
      />
      {gpuMemory.some((bytes) => bytes !== null) && (
        <Plot
          title={t('gpu_memory')}
          times={times}
          format={formatBytes}
          least={1}
          series={[
            { name: t('used'), values: history.gauges('svc_inference_gpu_memory_bytes{used}') },
            { name: t('in_all'), values: gpuMemory },
          ]}
        />
      )}
      <Plot
        title={t('cpu')}
        times={times}
        format={plain}
        least={1}
        series={[{ name: t('cores_busy'), values: history.rates('process_cpu_seconds_total') }]}
      />
    </div>
  );
}
