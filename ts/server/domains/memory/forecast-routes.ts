/** Series are listed, learned from, and foreseen. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { memoryError, memoryErrors } from './errors.ts';
import { MOST_SLOTS } from './forecast/codebook.ts';
import type { Forecasts } from './forecast/forecasts.ts';
import { ownerOf, TENANT } from './memory.ts';
import { iso, memoryErrorBody } from './schemas.ts';

const shared = { tag: 'Forecasts', scope: 'account:manage', errors: memoryErrors, errorBody: memoryErrorBody } as const;
const { get, post } = routes({ ...shared, auth: 'viewer', maxBody: 2_000_000 });
const managed = routes({ ...shared, auth: 'developer' });

const MOST_POINTS = 10_000;
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\p{L}\\p{N}][^\\u0000-\\u001f]*$' });
const Seed = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description: 'The same seed gives the same answer; 1 by default.',
});
const Point = Type.Object(
  { ts: Type.Integer({ minimum: 0, description: 'Milliseconds since 1970.' }), value: Type.Number() },
  { additionalProperties: false },
);

const Rollout = Type.Object(
  {
    emm_path: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'A memory file of the tenant; absent: the best rule foresees.' }),
    ),
    series: Type.Optional(
      Type.Union([Type.Array(Name, { minItems: 1, maxItems: 1 }), Type.Array(Point, { minItems: 3, maxItems: MOST_POINTS })], {
        description: 'The name of a registered series, or its values where there is no stored model.',
      }),
    ),
    slots: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: MOST_SLOTS - 1 }), {
        maxItems: MOST_POINTS,
        description: 'In the place of `series`: slots of the file, the newest last. None: those that the file ends with.',
      }),
    ),
    horizon: Type.Integer({ minimum: 1, maximum: 1_000, description: 'Steps ahead; a step is as long as those of the series.' }),
    seed: Type.Optional(Seed),
  },
  { additionalProperties: false },
);

const Foreseen = Type.Object({
  method: Type.String({ description: 'xlstm, or the rule that foresaw the last fifth best.' }),
  steps: Type.Array(
    Type.Object({
      ts: Type.Optional(Type.String({ format: 'date-time' })),
      mean: Type.Optional(Type.Number()),
      quantiles: Type.Optional(Type.Object({ p10: Type.Number(), p50: Type.Number(), p90: Type.Number() })),
      sample: Type.Optional(Type.Number({ description: 'One of the ways in which it may come; the seed chooses it.' })),
      slot: Type.Optional(Type.Integer({ description: 'Of slots: drawn by the seed.' })),
      p: Type.Optional(Type.Number({ description: 'How likely the slot was, after those before it.' })),
    }),
  ),
});

interface ForecastRouteDeps {
  readonly forecasts: Forecasts;
  readonly recordAct: IdentityApi['recordAct'];
}

export function forecastRoutes({ forecasts, recordAct }: ForecastRouteDeps): Route[] {
  return [
    get('/api/v1/memory/series', {
      summary: 'Series of numbers that can be foreseen',
      answer: Type.Object({ data: Type.Array(Type.Object({ name: Type.String(), unit: Type.String() })) }),
      handle: async ({ caller }) => ({ data: (await forecasts.listSeries(caller)).map(({ name, unit }) => ({ name, unit })) }),
    }),
    managed.post('/api/v1/memory/forecasts', {
      summary: 'Have world models of series made',
      description:
        'A background job. Of each series, an xLSTM learns the first four fifths; it is kept only where it foresees the last fifth better than each rule ' +
        '(naive, seasonal naive by day and week, exponential smoothing), else the best of these is the method. Models of other series in the file stay. ' +
        'With `slots`: the clusters of your memories, or of the tenant’s, and how their sequence goes on.',
      body: Type.Object(
        {
          series: Type.Optional(Type.Array(Name, { minItems: 1, maxItems: 50 })),
          slots: Type.Optional(Type.Literal(true, { description: 'In the place of `series`: the slots of memories.' })),
          owner: Type.Optional(Type.Enum(['me', TENANT], { description: 'Of the slots; me by default.' })),
          file: Type.String({ minLength: 6, maxLength: 85, description: 'NAME.exmm' }),
          seed: Type.Optional(Seed),
        },
        { additionalProperties: false },
      ),
      answer: Type.Object({ job_id: Type.String() }),
      status: 202,
      errors: ['invalid_request', 'series_not_found', 'memory_file_pinned', 'memory_files_full'],
      handle: async (context) => {
        const { caller, body } = context;
        const { series = [], slots, file, seed, owner } = body;
        requireOne(body.series, slots);
        const ofSlots = slots === undefined ? {} : { slots: owner === TENANT ? TENANT : ownerOf(caller) };
        const job = await forecasts.begin(caller, { series, file, ...ofSlots, ...(seed !== undefined && { seed }) });
        await recordAct(
          auditEntry(auditSource(context), { action: 'memory.forecast', target: file, detail: { series: series.length } }),
        );
        return { job_id: job.id };
      },
    }),
    post('/api/v1/worldmodel/rollout', {
      summary: 'Foresee a series',
      description:
        'Reads the file only. Each step has its mean and the quantiles of the errors that the method made on the last fifth.',
      body: Rollout,
      answer: Foreseen,
      errors: [
        'invalid_request',
        'series_not_found',
        'series_not_regular',
        'no_world_model',
        'forecast_model_load_failed',
        'nslot_load_failed',
        'forecasts_busy',
      ],
      handle: async ({ caller, body, signal }) => {
        const { emm_path: file, series = [], slots, horizon, seed = 1 } = body;
        requireOne(body.series, slots);
        if (slots !== undefined) {
          if (file === undefined)
            throw memoryError('invalid_request', 'Slots are those of a file: name it.', { param: 'emm_path' });
          const { method, steps } = await forecasts.rolloutSlots(caller, { file, before: slots, horizon, seed }, signal);
          return { method, steps: steps.map(({ slot, p }) => ({ slot, p })) };
        }
        const [first] = series;
        const points = series.flatMap((each) => (typeof each === 'string' ? [] : [each]));
        const wanted = { file, series: typeof first === 'string' ? first : points, horizon, seed };
        const { method, steps } = await forecasts.rollout(caller, wanted, signal);
        return {
          method,
          steps: steps.map(({ ts, mean, quantiles: [p10 = mean, p50 = mean, p90 = mean], sample }) => ({
            ts: iso(ts),
            mean,
            quantiles: { p10, p50, p90 },
            sample,
          })),
        };
      },
    }),
  ];
}

function requireOne(series: unknown, slots: unknown): void {
  if ((series === undefined) === (slots === undefined))
    throw memoryError('invalid_request', 'Either `series` or `slots` is needed.', {
      param: series === undefined ? 'series' : 'slots',
    });
}
