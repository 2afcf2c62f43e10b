import { useState } from 'preact/hooks';
import { allRows, type PageQuery } from '../../../client/list-pages.ts';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { csvOfRows } from '../../design/csv.ts';
import { Empty } from '../../design/empty.tsx';
import { saveFile } from '../../design/save-file.ts';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { formatNumber, formatSeconds } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { type KeyName, keyNames, userNames } from '../account-names.ts';
import { attempt } from '../attempt.ts';
import { Plot } from '../overview/plot.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useRows } from '../use-rows.ts';

const KINDS = ['model', 'user', 'key', 'tenant'] as const;
type Kind = (typeof KINDS)[number];
type Line = Answer<'GET /api/v1/metering/usage'>['data'][number];

const HOUR_MS = 3_600_000;
const SPANS = { day: 24, week: 7 * 24, month: 30 * 24, year: 365 * 24 } as const;
type Span = keyof typeof SPANS;

export function Screen() {
  const [by, setBy] = useState<Kind>('model');
  const [span, setSpan] = useState<Span>('month');
  const from = new Date(Date.now() - SPANS[span] * HOUR_MS).toISOString();
  const load = (page: PageQuery) => call('GET /api/v1/metering/usage', { query: { ...page, by, from } });
  const lines = useRows(load, { inputs: [by, span] });
  const step = span === 'day' || span === 'week' ? 'hour' : 'day';
  const series = useData(() => call('GET /api/v1/metering/usage/series', { query: { by, from, step } }), [by, span]);
  const people = useData(userNames);
  const keys = useData(async () => (by === 'key' ? await keyNames() : undefined), [by]);
  const names: Names = { by, people: people.data, keys: keys.data };
  const rows = lines.rows ?? [];
  return (
    <ScreenFrame
      title={t('usage')}
      detail={t('usage_detail')}
      error={lines.error ?? series.error}
      isLoading={lines.rows === undefined}
      actions={
        <>
          <SelectField
            label={t('grouped_by')}
            value={by}
            options={KINDS.map((value) => ({ value, text: t(`usage_by_${value}`) }))}
            onChange={setBy}
          />
          <SelectField
            label={t('span')}
            value={span}
            options={(Object.keys(SPANS) as Span[]).map((value) => ({ value, text: t(`span_${value}`) }))}
            onChange={setSpan}
          />
          <Button
            look="plain"
            icon="download"
            disabled={rows.length === 0}
            onClick={() => void attempt(async () => save(by, await allRows(load), names))}
          >
            CSV
          </Button>
        </>
      }
    >
      {series.data !== undefined && rows.length > 0 && <Lines key={`${by} ${span}`} report={series.data} names={names} />}
      {rows.length === 0 ? (
        <Empty icon="list" title={t('no_usage')}>
          <span>{t('no_usage_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('usage')}
          rows={rows}
          more={lines.more}
          keyOf={({ tenant, id }) => `${tenant} ${id}`}
          columns={[
            { head: t(`usage_by_${by}`), cell: ({ id }) => <Name id={id} names={names} /> },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
            { head: t('requests'), kind: 'number', cell: ({ requests }) => formatNumber(requests) },
            { head: t('prompt_tokens'), kind: 'number', cell: ({ prompt_tokens }) => formatNumber(prompt_tokens) },
            { head: t('cached_tokens'), kind: 'number', cell: ({ cached_tokens }) => formatNumber(cached_tokens) },
            { head: t('completion_tokens'), kind: 'number', cell: ({ completion_tokens }) => formatNumber(completion_tokens) },
            { head: t('time'), kind: 'number', cell: ({ seconds }) => formatSeconds(seconds) },
          ]}
        />
      )}
    </ScreenFrame>
  );
}

/** What is known of the groups that usage is counted by. */
interface Names {
  by: Kind;
  people: ReadonlyMap<string, string> | undefined;
  keys: ReadonlyMap<string, KeyName> | undefined;
}

function nameOf(id: string, { by, people, keys }: Names): string {
  if (by === 'key') return id === '' ? t('without_key') : (keys?.get(id)?.name ?? id);
  return by === 'user' ? (people?.get(id) ?? id) : id;
}

/** A key with its owner, and its id, which limits are set by. */
function Name({ id, names }: { id: string; names: Names }) {
  const key = names.by === 'key' ? names.keys?.get(id) : undefined;
  if (key === undefined) return <span class="breakable">{nameOf(id, names)}</span>;
  return (
    <div class="two-lines">
      <span class="breakable">{key.name}</span>
      <span class="small quiet breakable">{`${key.owner} · ${id}`}</span>
    </div>
  );
}

type Report = Answer<'GET /api/v1/metering/usage/series'>;

/** Tokens and requests over time: all together, and the largest groups. */
function Lines({ report, names }: { report: Report; names: Names }) {
  const times = report.times.map((time) => Date.parse(time) / 1000);
  const count = (value: number): string => formatNumber(value);
  const plots = (['tokens', 'requests'] as const).map((kind) => ({
    kind,
    series: [
      { name: t('total'), values: report.total[kind] },
      ...report.groups.map((group) => ({ name: nameOf(group.id, names), values: group[kind] })),
    ],
  }));
  return (
    <div class="plots">
      {plots.map(({ kind, series }) => (
        <Plot key={kind} title={t(`usage_${kind}`)} times={times} format={count} least={1} series={series} sums isLong />
      ))}
    </div>
  );
}

function save(by: Kind, rows: readonly Line[], names: Names): void {
  const owner = (id: string): string[] => (by === 'key' ? [names.keys?.get(id)?.owner ?? ''] : []);
  const head = [
    'tenant',
    by,
    'name',
    ...(by === 'key' ? ['owner'] : []),
    'requests',
    'prompt_tokens',
    'cached_tokens',
    'completion_tokens',
    'total_tokens',
    'seconds',
  ];
  const lines = rows.map((row) => [
    ...[row.tenant, row.id, nameOf(row.id, names), ...owner(row.id), row.requests, row.prompt_tokens, row.cached_tokens],
    ...[row.completion_tokens, row.total_tokens, row.seconds],
  ]);
  saveFile(`usage-by-${by}.csv`, 'text/csv', csvOfRows([head, ...lines]));
}
