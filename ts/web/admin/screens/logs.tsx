import { useEffect, useState } from 'preact/hooks';
import { type Answer, call, request } from '../../api/call.ts';
import { readEvents } from '../../api/events.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Switch } from '../../design/switch.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Found = Answer<'GET /api/v1/logs/search'>;
type Line = Found['lines'][number];

const TIMES = ['15m', '1h', '1d', '7d', '30d'] as const;
const SEVERITIES = ['0', '1', '2', '3', '4', '5', '6', '7'] as const;
const TONES: readonly Tone[] = ['danger', 'danger', 'danger', 'danger', 'warn', 'neutral', 'neutral', 'neutral'];
const PAGE_LINES = 100;
const MAX_LINES = 2_000;
const N_BARS = 60;
const TYPING_MS = 300;
const AGAIN_MS = 3_000;

interface Asked {
  time: (typeof TIMES)[number];
  q: string;
  class: string;
  severity: (typeof SEVERITIES)[number] | '';
}

export function Screen() {
  const [asked, setAsked] = useState<Asked>({ time: '1h', q: '', class: '', severity: '' });
  const [isFollowed, setFollowed] = useState(false);
  const { found, error, nMissed, more } = useLines(asked, isFollowed);
  const change = (part: Partial<Asked>): void => setAsked((before) => ({ ...before, ...part }));
  return (
    <ScreenFrame
      title={t('logs')}
      detail={t('logs_detail')}
      error={error}
      isLoading={found === undefined && error === undefined}
      actions={
        <>
          <Switch label={t('log_follow')} checked={isFollowed} onChange={setFollowed} />
          <SelectField
            label={t('logs_time')}
            value={asked.time}
            options={TIMES.map((value) => ({ value, text: t(`logs_time_${value}`) }))}
            onChange={(time) => change({ time })}
          />
          <SelectField
            label={t('log_severity')}
            value={asked.severity}
            options={[
              { value: '' as const, text: t('logs_all_severities') },
              ...SEVERITIES.map((value) => ({ value, text: t(`logs_severity_${value}`) })),
            ]}
            onChange={(severity) => change({ severity })}
          />
          <TextField label={t('logs_class')} value={asked.class} onInput={(name) => change({ class: name })} maxLength={200} />
        </>
      }
    >
      <TextField
        label={t('search')}
        hint={t('logs_query_hint')}
        value={asked.q}
        onInput={(q) => change({ q })}
        maxLength={1_000}
      />
      {found?.partial === true && <Notice tone="warn">{t('logs_partial')}</Notice>}
      {found?.archived === true && <Notice tone="info">{t('logs_archived')}</Notice>}
      {nMissed > 0 && <Notice tone="warn">{t('logs_missed', { count: formatNumber(nMissed) })}</Notice>}
      {found?.histogram !== undefined && <Histogram bars={found.histogram} />}
      {found?.lines.length === 0 ? (
        <Empty icon="list" title={t('logs_none')}>
          <p class="quiet">{t('logs_none_detail')}</p>
        </Empty>
      ) : (
        <Lines lines={found?.lines ?? []} more={more} />
      )}
    </ScreenFrame>
  );
}

function Lines({ lines, more }: { lines: readonly Line[]; more: (() => void) | undefined }) {
  return (
    <Table
      label={t('logs')}
      rows={lines}
      keyOf={({ uuid }) => uuid}
      more={more}
      columns={[
        {
          head: t('time'),
          cell: ({ ts, rcvd, time_source: source }) => (
            <span title={`${ts} · ${rcvd}`}>{formatTime(source === 'ts' ? ts : rcvd)}</span>
          ),
        },
        {
          head: t('log_severity'),
          cell: ({ severity }) => <Badge tone={TONES[severity] ?? 'neutral'}>{t(`logs_severity_${severityOf(severity)}`)}</Badge>,
        },
        {
          head: t('logs_sender'),
          cell: ({ host, app, fromhost_ip: ip, class: name }) => (
            <div class="two-lines">
              <bdi class="breakable">
                {host} {app}
              </bdi>
              <span class="small quiet breakable">
                {ip} · {name}
              </span>
            </div>
          ),
        },
        { head: t('message'), kind: 'long', cell: ({ msg }) => <code class="small breakable">{visible(msg)}</code> },
      ]}
    />
  );
}

