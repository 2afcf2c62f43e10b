import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';
import { McpServerDialog } from '../mcp/mcp-server-dialog.tsx';
import { OfferedToolsDialog } from '../mcp/offered-tools-dialog.tsx';

const PATH = '/api/v1/tools/mcp-servers/{label}';

export const Screen = listScreen({
  title: 'mcp_servers',
  detail: 'mcp_servers_detail',
  load: () => call('GET /api/v1/tools/mcp-servers'),
  keyOf: ({ label }) => label,
  nameOf: ({ label }) => label,
  empty: { icon: 'link', title: 'no_mcp_servers' },
  main: {
    text: 'new_mcp_server',
    icon: 'plus',
    window: ({ close, reload }) => <McpServerDialog onClose={close} onSaved={reload} />,
  },
  columns: [
    {
      head: 'mcp_label',
      cell: ({ label, url }) => (
        <div class="two-lines">
          <code>{label}</code>
          <span class="small quiet breakable">{url}</span>
        </div>
      ),
    },
    { head: 'mcp_sign_in', cell: ({ auth }) => t(`mcp_${auth.type}`) },
    { head: 'tools', kind: 'number', cell: ({ definitions }) => definitions.filter(({ state }) => state !== 'removed').length },
    {
      head: 'state',
      cell: ({ state, reason }) => (
        <div class="two-lines">
          <span>
            <Badge tone={state === 'ready' ? 'good' : state === 'changed' ? 'warn' : 'neutral'}>{t(`state_${state}`)}</Badge>
          </span>
          {reason !== null && <span class="small quiet">{reason}</span>}
        </div>
      ),
    },
  ],
  menu: (server) => {
    const { label, enabled } = server;
    const params = { label };
    return [
      {
        text: t('offered_tools'),
        icon: 'list',
        window: ({ close, reload }) => <OfferedToolsDialog label={label} onClose={close} onSaved={reload} />,
      },
      {
        text: enabled ? t('disable') : t('enable'),
        icon: enabled ? 'stop' : 'play',
        run: () => call(`PATCH ${PATH}`, { params, body: { enabled: !enabled } }),
      },
      {
        text: t('remove'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('remove_mcp_server'), t('remove_mcp_server_detail', { name: label }), t('remove')],
        run: () => call(`DELETE ${PATH}`, { params }),
      },
    ];
  },
});
