import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

type Schedule = Answer<'GET /api/v1/agent/schedules'>['data'][number];

const KINDS = ['goal', 'prompt'] as const;
const OVERLAPS = ['skip', 'queue', 'allow'] as const;
const CATCH_UPS = ['none', 'one', 'all'] as const;

export const Screen = listScreen({
  title: 'schedules',
  detail: 'schedules_detail',
  load: (page) => call('GET /api/v1/agent/schedules', { query: page }),
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  everyMs: 5_000,
  empty: { icon: 'clock', title: 'no_schedules' },
  main: {
    text: 'new_schedule',
    icon: 'plus',
    window: ({ close, reload }) => <ScheduleDialog onClose={close} onSaved={reload} />,
  },
  columns: [
    {
      head: 'name',
      cell: ({ name, goal, prompt = goal }) => (
        <div class="two-lines">
          <span class="breakable">{name}</span>
          <span class="small quiet breakable">{prompt?.slice(0, 300)}</span>
        </div>
      ),
    },
    {
      head: 'cron',
      cell: ({ cron, timezone }) => (
        <div class="two-lines">
          <code>{cron}</code>
          <span class="small quiet">{timezone}</span>
        </div>
      ),
    },
    { head: 'state', cell: (schedule) => <ScheduleState schedule={schedule} /> },
    { head: 'next_time', cell: ({ next_at: at }) => formatTime(at) },
    {
      head: 'last_time',
      cell: ({ last_fire: last }) => (last === undefined ? '–' : `${formatTime(last.due_at)} ${t(`fire_${last.state}`)}`),
    },
  ],
  menu: (schedule) => {
    const { id, name, enabled } = schedule;
    const params = { id };
    return [
      { text: t('schedule_run'), icon: 'play', run: () => call('POST /api/v1/agent/schedules/{id}/run', { params }) },
      {
        text: t('edit'),
        icon: 'edit',
        window: ({ close, reload }) => <ScheduleDialog schedule={schedule} onClose={close} onSaved={reload} />,
      },
      {
        text: enabled ? t('disable') : t('enable'),
        icon: enabled ? 'stop' : 'play',
        run: () => call('PATCH /api/v1/agent/schedules/{id}', { params, body: { enabled: !enabled } }),
      },
      {
        text: t('delete'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('delete_named', { title: name }), t('delete_named_detail', { title: name }), t('delete')],
        run: () => call('DELETE /api/v1/agent/schedules/{id}', { params }),
      },
    ];
  },
});

function ScheduleState({ schedule: { enabled, paused } }: { schedule: Schedule }) {
  if (enabled) return <Badge tone="good">{t('schedule_enabled')}</Badge>;
  return (
    <div class="two-lines">
      <span>
        <Badge tone={paused === undefined ? 'neutral' : 'danger'}>
          {paused === undefined ? t('schedule_rests') : t('schedule_paused')}
        </Badge>
      </span>
      {paused !== undefined && <span class="small quiet breakable">{paused.detail}</span>}
    </div>
  );
}

interface ScheduleDialogProps {
  /** Undefined: a new one. */
  schedule?: Schedule;
  onClose(): void;
  onSaved(): Promise<void>;
}

function ScheduleDialog({ schedule, onClose, onSaved }: ScheduleDialogProps) {
  const [name, setName] = useState(schedule?.name ?? '');
  const [kind, setKind] = useState<(typeof KINDS)[number]>(
    schedule?.goal === undefined && schedule !== undefined ? 'prompt' : 'goal',
  );
  const [text, setText] = useState(schedule?.goal ?? schedule?.prompt ?? '');
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * 1-5');
  const [timezone, setTimezone] = useState(schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [tools, setTools] = useState(schedule?.tools.join(' ') ?? '');
  const [overlap, setOverlap] = useState(schedule?.overlap ?? 'skip');
  const [catchUp, setCatchUp] = useState(schedule?.catch_up ?? 'none');
  const send = async (): Promise<void> => {
    const named = tools.split(/[\s,]+/).filter((each) => each !== '');
    const about = { name, cron, timezone, overlap, catch_up: catchUp, ...(kind === 'goal' ? { goal: text } : { prompt: text }) };
    // An empty list would be no tool at all.
    const body = { ...about, ...(named.length > 0 && { tools: named }) };
    if (schedule === undefined) await call('POST /api/v1/agent/schedules', { body });
    else await call('PATCH /api/v1/agent/schedules/{id}', { params: { id: schedule.id }, body });
    await onSaved();
  };
  return (
    <FormDialog
      title={schedule === undefined ? t('new_schedule') : schedule.name}
      action={t('save')}
      send={send}
      onClose={onClose}
    >
      <TextField label={t('name')} value={name} required maxLength={200} onInput={setName} />
      <SelectField
        label={t('schedule_kind')}
        value={kind}
        options={KINDS.map((value) => ({ value, text: t(`schedule_kind_${value}`) }))}
        onChange={setKind}
      />
      <TextArea label={t('schedule_text')} value={text} rows={4} required maxLength={20_000} onInput={setText} />
      <TextField label={t('cron')} hint={t('cron_hint')} value={cron} required maxLength={200} onInput={setCron} />
      <TextField label={t('timezone')} value={timezone} required maxLength={64} onInput={setTimezone} />
      <TextField
        label={t('schedule_tools')}
        hint={schedule === undefined ? t('schedule_tools_hint') : t('schedule_tools_kept')}
        value={tools}
        onInput={setTools}
      />
      <SelectField
        label={t('overlap')}
        value={overlap}
        options={OVERLAPS.map((value) => ({ value, text: t(`overlap_${value}`) }))}
        onChange={setOverlap}
      />
      <SelectField
        label={t('catch_up')}
        value={catchUp}
        options={CATCH_UPS.map((value) => ({ value, text: t(`catch_up_${value}`) }))}
        onChange={setCatchUp}
      />
    </FormDialog>
  );
}
