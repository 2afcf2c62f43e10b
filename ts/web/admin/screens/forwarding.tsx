import { useState } from 'preact/hooks';
import { Refusal } from '../../../client/refusal.ts';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { type Fact, FactList } from '../../design/fact-list.tsx';
import { Table } from '../../design/table.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole, who } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { addressOf, type Figures, type Route, SyslogDialog } from '../syslog-dialog.tsx';

const EVERY_MS = 5_000;

/** A superadmin sees the node's server and all routes, an administrator the route of the own tenant. */
export function Screen() {
  return hasRole('superadmin') ? <NodeScreen /> : <OwnScreen tenant={who.value?.tenant ?? ''} />;
}

function NodeScreen() {
  const load = () => Promise.all([call('GET /api/v1/system/syslog/config'), call('GET /api/v1/system/syslog/stats')]);
  const { data, error, reload } = useData(load, [], EVERY_MS);
  const [isOpen, setOpen] = useState(false);
  const [setting, stats] = data ?? [];
  const change = async (enabled: boolean): Promise<void> => {
    await attempt(() => call('PUT /api/v1/system/syslog/config', { body: { enabled } }));
    await reload();
  };
  const clear = async (): Promise<void> => {
    if (!(await confirmed(t('syslog_clear'), t('syslog_clear_detail'), t('syslog_clear')))) return;
    await attempt(() => call('DELETE /api/v1/system/syslog/config'));
    await reload();
  };
  return (
    <ScreenFrame
      title={t('forwarding')}
      detail={t('forwarding_detail')}
      error={error}
      isLoading={setting === undefined}
      actions={
        setting !== undefined && (
          <>
            {setting.enabled && <TestButton tenant={undefined} />}
            {setting.host !== null && (
              <Button onClick={() => void change(!setting.enabled)}>{setting.enabled ? t('disable') : t('enable')}</Button>
            )}
            {setting.source === 'saved' && <Button onClick={() => void clear()}>{t('syslog_clear')}</Button>}
            <Button look="main" icon="edit" onClick={() => setOpen(true)}>
              {t('syslog_set')}
            </Button>
          </>
        )
      }
    >
      {setting !== undefined && stats !== undefined && (
        <>
          <Server setting={setting} stats={stats} />
          <Routes routes={setting.tenants} stats={stats.tenants} reload={reload} />
        </>
      )}
      {isOpen && <SyslogDialog setting={setting} onClose={() => setOpen(false)} onSaved={reload} />}
    </ScreenFrame>
  );
}

function Server({ setting, stats }: { setting: Answer<'GET /api/v1/system/syslog/config'>; stats: Figures }) {
  const { host, port, protocol, enabled, facility, source } = setting;
  if (host === null)
    return (
      <Empty icon="send" title={t('no_syslog_server')}>
        <span>{t('no_syslog_server_detail')}</span>
      </Empty>
    );
  return (
    <section class="card" aria-label={t('syslog_server')}>
      <FactList
        facts={[
          { name: t('syslog_server'), value: <code class="breakable">{addressOf({ host, port, protocol })}</code> },
          { name: t('syslog_state'), value: <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? t('on') : t('off')}</Badge> },
          { name: t('syslog_facility'), value: String(facility) },
          { name: t('syslog_source'), value: t(`syslog_source_${source}`) },
          ...factsOf(stats),
        ]}
      />
    </section>
  );
}

