import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { Switch } from '../../design/switch.tsx';
import { Table } from '../../design/table.tsx';
import { formatSeconds } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { Incidents } from '../incidents.tsx';
import { ReasonList } from '../reason-list.tsx';
import { ScreenFrame } from '../screen-frame.tsx';

const EVERY_MS = 5000;

/** The node: how it and its modules are, what was wrong, and which roles it has. */
export function Screen() {
  const { data, error, reload } = useData(() => call('GET /api/v1/system/roles'));
  const health = useData(() => call('GET /health'), [], EVERY_MS);
  const change = async (role: RoleName, enabled: boolean): Promise<void> => {
    // The modules of a role stop at once, with what they are doing.
    if (!enabled && !(await confirmed(t('switch_role_off'), t('switch_role_off_detail', { role }), t('switch_off'))))
      return reload();
    await attempt(() => call('PUT /api/v1/system/roles/{role}', { params: { role }, body: { enabled } }));
    await Promise.all([reload(), health.reload()]);
  };
  const { data: node } = health;
  const mayChange = hasRole('superadmin');
  return (
    <ScreenFrame
      title={t('node_roles')}
      detail={t('node_roles_detail')}
      error={error ?? health.error}
      isLoading={data === undefined}
    >
      {node !== undefined && (
        <section class="card stack" aria-label={t('health')}>
          <h2>{t('health')}</h2>
          <FactList
            facts={[
              { name: t('state'), value: t(`status_${node.status}`) },
              { name: t('version'), value: node.version },
              { name: t('uptime'), value: formatSeconds(node.uptime_seconds) },
              { name: t('nodes_known'), value: `${node.module_map.size}${node.module_map.stale ? ` (${t('stale')})` : ''}` },
            ]}
          />
          <ReasonList reasons={node.reasons} />
          <Table
            label={t('modules')}
            rows={node.modules.map((name) => ({ name, state: stateOf(node, name) }))}
            keyOf={({ name }) => name}
            columns={[
              { head: t('modules'), cell: ({ name }) => name },
              { head: t('state'), cell: () => <Badge tone="good">{t('runs')}</Badge> },
              {
                head: t('details'),
                kind: 'long',
                cell: ({ state }) => (state === '' ? '–' : <code class="breakable small">{state}</code>),
              },
            ]}
          />
        </section>
      )}
      <Table
        label={t('node_roles')}
        rows={data?.roles ?? []}
        keyOf={({ role }) => role}
        columns={[
          { head: t('role'), cell: ({ role }) => role },
          {
            head: t('modules'),
            cell: ({ modules }) => (modules.length === 0 ? <span class="quiet">{t('no_module_yet')}</span> : modules.join(', ')),
          },
          {
            head: t('state'),
            kind: 'actions',
            cell: ({ role, enabled, modules }) => (
              <Switch
                label={enabled ? t('on') : t('off')}
                checked={enabled}
                disabled={!mayChange || modules.length === 0}
                onChange={(on) => void change(role, on)}
              />
            ),
          },
        ]}
      />
      {!mayChange && <Notice>{t('superadmin_changes')}</Notice>}
      <Incidents />
    </ScreenFrame>
  );
}

type RoleName = Awaited<ReturnType<typeof call<'GET /api/v1/system/roles'>>>['roles'][number]['role'];

/** A module's own member of /health. */
function stateOf(node: object, name: string): string {
  const state = (node as Record<string, unknown>)[name];
  if (typeof state !== 'object' || state === null) return '';
  return Object.entries(state)
    .map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' · ');
}
