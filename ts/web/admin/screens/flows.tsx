import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Empty } from '../../design/empty.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Volume = Answer<'GET /api/v1/logs/flows'>['data'][number];

const TIMES = ['15m', '1h', '1d', '7d', '30d'] as const;
const VIEWS = ['src', 'dst', 'pair', 'port', 'proto', 'exporter', 'time'] as const;
const PROTOCOLS: Readonly<Record<number, string>> = {
  1: 'ICMP',
  6: 'TCP',
  17: 'UDP',
  47: 'GRE',
  50: 'ESP',
  58: 'ICMPv6',
  132: 'SCTP',
};
const EVERY_MS = 30_000;
const MOST_ROWS = 100;

export function Screen() {
  const [time, setTime] = useState<(typeof TIMES)[number]>('1h');
  const [by, setBy] = useState<(typeof VIEWS)[number]>('src');
  const load = () => call('GET /api/v1/logs/flows', { query: { from: `-${time}`, by, limit: MOST_ROWS } });
  const { data, error } = useData(load, [time, by], EVERY_MS);
  return (
    <ScreenFrame
      title={t('flows')}
      detail={t('flows_detail')}
      error={error}
      isLoading={data === undefined && error === undefined}
      actions={
        <>
          <SelectField
            label={t('flows_time')}
            value={time}
            options={TIMES.map((value) => ({ value, text: t(`logs_time_${value}`) }))}
            onChange={setTime}
          />
          <SelectField
            label={t('flows_by')}
            value={by}
            options={VIEWS.map((value) => ({ value, text: t(`flows_by_${value}`) }))}
            onChange={setBy}
          />
        </>
      }
    >
      {data?.data.length === 0 && (
        <Empty icon="swap" title={t('flows_none')}>
          <span>{t('flows_none_detail')}</span>
        </Empty>
      )}
      {data !== undefined && data.data.length > 0 && (
        <>
          <p>{t('flows_total', { volume: formatBytes(data.total.bytes), count: formatNumber(data.total.flows) })}</p>
          <Table
            label={t('flows')}
            rows={data.data}
            keyOf={nameOf}
            columns={[
              { head: t('flows_of'), cell: (volume) => <span class="breakable">{nameOf(volume)}</span> },
              { head: t('flows_bytes'), kind: 'number', cell: ({ bytes }) => formatBytes(bytes) },
              { head: t('flows_packets'), kind: 'number', cell: ({ packets }) => formatNumber(packets) },
              { head: t('flows'), kind: 'number', cell: ({ flows }) => formatNumber(flows) },
              { head: t('flows_sampled'), cell: ({ sampling }) => (sampling > 1 ? `1:${formatNumber(sampling)}` : '–') },
            ]}
          />
        </>
      )}
    </ScreenFrame>
  );
}

function nameOf({ src, dst, proto, port, exporter, at }: Volume): string {
  const protocol = proto === undefined ? undefined : (PROTOCOLS[proto] ?? String(proto));
  const parts = [
    at === undefined ? undefined : formatTime(at),
    exporter,
    src,
    dst === undefined || src === undefined ? dst : `→ ${dst}`,
  ];
  return [...parts, protocol, port].filter((part) => part !== undefined).join(' ');
}