function Routes(props: {
  routes: Readonly<Record<string, Route>>;
  stats: Readonly<Record<string, Figures>>;
  reload(): Promise<void>;
}) {
  const { routes, stats, reload } = props;
  const [tenant, setTenant] = useState<string>();
  const rows = Object.entries(routes).map(([name, route]) => ({ name, route, figures: stats[name] }));
  return (
    <section class="stack">
      <div class="row">
        <h2>{t('syslog_routes')}</h2>
        <Button class="push" icon="plus" onClick={() => setTenant('')}>
          {t('new_syslog_route')}
        </Button>
      </div>
      <p class="small quiet">{t('syslog_routes_detail')}</p>
      {rows.length > 0 && (
        <Table
          label={t('syslog_routes')}
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            { head: t('tenant'), cell: ({ name }) => <code>{name}</code> },
            { head: t('syslog_server'), cell: ({ route }) => <code class="breakable">{addressOf(route)}</code> },
            { head: t('syslog_sent'), kind: 'number', cell: ({ figures }) => formatNumber(figures?.sent_total ?? 0) },
            { head: t('syslog_dropped'), kind: 'number', cell: ({ figures }) => formatNumber(figures?.dropped_total ?? 0) },
            { head: t('syslog_last_error'), cell: ({ figures }) => <span class="breakable">{figures?.last_error ?? '–'}</span> },
            {
              head: t('actions'),
              kind: 'actions',
              cell: ({ name }) => (
                <span class="row">
                  <TestButton tenant={name} />
                  <Button size="small" look="bare" icon="edit" onClick={() => setTenant(name)}>
                    {t('edit')}
                  </Button>
                  <RemoveButton tenant={name} onRemoved={reload} />
                </span>
              ),
            },
          ]}
        />
      )}
      {tenant !== undefined && (
        <SyslogDialog tenant={tenant} setting={routes[tenant]} onClose={() => setTenant(undefined)} onSaved={reload} />
      )}
    </section>
  );
}

function OwnScreen({ tenant }: { tenant: string }) {
  const load = () => call('GET /api/v1/system/syslog/config/tenant/{tenant}', { params: { tenant } }).catch(absentAsNull);
  const { data, error, reload } = useData(load, [tenant], EVERY_MS);
  const [isOpen, setOpen] = useState(false);
  return (
    <ScreenFrame
      title={t('forwarding')}
      detail={t('syslog_routes_detail')}
      error={error}
      isLoading={data === undefined}
      actions={
        <>
          {data != null && <TestButton tenant={tenant} />}
          {data != null && <RemoveButton tenant={tenant} onRemoved={reload} />}
          <Button look="main" icon="edit" onClick={() => setOpen(true)}>
            {t('syslog_set')}
          </Button>
        </>
      }
    >
      {data === null && (
        <Empty icon="send" title={t('no_syslog_server')}>
          <span>{t('no_syslog_route_detail')}</span>
        </Empty>
      )}
      {data != null && (
        <section class="card" aria-label={t('syslog_server')}>
          <FactList
            facts={[
              { name: t('syslog_server'), value: <code class="breakable">{addressOf(data)}</code> },
              ...factsOf(data.stats),
            ]}
          />
        </section>
      )}
      {isOpen && (
        <SyslogDialog tenant={tenant} setting={data ?? undefined} isOwn onClose={() => setOpen(false)} onSaved={reload} />
      )}
    </ScreenFrame>
  );
}

function absentAsNull(error: unknown): null {
  if (error instanceof Refusal && error.code === 'syslog_route_not_found') return null;
  throw error;
}

function factsOf(figures: Figures): Fact[] {
  return [
    { name: t('syslog_queued'), value: formatNumber(figures.queued) },
    { name: t('syslog_sent'), value: formatNumber(figures.sent_total) },
    { name: t('syslog_dropped'), value: formatNumber(figures.dropped_total) },
    { name: t('syslog_last_sent'), value: formatTime(figures.last_sent_at) },
    { name: t('syslog_last_error'), value: <span class="breakable">{figures.last_error ?? '–'}</span> },
  ];
}

/** `tenant`: along its route; undefined: to the node's server. */
function TestButton({ tenant }: { tenant: string | undefined }) {
  const test = async (): Promise<void> => {
    const { destination, sent, error = '' } = await call('POST /api/v1/system/syslog/test', { query: { tenant } });
    showToast(sent ? t('syslog_test_sent', { destination }) : t('syslog_test_failed', { destination, error }));
  };
  return (
    <Button size={tenant === undefined ? 'medium' : 'small'} onClick={() => void attempt(test)}>
      {t('syslog_test')}
    </Button>
  );
}

function RemoveButton({ tenant, onRemoved }: { tenant: string; onRemoved(): Promise<void> }) {
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('syslog_remove_route'), t('syslog_remove_route_detail', { tenant }), t('remove')))) return;
    await attempt(() => call('DELETE /api/v1/system/syslog/config/tenant/{tenant}', { params: { tenant } }));
    await onRemoved();
  };
  return (
    <Button size="small" look="danger" icon="trash" onClick={() => void remove()}>
      {t('remove')}
    </Button>
  );
}
