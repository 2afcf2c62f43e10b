/** One device as it is now: a line for each number, readings with their quality, and a write. */
import { useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { Plot } from '../overview/plot.tsx';

export type Device = Answer<'GET /api/v1/iot/devices'>['data'][number];
type Shown = Answer<'GET /api/v1/iot/devices/{id}'>;
type Reading = Shown['readings'][number];
type Variable = Shown['variables'][number];

interface Point {
  at: number;
  value: number | null;
}

const EVERY_MS = 2_000;
/** The plots hold the last hour, from the history, and what comes while they are seen. */
const SHOWN_MS = 3_600_000;
const MOST_POINTS = 2_000;
const TONES: Record<Reading['quality'], Tone> = { good: 'good', stale: 'warn', bad: 'danger', offline: 'neutral' };

export function DeviceDialog({ device: { id, name }, onClose }: { device: Device; onClose(): void }) {
  const lines = useRef<Map<string, Point[]> | undefined>(undefined);
  const { data, error, reload } = useData(
    async () => {
      const shown = await call('GET /api/v1/iot/devices/{id}', { params: { id } });
      lines.current ??= await pastLines(shown);
      for (const reading of shown.readings) grow(lines.current.get(reading.variable), reading);
      return shown;
    },
    [id],
    EVERY_MS,
  );
  const writable = data?.variables.filter(({ access }) => access !== 'read') ?? [];
  return (
    <Dialog title={name} wide onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && (
        <>
          <div class="plots">
            {[...(lines.current ?? [])].map(([variable, points]) => (
              <VariablePlot key={variable} variable={variable} unit={unitOf(data, variable)} points={points} />
            ))}
          </div>
          <Readings shown={data} />
          {writable.length > 0 && <WriteForm id={id} variables={writable} onWritten={reload} />}
        </>
      )}
    </Dialog>
  );
}

async function pastLines({ id, variables }: Shown): Promise<Map<string, Point[]>> {
  const plotted = variables.filter(({ type, access }) => type !== 'text' && access !== 'write');
  const from = new Date(Date.now() - SHOWN_MS).toISOString();
  const lines = plotted.map(async ({ name }): Promise<[string, Point[]]> => {
    const query = { device_id: id, variable: name, from, limit: MOST_POINTS };
    const { data } = await call('GET /api/v1/iot/history', { query });
    return [name, data.map(({ ts, value, quality }) => ({ at: Date.parse(ts) / 1000, value: isDrawn(quality) ? value : null }))];
  });
  return new Map(await Promise.all(lines));
}

/** A reading that came already is one point; what is not known for certain is a gap. */
function grow(points: Point[] | undefined, { value, quality, received_at: receivedAt }: Reading): void {
  if (points === undefined || receivedAt === null) return;
  const at = Date.parse(receivedAt) / 1000;
  if (at <= (points.at(-1)?.at ?? 0)) return;
  points.push({ at, value: isDrawn(quality) && typeof value !== 'string' ? Number(value) : null });
  if (points.length > MOST_POINTS) points.shift();
}

function isDrawn(quality: Reading['quality']): boolean {
  return quality === 'good';
}

function unitOf({ variables }: Shown, name: string): string {
  return variables.find((one) => one.name === name)?.unit ?? '';
}

function VariablePlot({ variable, unit, points }: { variable: string; unit: string; points: readonly Point[] }) {
  const format = (value: number): string => `${formatNumber(value, 2)} ${unit}`.trim();
  return (
    <Plot
      title={variable}
      times={points.map(({ at }) => at)}
      series={[{ name: variable, values: points.map(({ value }) => value) }]}
      format={format}
      least={1}
      hasGaps
    />
  );
}

function Readings({ shown: { readings, variables } }: { shown: Shown }) {
  return (
    <Table<Reading>
      label={t('device_variables')}
      rows={readings}
      keyOf={({ variable }) => variable}
      columns={[
        { head: t('device_variable'), cell: ({ variable }) => variable },
        { head: t('value'), kind: 'number', cell: ({ value, unit }) => (value === null ? '–' : `${value} ${unit ?? ''}`) },
        {
          head: t('device_quality'),
          cell: ({ quality }) => <Badge tone={TONES[quality] ?? 'neutral'}>{t(`quality_${quality}`)}</Badge>,
        },
        { head: t('time'), cell: ({ ts, received_at: at }) => formatTime(ts ?? at) },
        { head: t('device_approval'), cell: ({ variable }) => t(`approval_${approvalOf(variables, variable)}`) },
      ]}
    />
  );
}

function approvalOf(variables: readonly Variable[], name: string): NonNullable<Variable['approval']> {
  return variables.find((one) => one.name === name)?.approval ?? 'none';
}

interface WriteFormProps {
  id: string;
  variables: readonly Variable[];
  onWritten(): Promise<void>;
}

function WriteForm({ id, variables, onWritten }: WriteFormProps) {
  const [name, setName] = useState(variables[0]?.name ?? '');
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const write = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const value = readValue(
      variables.find((one) => one.name === name),
      text,
    );
    await attempt(async () => {
      const written = await call('POST /api/v1/iot/write', { body: { device_id: id, variable: name, value } });
      if ('approval_id' in written) showToast(t('device_waits', { id: written.approval_id }));
      else
        showToast(written.verified ? t('device_verified') : t('device_unverified', { value: String(written.read_back ?? '–') }));
    });
    setBusy(false);
    await onWritten();
  };
  return (
    <form class="row" onSubmit={(event) => void write(event)}>
      <SelectField
        label={t('device_variable')}
        value={name}
        options={variables.map((one) => ({ value: one.name, text: one.name }))}
        onChange={setName}
      />
      <TextField label={t('value')} value={text} onInput={setText} required maxLength={200} />
      <Button look="main" type="submit" busy={isBusy}>
        {t('device_write')}
      </Button>
    </form>
  );
}

function readValue(variable: Variable | undefined, text: string): number | boolean | string {
  if (variable?.type === 'text') return text;
  if (variable?.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return Number.isFinite(Number(text)) && text.trim() !== '' ? Number(text) : text;
}
