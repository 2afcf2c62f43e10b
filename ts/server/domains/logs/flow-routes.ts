/** Volumes of flows, for superadmins. */
import Type, { type Static } from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import type { SystemScope } from '../../platform/storage/index.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { logsError, logsErrors } from './errors.ts';
import { FLOW_VIEWS, type FlowStore, GRAINS, type Grain } from './flows/flow-store.ts';
import { searchTime } from './index/search-time.ts';

const DEFAULT_LIMIT = 20;
const MOST_MINUTES_MS = 6 * GRAINS.hour;
const MOST_HOURS_MS = 31 * GRAINS.day;

const volume = {
  bytes: Type.Integer({ description: 'As the exporter reports it; where it samples, this is not the whole.' }),
  packets: Type.Integer(),
  flows: Type.Integer(),
};
const FlowVolume = named(
  'FlowVolume',
  Type.Object({
    src: Type.Optional(Type.String()),
    dst: Type.Optional(Type.String({ description: '`other`: what was beyond the bounds of its time.' })),
    proto: Type.Optional(Type.Integer({ description: 'Number of the IANA: 6 is TCP, 17 UDP.' })),
    port: Type.Optional(Type.Integer({ description: 'The lower of both.' })),
    exporter: Type.Optional(Type.String()),
    at: Type.Optional(Type.String({ description: 'Begin of the minute, hour or day.' })),
    ...volume,
    sampling: Type.Integer({ description: 'One packet in so many; 0: the exporter does not say.' }),
  }),
);
const FlowVolumes = named(
  'FlowVolumes',
  Type.Object({
    data: Type.Array(FlowVolume),
    grain: Type.Enum(['minute', 'hour', 'day']),
    from: Type.String({ description: 'Whole minutes, hours or days are counted.' }),
    to: Type.String(),
    total: Type.Object(volume),
  }),
);
const FlowsQuery = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, or `-15m`; `-1h` by default.' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'As `from`; now by default.' })),
  by: Type.Optional(Type.Enum([...FLOW_VIEWS], { description: '`src` by default; `port` goes by protocol and port.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: `${DEFAULT_LIMIT} by default.` })),
});

interface FlowRouteDeps {
  store: FlowStore;
  /** Writes what came since the last time, so that it is in the answer. */
  flush(): Promise<void>;
  everyone(): SystemScope;
  recordAct: IdentityApi['recordAct'];
  now(): number;
}

const { get } = routes({ tag: 'Logs', auth: 'superadmin', errors: logsErrors });

export function flowRoutes({ store, flush, everyone, recordAct, now }: FlowRouteDeps): Route[] {
  return [
    get('/api/v1/logs/flows', {
      summary: 'Volumes of network flows, the largest first',
      description: 'By minute for up to 6 hours, by hour for up to 31 days, else by day.',
      query: FlowsQuery,
      answer: FlowVolumes,
      errors: ['invalid_request'],
      handle: async (context) => {
        const { query } = context;
        const { by = 'src', limit = DEFAULT_LIMIT } = query;
        await recordAct(auditEntry(auditSource(context), { action: 'logs.flows', detail: query }));
        const range = rangeOf(query, now());
        await flush();
        const rows = await store.list(everyone(), { ...range, by, limit });
        return {
          data: rows.map(({ at, ...row }) => ({ ...row, ...(at !== undefined && { at: new Date(Number(at)).toISOString() }) })),
          grain: range.grain,
          from: new Date(range.fromMs).toISOString(),
          to: new Date(range.toMs).toISOString(),
          total: await store.total(everyone(), range),
        };
      },
    }),
  ];
}

function rangeOf({ from = '-1h', to = 'now' }: Static<typeof FlowsQuery>, now: number) {
  const time = (name: string, text: string): number => {
    const ms = searchTime(text, now);
    if (ms === undefined) throw wrong(name, 'is no time: write ISO 8601, such as 2026-11-28T13:00:00Z, or -15m');
    return ms;
  };
  const [begin, end] = [time('from', from), time('to', to)];
  if (begin >= end) throw wrong('from', 'must be before `to`');
  const isRecent = begin > now - 2 * GRAINS.day;
  const grain: Grain =
    end - begin <= MOST_MINUTES_MS && isRecent
      ? 'minute'
      : end - begin <= MOST_HOURS_MS && begin > now - 2 * MOST_HOURS_MS
        ? 'hour'
        : 'day';
  const size = GRAINS[grain];
  return { grain, fromMs: Math.floor(begin / size) * size, toMs: Math.ceil(end / size) * size };
}

function wrong(param: string, fault: string): Error {
  return logsError('invalid_request', `\`${param}\` ${fault}.`, { param });
}
