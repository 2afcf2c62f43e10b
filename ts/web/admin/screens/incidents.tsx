import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { Table } from '../../design/table.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { type ListSpec, listScreen, type RowAction, WindowList } from '../list-screen.tsx';

type Incident = Answer<'GET /api/v1/logs/incidents'>['data'][number];
type Rule = Answer<'GET /api/v1/logs/rules'>['data'][number];

const EVERY_MS = 10_000;
const LINES_SHOWN = 10;
const DAY_MS = 86_400_000;
const TONES: Readonly<Record<Incident['severity'], Tone>> = {
  informational: 'neutral',
  low: 'neutral',
  medium: 'warn',
  high: 'danger',
  critical: 'danger',
};
const STATE_TONES: Readonly<Record<Incident['state'], Tone>> = { open: 'danger', acknowledged: 'warn', closed: 'good' };
const VERDICTS = ['true_positive', 'false_positive', 'benign'] as const;

export const Screen = listScreen<Incident>({
  title: 'incidents',
  detail: 'incidents_detail',
  load: (query) => call('GET /api/v1/logs/incidents', { query }),
  everyMs: EVERY_MS,
  keyOf: ({ id }) => id,
  nameOf: ({ rule, entity }) => `${rule} ${entity}`,
  filters: [{ name: 'open', label: 'incidents_open_only', kind: 'switch' }],
  shows: ({ state }, values) => state !== 'closed' || (values['open'] ?? '') === '',
  empty: { icon: 'check', title: 'incidents_none', detail: 'incidents_none_detail' },
  columns: [
    {
      head: 'incidents_severity',
      cell: ({ severity }) => <Badge tone={TONES[severity]}>{t(`incidents_severity_${severity}`)}</Badge>,
    },
    {
      head: 'incidents_about',
      cell: ({ entity, marks }) => (
        <div class="two-lines">
          <span class="breakable">{entity}</span>
          {marks.length > 0 && <span class="small quiet breakable">{marks.join(', ')}</span>}
        </div>
      ),
    },
    {
      head: 'incidents_rule',
      cell: ({ rule, author }) => (
        <div class="two-lines">
          <span class="breakable">{rule}</span>
          <span class="small quiet breakable">{author}</span>
        </div>
      ),
    },
    { head: 'incidents_alerts', kind: 'number', cell: ({ alerts }) => formatNumber(alerts) },
    { head: 'incidents_last_alert', cell: ({ last_alert_at: at }) => formatTime(at) },
    {
      head: 'state',
      cell: ({ state, verdict }) => (
        <div class="two-lines">
          <span>
            <Badge tone={STATE_TONES[state]}>{t(`incidents_state_${state}`)}</Badge>
          </span>
          {verdict !== null && <span class="small quiet">{t(`incidents_verdict_${verdict}`)}</span>}
        </div>
      ),
    },
  ],
  menu: (incident) => [
    { text: t('incidents_lines'), icon: 'list', window: ({ close }) => <Lines incident={incident} onClose={close} /> },
    ...changesOf(incident),
  ],
  head: ({ open }) => (
    <Button icon="list" onClick={() => open(({ close }) => <Rules onClose={close} />)}>
      {t('incidents_rules')}
    </Button>
  ),
});

function changesOf({ id, state }: Incident): RowAction<Incident>[] {
  const change = (body: { state: Incident['state']; verdict?: (typeof VERDICTS)[number] }) =>
    call('PATCH /api/v1/logs/incidents/{id}', { params: { id }, body });
  if (state === 'closed') return [{ text: t('incidents_open_again'), icon: 'refresh', run: () => change({ state: 'open' }) }];
  const closes = VERDICTS.map((verdict): RowAction<Incident> => {
    return { text: t(`incidents_close_${verdict}`), icon: 'check', run: () => change({ state: 'closed', verdict }) };
  });
  if (state === 'acknowledged') return closes;
  return [{ text: t('incidents_acknowledge'), icon: 'info', run: () => change({ state: 'acknowledged' }) }, ...closes];
}

/** The latest lines that it stands on; those that retention has removed are not there any more. */
function Lines({ incident, onClose }: { incident: Incident; onClose(): void }) {
  const { data, error } = useData(() => linesOf(incident));
  return (
    <Dialog title={t('incidents_lines_of', { name: incident.rule })} wide onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && (
        <Table
          label={t('incidents_lines')}
          rows={data}
          keyOf={({ uuid }) => uuid}
          columns={[
            { head: t('logs_time'), cell: ({ ts }) => formatTime(ts) },
            { head: t('logs_sender'), cell: ({ host, app }) => <span class="breakable">{`${host} ${app}`}</span> },
            { head: t('incidents_lines'), cell: ({ msg }) => <code class="breakable">{msg}</code> },
          ]}
        />
      )}
    </Dialog>
  );
}

async function linesOf({ uuids, opened_at: opened }: Incident) {
  const from = new Date(Date.parse(opened) - DAY_MS).toISOString();
  const found = await Promise.all(
    uuids.slice(-LINES_SHOWN).map((uuid) => call('GET /api/v1/logs/search', { query: { q: `uuid:${uuid}`, from, limit: 1 } })),
  );
  return found.flatMap(({ lines }) => lines);
}

const rules: ListSpec<Rule, undefined> = {
  title: 'incidents_rules',
  load: () => call('GET /api/v1/logs/rules'),
  keyOf: ({ id }) => id,
  columns: [
    {
      head: 'incidents_rule',
      cell: ({ id, title, author, unsupported }) => (
        <div class="two-lines">
          <span class="breakable">{title}</span>
          <span class="small quiet breakable">{`${id} · ${author}`}</span>
          {unsupported !== null && <span class="small breakable">{t('incidents_rule_error', { reason: unsupported })}</span>}
        </div>
      ),
    },
    {
      head: 'incidents_severity',
      cell: ({ level }) => <Badge tone={TONES[level]}>{t(`incidents_severity_${level}`)}</Badge>,
    },
    { head: 'incidents_alerts', kind: 'number', cell: ({ matches }) => formatNumber(matches) },
    { head: 'state', cell: ({ enabled }) => (enabled ? t('incidents_rule_on') : t('incidents_rule_off')) },
  ],
  buttons: ({ id, enabled, title }) => [
    {
      text: enabled ? t('disable') : t('enable'),
      label: `${enabled ? t('disable') : t('enable')}: ${title}`,
      run: () => call('PATCH /api/v1/logs/rules/{id}', { params: { id }, body: { enabled: !enabled } }),
    },
  ],
};

function Rules({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t('incidents_rules')} wide onClose={onClose}>
      <WindowList spec={rules} label={t('incidents_rules')} />
    </Dialog>
  );
}