/** Lines of the time, each bar a part of it. */
function Histogram({ bars }: { bars: NonNullable<Found['histogram']> }) {
  const most = Math.max(1, ...bars.map(({ lines }) => lines));
  const total = bars.reduce((sum, { lines }) => sum + lines, 0);
  return (
    <svg
      class="log-bars"
      viewBox={`0 0 ${bars.length} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${t('logs_histogram')}: ${formatNumber(total)}`}
    >
      {bars.map(({ from, lines }, i) => (
        <rect key={from} x={i + 0.1} width={0.8} y={20 - (20 * lines) / most} height={(20 * lines) / most}>
          <title>{t('logs_histogram_bar', { count: formatNumber(lines), time: formatTime(from) })}</title>
        </rect>
      ))}
    </svg>
  );
}

function severityOf(severity: number): (typeof SEVERITIES)[number] {
  return SEVERITIES[severity] ?? '7';
}

/** Control characters, and those that turn the direction of a text, are shown and do nothing. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

interface Shown {
  found: Found | undefined;
  error: unknown;
  nMissed: number;
}

function useLines({ time, q, class: name, severity }: Asked, isFollowed: boolean): Shown & { more: (() => void) | undefined } {
  const [shown, setShown] = useState<Shown>({ found: undefined, error: undefined, nMissed: 0 });
  const filters = { q, class: name.trim().toLowerCase(), ...(severity !== '' && { severity: Number(severity) }) };
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const fail = (error: unknown): void => {
      if (!signal.aborted) setShown((before) => ({ ...before, error }));
    };
    const search = async (): Promise<void> => {
      const query = { ...filters, from: `-${time}`, limit: PAGE_LINES, histogram: N_BARS };
      setShown({ found: await call('GET /api/v1/logs/search', { query, signal }), error: undefined, nMissed: 0 });
    };
    const follow = async (): Promise<void> => {
      let last: string | undefined;
      while (!signal.aborted) {
        const headers = last === undefined ? {} : { 'last-event-id': last };
        const { body } = await request('GET /api/v1/logs/tail', { query: filters, headers, signal });
        if (body !== null)
          for await (const events of readEvents(body)) {
            last = events.findLast(({ id }) => id !== undefined)?.id ?? last;
            const said = events.map(({ data }) => JSON.parse(data) as Line | { lines: number | null });
            const lines = said.filter((each) => 'uuid' in each).toReversed();
            const nMissed = said.reduce((sum, each) => sum + ('uuid' in each ? 0 : (each.lines ?? 0)), 0);
            setShown((before) => withLines(before, lines, nMissed));
          }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    const run = async (): Promise<void> => {
      await search();
      if (isFollowed) await follow();
    };
    const timer = setTimeout(() => void run().catch(fail), TYPING_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [time, q, name, severity, isFollowed]);
  const cursor = shown.found?.next_cursor ?? undefined;
  const more = (): void => {
    const query = { ...filters, from: `-${time}`, limit: PAGE_LINES, ...(cursor !== undefined && { cursor }) };
    void call('GET /api/v1/logs/search', { query }).then(
      (page) =>
        setShown(({ found, ...rest }) => ({
          ...rest,
          found: found && { ...found, ...page, lines: [...found.lines, ...page.lines] },
        })),
      (error: unknown) => setShown((before) => ({ ...before, error })),
    );
  };
  return { ...shown, more: cursor === undefined ? undefined : more };
}

/** A line may be found and followed both. */
function withLines({ found, error, nMissed }: Shown, lines: readonly Line[], nMore: number): Shown {
  if (found === undefined) return { found, error, nMissed };
  const known = new Set(found.lines.map(({ uuid }) => uuid));
  const fresh = lines.filter(({ uuid }) => !known.has(uuid));
  return {
    found: { ...found, lines: [...fresh, ...found.lines].slice(0, MAX_LINES) },
    error: undefined,
    nMissed: nMissed + nMore,
  };
}
