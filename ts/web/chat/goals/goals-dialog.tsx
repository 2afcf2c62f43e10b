/** The reader's goals: a list, one of them as it stands, or a new one. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { GoalForm } from '../../goals/goal-form.tsx';
import { GoalState, GoalView } from '../../goals/goal-view.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { openStoredArtifact } from '../artifacts/shown-artifact.ts';
import { openDialog } from '../dialogs.ts';

const MOST_SHOWN = 50;
type Shown = 'list' | 'form' | { readonly id: string };

export function GoalsDialog() {
  const [shown, setShown] = useState<Shown>('list');
  const openArtifact = async (id: string): Promise<void> => {
    await openStoredArtifact(id);
    openDialog.value = undefined;
  };
  const isList = shown === 'list';
  return (
    <Dialog title={t('goals')} wide closesOutside={shown !== 'form'} onClose={() => (openDialog.value = undefined)}>
      <div class="stack">
        <div class="row">
          {isList ? (
            <Button look="main" icon="plus" onClick={() => setShown('form')}>
              {t('new_goal')}
            </Button>
          ) : (
            <Button icon="left" onClick={() => setShown('list')}>
              {t('goals')}
            </Button>
          )}
        </div>
        {isList && <GoalList onOpen={(id) => setShown({ id })} />}
        {shown === 'form' && <GoalForm onSet={(id) => setShown({ id })} />}
        {typeof shown === 'object' && <GoalView id={shown.id} onOpenArtifact={openArtifact} />}
      </div>
    </Dialog>
  );
}

function GoalList({ onOpen }: { onOpen(id: string): void }) {
  const { data, error } = useData(() => call('GET /api/v1/swarm/goals', { query: { limit: MOST_SHOWN } }));
  if (error !== undefined) return <Notice tone="danger">{explain(error)}</Notice>;
  if (data === undefined) return <span class="spinner" role="status" aria-label={t('loading')} />;
  if (data.data.length === 0)
    return (
      <Empty icon="check" title={t('no_goals')}>
        <span class="small">{t('goals_detail')}</span>
      </Empty>
    );
  return (
    <ul class="rows">
      {data.data.map(({ id, goal, state, updated_at: at }) => (
        <li key={id}>
          <Button class="row-title" onClick={() => onOpen(id)}>
            {goal.slice(0, 200)}
          </Button>
          <GoalState state={state} />
          <span class="small quiet">{formatTime(at)}</span>
        </li>
      ))}
    </ul>
  );
}
