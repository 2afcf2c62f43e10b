/** What of the audit log is shown. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';

export interface AuditQuery {
  q?: string;
  outcome?: 'done' | 'denied' | 'failed';
  from?: string;
  to?: string;
}

const OUTCOMES = ['done', 'denied', 'failed'] as const;

export function AuditSearch({ onSearch }: { onSearch(query: AuditQuery): void }) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState('');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const search = (event: Event): void => {
    event.preventDefault();
    onSearch({
      ...(text.trim() === '' ? {} : { q: text.trim() }),
      ...(outcome === '' ? {} : { outcome: outcome as AuditQuery['outcome'] & string }),
      ...(from === '' ? {} : { from: dayBegin(from, 0) }),
      // The last day is meant with all its hours.
      ...(to === '' ? {} : { to: dayBegin(to, 1) }),
    });
  };
  const outcomes = [{ value: '', text: t('all') }, ...OUTCOMES.map((value) => ({ value, text: t(`outcome_${value}`) }))];
  return (
    <search>
      <form class="filters" onSubmit={search}>
        <TextField label={t('search')} hint={t('audit_search_hint')} value={text} onInput={setText} maxLength={200} />
        <SelectField label={t('outcome')} value={outcome} options={outcomes} onChange={setOutcome} />
        <TextField label={t('from_day')} type="date" value={from} onInput={setFrom} />
        <TextField label={t('to_day')} type="date" value={to} onInput={setTo} />
        <Button type="submit" look="plain" icon="search">
          {t('search')}
        </Button>
      </form>
    </search>
  );
}

/** The day begins in the reader's own time zone, so many days later. */
function dayBegin(day: string, nDaysLater: number): string {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + nDaysLater);
  return date.toISOString();
}
