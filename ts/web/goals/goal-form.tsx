/** Sets a goal: what is to be reached, how far without asking, and for how much. */
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { SelectField } from '../design/select-field.tsx';
import { TextArea } from '../design/text-area.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

const UNTIL = ['plan', 'approve', 'execute'] as const;

export function GoalForm({ onSet }: { onSet(id: string): void }) {
  const [goal, setGoal] = useState('');
  const [until, setUntil] = useState<(typeof UNTIL)[number]>('plan');
  const [swarm, setSwarm] = useState('');
  const { data: swarms } = useData(() => call('GET /api/v1/swarm/swarms', { query: { limit: 100 } }));
  const [steps, setSteps] = useState('');
  const [tokens, setTokens] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const budget = { ...(steps !== '' && { steps: Number(steps) }), ...(tokens !== '' && { tokens: Number(tokens) }) };
    call('POST /api/v1/swarm/goals', { body: { goal, until, budget, ...(swarm !== '' && { swarm_id: swarm }) } })
      .then(({ id }) => onSet(id), setError)
      .finally(() => setBusy(false));
  };
  return (
    <form class="stack" onSubmit={submit}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      <TextArea label={t('goal')} value={goal} rows={4} required maxLength={20_000} onInput={setGoal} />
      <SelectField
        label={t('until')}
        value={until}
        options={UNTIL.map((value) => ({ value, text: t(`until_${value}`) }))}
        onChange={setUntil}
      />
      {swarms !== undefined && swarms.data.length > 0 && (
        <SelectField
          label={t('swarm')}
          value={swarm}
          options={[{ value: '', text: t('no_swarm') }, ...swarms.data.map(({ id, name }) => ({ value: id, text: name }))]}
          onChange={setSwarm}
        />
      )}
      <TextField label={t('most_steps')} type="number" min={1} value={steps} onInput={setSteps} />
      <TextField label={t('most_tokens')} type="number" min={1} value={tokens} onInput={setTokens} />
      <div class="buttons">
        <Button look="main" type="submit" busy={isBusy}>
          {t('set_goal')}
        </Button>
      </div>
    </form>
  );
}
