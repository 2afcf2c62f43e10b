import { useState } from 'preact/hooks';
import { Refusal } from '../../../client/refusal.ts';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { Table } from '../../design/table.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatBytes, formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Status = Answer<'GET /api/v1/logs/status'>;
type Config = Omit<Answer<'GET /api/v1/logs/rsyslog/config'>, 'applied'>;

const EVERY_MS = 5_000;
/** A first configuration begins with this. */
const EXAMPLE: Config = {
  listen: [{ protocol: 'tcp', address: '0.0.0.0', port: 1514 }],
  allowed_networks: ['10.0.0.0/8', '192.168.0.0/16'],
  sources: [],
  classes: [{ name: 'auth', match: { app: 'sshd' } }],
  copies: ['/var/lib/svc/logs-a', '/var/lib/svc/logs-b'],
  retention: { days: 90, bytes: 100_000_000_000 },
};

export function Screen() {
  const { data, error, reload } = useData(() => call('GET /api/v1/logs/status'), [], EVERY_MS);
  const config = useData(loadConfig);
  const repair = async (): Promise<void> => {
    const { files, lines } = await call('POST /api/v1/logs/repair');
    showToast(t('collection_repaired', { files: formatNumber(files), lines: formatNumber(lines) }));
    await reload();
  };
  return (
    <ScreenFrame
      title={t('collection')}
      detail={t('collection_detail')}
      error={error ?? config.error}
      isLoading={data === undefined || config.data === undefined}
      actions={
        data !== undefined && (
          <>
            <Badge tone={data.rsyslog.state === 'running' ? 'good' : 'warn'}>{t(`collection_state_${data.rsyslog.state}`)}</Badge>
            {data.copies.length > 0 && <Button onClick={() => void attempt(repair)}>{t('collection_repair')}</Button>}
          </>
        )
      }
    >
      {data !== undefined && data.copies.length > 0 && <Copies status={data} />}
      {config.data !== undefined && <Configuration config={config.data} onApplied={reload} />}
    </ScreenFrame>
  );
}

/** A node that collects nothing yet is shown an example. */
async function loadConfig(): Promise<Config> {
  try {
    const { applied: _, ...config } = await call('GET /api/v1/logs/rsyslog/config');
    return config;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'rsyslog_not_configured') return EXAMPLE;
    throw error;
  }
}

function Copies({ status }: { status: Status }) {
  return (
    <section class="stack">
      <div class="row">
        <h2>{t('collection_copies')}</h2>
        <Badge tone={status.in_step ? 'good' : 'danger'}>
          {status.in_step ? t('collection_in_step') : t('collection_differs')}
        </Badge>
      </div>
      <Table
        label={t('collection_copies')}
        rows={status.copies}
        keyOf={({ path }) => path}
        columns={[
          {
            head: t('folder'),
            cell: ({ path, error }) => (
              <div class="two-lines">
                <code class="breakable">{path}</code>
                {error !== null && <span class="small quiet breakable">{error}</span>}
              </div>
            ),
          },
          { head: t('size'), kind: 'number', cell: ({ bytes }) => formatBytes(bytes) },
          {
            head: t('collection_free'),
            kind: 'number',
            cell: ({ free_bytes: free }) => (free === null ? '–' : formatBytes(free)),
          },
          { head: t('collection_missing'), kind: 'number', cell: ({ missing_lines: missing }) => formatNumber(missing) },
          { head: t('collection_last_write'), cell: ({ last_write_at: at }) => formatTime(at) },
        ]}
      />
    </section>
  );
}

function Configuration({ config, onApplied }: { config: Config; onApplied(): Promise<void> }) {
  const [text, setText] = useState(JSON.stringify(config, undefined, 2));
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const apply = async (): Promise<void> => {
    setBusy(true);
    setWrong(undefined);
    try {
      await call('PUT /api/v1/logs/rsyslog/config', { body: parsed(text) });
      const { listeners } = await call('POST /api/v1/logs/rsyslog/apply');
      showToast(t('collection_applied', { count: listeners }));
      await onApplied();
    } catch (error) {
      setWrong(explain(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card stack" aria-label={t('collection_config')}>
      <h2>{t('collection_config')}</h2>
      {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
      <TextArea
        label={t('collection_config')}
        hint={t('collection_config_hint')}
        value={text}
        onInput={setText}
        rows={20}
        isCode
      />
      <div class="row">
        <Button look="main" busy={isBusy} onClick={() => void apply()}>
          {t('collection_apply')}
        </Button>
      </div>
    </section>
  );
}

function parsed(text: string): Config {
  try {
    return JSON.parse(text) as Config;
  } catch {
    throw new Error(t('collection_no_json'));
  }
}
