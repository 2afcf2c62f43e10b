/** How a series goes on: by a world model of a memory file, beside the best rule. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { Plot } from '../overview/plot.tsx';

type Foreseen = Answer<'POST /api/v1/worldmodel/rollout'>;

const HORIZON = 48;

/** @param files memory files of the tenant, of which some may have world models. */
export function Forecasts({ files }: { files: readonly string[] }) {
  const series = useData(() => call('GET /api/v1/memory/series'));
  const [name, setName] = useState('');
  const [file, setFile] = useState('');
  const names = series.data?.data.map((each) => each.name) ?? [];
  const chosen = name === '' ? (names[0] ?? '') : name;
  const model = file === '' ? undefined : file;
  const rule = useData(() => foresee(chosen, undefined), [chosen]);
  const learned = useData(() => foresee(chosen, model), [chosen, model]);
  const error = series.error ?? rule.error ?? (model === undefined ? undefined : learned.error);
  return (
    <section aria-label={t('forecasts')}>
      <h2>{t('forecasts')}</h2>
      {series.data !== undefined && names.length === 0 && <p class="small quiet">{t('no_series')}</p>}
      {names.length > 0 && (
        <div class="row">
          <SelectField
            label={t('forecast_series')}
            value={chosen}
            options={names.map((value) => ({ value, text: value }))}
            onChange={setName}
          />
          <SelectField
            label={t('forecast_file')}
            value={file}
            options={[{ value: '', text: t('forecast_rule') }, ...files.map((value) => ({ value, text: value }))]}
            onChange={setFile}
          />
        </div>
      )}
      {error !== undefined && <Notice tone="warn">{explain(error)}</Notice>}
      {rule.data !== undefined && rule.error === undefined && (
        <Lines
          key={`${chosen} ${model}`}
          rule={rule.data}
          learned={model === undefined ? undefined : learned.data}
          name={chosen}
        />
      )}
    </section>
  );
}

/** Undefined: there is no series to foresee. */
async function foresee(series: string, file: string | undefined): Promise<Foreseen | undefined> {
  if (series === '') return undefined;
  const body = { series: [series], horizon: HORIZON, ...(file !== undefined && { emm_path: file }) };
  return await call('POST /api/v1/worldmodel/rollout', { body });
}

function Lines({ name, rule, learned }: { name: string; rule: Foreseen; learned: Foreseen | undefined }) {
  const [byRule, byModel] = [pointsOf(rule), learned === undefined ? [] : pointsOf(learned)];
  const shown = learned === undefined ? byRule : byModel;
  const series = [
    ...(learned === undefined ? [] : [{ name: learned.method, values: byModel.map(({ mean }) => mean) }]),
    { name: rule.method, values: byRule.map(({ mean }) => mean) },
    { name: t('forecast_low'), values: shown.map(({ quantiles }) => quantiles.p10) },
    { name: t('forecast_high'), values: shown.map(({ quantiles }) => quantiles.p90) },
  ];
  const times = byRule.map(({ ts }) => Date.parse(ts) / 1000);
  return <Plot key={series.length} title={name} times={times} series={series} format={formatNumber} least={1} isLong />;
}

/** Steps of a series have times and values; those of slots have none. */
function pointsOf({ steps }: Foreseen) {
  return steps.flatMap(({ ts, mean, quantiles }) =>
    ts === undefined || mean === undefined || quantiles === undefined ? [] : [{ ts, mean, quantiles }],
  );
}
