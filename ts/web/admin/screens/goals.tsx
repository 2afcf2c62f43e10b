import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Dialog } from '../../design/dialog.tsx';
import { GoalForm } from '../../goals/goal-form.tsx';
import { GoalState, GoalView } from '../../goals/goal-view.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';

export const Screen = listScreen({
  title: 'goals',
  detail: 'goals_detail',
  load: (page) => call('GET /api/v1/swarm/goals', { query: page }),
  keyOf: ({ id }) => id,
  nameOf: ({ goal }) => goal,
  everyMs: 5_000,
  empty: { icon: 'check', title: 'no_goals' },
  main: { text: 'new_goal', icon: 'plus', window: ({ close, reload }) => <GoalDialog onClose={() => closed(close, reload)} /> },
  columns: [
    { head: 'goal', cell: ({ goal }) => <span class="breakable">{goal.slice(0, 300)}</span> },
    { head: 'state', cell: ({ state }) => <GoalState state={state} /> },
    { head: 'steps', kind: 'number', cell: ({ plan }) => plan.steps.length },
    { head: 'last_changed', cell: ({ updated_at: at }) => formatTime(at) },
  ],
  buttons: ({ id, goal }) => [
    {
      text: t('open'),
      label: t('open_named', { name: goal.slice(0, 100) }),
      window: ({ close, reload }) => <GoalDialog id={id} onClose={() => closed(close, reload)} />,
    },
  ],
});

function closed(close: () => void, reload: () => Promise<void>): void {
  close();
  void reload();
}

/** A new goal is shown as soon as it is set. */
function GoalDialog({ id: given, onClose }: { id?: string; onClose(): void }) {
  const [id, setId] = useState(given);
  return (
    <Dialog title={id === undefined ? t('new_goal') : t('goal')} wide closesOutside={id !== undefined} onClose={onClose}>
      {id === undefined ? <GoalForm onSet={setId} /> : <GoalView id={id} />}
    </Dialog>
  );
}
