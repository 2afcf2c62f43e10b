/** `svc forecast`: how a series of a running node goes on. */
import { listCommand } from '../server-command.ts';

export const forecast = listCommand({
  words: ['forecast'],
  summary: 'Foresee a series of the node: usage, jobs, collected lines, or a variable of a device',
  positionals: [{ name: 'SERIES', help: 'as GET /api/v1/memory/series names it, for example usage.tokens' }],
  options: {
    horizon: { kind: 'integer', value: 'STEPS', min: 1, max: 1_000, help: 'steps ahead, hours of most series (default 24)' },
    file: { kind: 'text', value: 'FILE', help: 'the memory file with a world model of it (default: the best rule foresees)' },
  },
  examples: ['svc forecast usage.tokens', 'svc forecast usage.tokens --file load.exmm --horizon 48'],
  route: 'POST /api/v1/worldmodel/rollout',
  given: ({ positionals: [series = ''], options: { horizon, file } }) => ({
    body: { series: [series], horizon: horizon ?? 24, ...(file !== undefined && { emm_path: file }) },
  }),
  columns: {
    TIME: ({ ts = '' }) => ts.slice(0, 16),
    MEAN: ({ mean = 0 }) => mean.toPrecision(4),
    LOW: ({ quantiles }) => quantiles?.p10.toPrecision(4) ?? '',
    HIGH: ({ quantiles }) => quantiles?.p90.toPrecision(4) ?? '',
  },
  empty: 'nothing is foreseen',
});
