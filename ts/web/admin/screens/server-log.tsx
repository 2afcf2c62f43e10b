import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call, request } from '../../api/call.ts';
import { readEvents } from '../../api/events.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Empty } from '../../design/empty.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Switch } from '../../design/switch.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Line = Answer<'GET /api/v1/system/log'>['lines'][number];
type Level = Line['level'];

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];
const TONES: Record<Level, Tone> = { debug: 'neutral', info: 'neutral', warn: 'warn', error: 'danger' };
const MAX_LINES = 500;
const AGAIN_MS = 3_000;
const TYPING_MS = 250;

export function Screen() {
  const [level, setLevel] = useState<Level>('info');
  const [text, setText] = useState('');
  const [isFollowed, setFollowed] = useState(true);
  const { lines, error } = useLines(level, text, isFollowed);
  return (
    <ScreenFrame
      title={t('server_log')}
      detail={t('server_log_detail')}
      error={error}
      isLoading={lines === undefined}
      actions={
        <>
          <Switch label={t('log_follow')} checked={isFollowed} onChange={setFollowed} />
          <SelectField
            label={t('log_level')}
            value={level}
            options={LEVELS.map((value) => ({ value, text: t(`log_${value}`) }))}
            onChange={setLevel}
          />
          <TextField label={t('search')} value={text} onInput={setText} maxLength={200} />
        </>
      }
    >
      {lines?.length === 0 ? (
        <Empty icon="list" title={t('no_log_lines')} />
      ) : (
        <Table
          label={t('server_log')}
          rows={(lines ?? []).toReversed()}
          keyOf={({ seq }) => String(seq)}
          columns={[
            { head: t('time'), cell: ({ time }) => <span title={time}>{formatTime(time)}</span> },
            { head: t('log_severity'), cell: (line) => <Badge tone={TONES[line.level]}>{t(`log_${line.level}`)}</Badge> },
            {
              head: t('message'),
              kind: 'long',
              cell: ({ message, fields }) => (
                <div class="two-lines">
                  <span class="breakable">{message}</span>
                  <code class="small quiet breakable">{fieldsText(fields)}</code>
                </div>
              ),
            },
          ]}
        />
      )}
    </ScreenFrame>
  );
}

function fieldsText(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ')
    .slice(0, 2_000);
}

/** The newest lines that fit, and those that come, over as many connections as it takes. */
function useLines(level: Level, text: string, isFollowed: boolean): { lines: readonly Line[] | undefined; error: unknown } {
  const [state, setState] = useState<{ lines: readonly Line[] | undefined; error: unknown }>({
    lines: undefined,
    error: undefined,
  });
  const last = useRef(0);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const query = { level, text };
    const take = (more: readonly Line[]): void => {
      last.current = Math.max(last.current, ...more.map(({ seq }) => seq));
      setState(({ lines = [] }) => ({ lines: [...lines, ...more].slice(-MAX_LINES), error: undefined }));
    };
    const run = async (): Promise<void> => {
      const { lines } = await call('GET /api/v1/system/log', { query: { ...query, limit: MAX_LINES }, signal });
      last.current = lines.at(-1)?.seq ?? 0;
      setState({ lines, error: undefined });
      while (isFollowed && !signal.aborted) {
        const headers = { 'last-event-id': String(last.current) };
        const { body } = await request('GET /api/v1/system/log/tail', { query, headers, signal });
        if (body !== null) for await (const events of readEvents(body)) take(events.map(({ data }) => JSON.parse(data) as Line));
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    const begin = async (): Promise<void> => {
      while (!signal.aborted) {
        await run().catch((error: unknown) => {
          if (!signal.aborted) setState(({ lines }) => ({ lines, error }));
        });
        if (!isFollowed) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    const timer = setTimeout(() => void begin(), text === '' ? 0 : TYPING_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [level, text, isFollowed]);
  return state;
}
