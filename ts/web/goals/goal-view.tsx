/** One goal as it stands: its plan with live steps, its budget, the calls that wait, its artifacts, and what its owner may do. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Answer, call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Badge, type Tone } from '../design/badge.tsx';
import { Button } from '../design/button.tsx';
import { confirmed } from '../design/confirm.tsx';
import { FactList } from '../design/fact-list.tsx';
import { Notice } from '../design/notice.tsx';
import { Progress } from '../design/progress.tsx';
import { showToast } from '../design/toasts.tsx';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

export type Goal = Answer<'GET /api/v1/swarm/goals/{id}'>;
type Step = Goal['plan']['steps'][number];
/** Does something, and shows the goal again; what went wrong is said. */
type Act = (work: () => Promise<unknown>) => void;

const PATH = '/api/v1/swarm/goals/{id}';
const LIVE_MS = 1_000;
const TONES: Record<Goal['state'], Tone> = {
  planning: 'accent',
  planned: 'warn',
  approved: 'neutral',
  running: 'accent',
  waiting: 'warn',
  paused: 'neutral',
  stopped: 'warn',
  done: 'good',
  failed: 'danger',
  cancelled: 'neutral',
};
const STEP_TONES: Record<Step['state'], Tone> = {
  pending: 'neutral',
  running: 'accent',
  waiting: 'warn',
  done: 'good',
  failed: 'danger',
  unknown: 'warn',
  skipped: 'neutral',
};

interface GoalViewProps {
  id: string;
  /** How an artifact is opened; its id alone is shown otherwise. */
  onOpenArtifact?(id: string): Promise<void>;
}

export function GoalView({ id, onOpenArtifact }: GoalViewProps) {
  const params = { id };
  const [hasEnded, setEnded] = useState(false);
  const { data: goal, error, reload } = useData(() => call(`GET ${PATH}`, { params }), [id], hasEnded ? undefined : LIVE_MS);
  useEffect(() => setEnded(goal !== undefined && isOver(goal)), [goal?.state]);
  const act: Act = (work) =>
    void work()
      .catch((failure: unknown) => showToast(explain(failure)))
      .then(reload);
  if (goal === undefined)
    return error === undefined ? (
      <span class="spinner" role="status" aria-label={t('loading')} />
    ) : (
      <Notice tone="danger">{explain(error)}</Notice>
    );
  return (
    <div class="stack">
      <p class="breakable">{goal.goal}</p>
      <p aria-live="polite">
        <GoalState state={goal.state} />
      </p>
      {goal.error !== undefined && <Notice tone="danger">{goal.error.detail}</Notice>}
      <GoalActions goal={goal} act={act} />
      {goal.state === 'waiting' && <WaitingCalls act={act} />}
      <FactList facts={spentFacts(goal)} />
      {goal.plan.steps.length > 0 && <Plan goal={goal} act={act} />}
      {goal.artifacts.length > 0 && (
        <section class="stack" aria-label={t('artifacts')}>
          <h3>{t('artifacts')}</h3>
          <ul class="rows">
            {goal.artifacts.map((artifact, i) => (
              <li key={artifact}>
                {onOpenArtifact === undefined ? (
                  <code class="breakable">{artifact}</code>
                ) : (
                  <Button class="row-title" onClick={() => act(() => onOpenArtifact(artifact))}>
                    {t('goal_artifact', { n: i + 1 })}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

export function GoalState({ state }: Pick<Goal, 'state'>) {
  return <Badge tone={TONES[state]}>{t(`goal_${state}`)}</Badge>;
}

function isOver({ state }: Goal): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

function GoalActions({ goal, act }: { goal: Goal; act: Act }) {
  const { state, budget, plan } = goal;
  const params = { id: goal.id };
  const execute = (body: { budget?: Partial<Goal['budget']> } = {}): void =>
    act(() => call(`POST ${PATH}/execute`, { params, body }));
  const cancel = async (): Promise<void> => {
    if (!(await confirmed(t('cancel_goal'), t('goal_cancel_detail'), t('cancel_goal')))) return;
    act(() => call(`POST ${PATH}/cancel`, { params }));
  };
  const doubled = Object.fromEntries(Object.entries(budget).map(([name, limit]) => [name, limit * 2]));
  if (isOver(goal)) return null;
  return (
    <div class="buttons">
      {state === 'planned' && (
        <Button look="main" onClick={() => act(() => call(`POST ${PATH}/approve`, { params, body: { hash: plan.hash } }))}>
          {t('approve_plan')}
        </Button>
      )}
      {(state === 'approved' || state === 'paused') && (
        <Button look="main" onClick={() => execute()}>
          {t('go_on')}
        </Button>
      )}
      {state === 'stopped' && (
        <Button look="main" onClick={() => execute({ budget: doubled })}>
          {t('goal_more')}
        </Button>
      )}
      {(state === 'planned' || state === 'approved') && (
        <Button onClick={() => act(() => call(`POST ${PATH}/plan`, { params }))}>{t('plan_again')}</Button>
      )}
      {(state === 'running' || state === 'waiting') && (
        <Button onClick={() => act(() => call(`POST ${PATH}/pause`, { params }))}>{t('pause')}</Button>
      )}
      <Button look="danger" onClick={() => void cancel()}>
        {t('cancel_goal')}
      </Button>
    </div>
  );
}

function Plan({ goal, act }: { goal: Goal; act: Act }) {
  return (
    <section class="stack" aria-label={t('plan')}>
      <h3>{t('plan')}</h3>
      <ol class="stack">
        {goal.plan.steps.map((step) => (
          <li key={step.id} class="stack">
            <span class="row">
              <strong>{step.agent}</strong>
              <Badge tone={STEP_TONES[step.state]}>{t(`plan_step_${step.state}`)}</Badge>
            </span>
            <span class="breakable">{step.instruction}</span>
            {step.tools.length > 0 && (
              <span class="small quiet breakable">{t('step_tools', { names: step.tools.join(', ') })}</span>
            )}
            {step.state === 'unknown' && <Outcomes goal={goal.id} step={step.id} act={act} />}
            {step.result !== undefined && <pre class="folded-text">{step.result}</pre>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A call was interrupted, and a person says what became of it. */
function Outcomes({ goal, step, act }: { goal: string; step: string; act: Act }) {
  const params = { id: goal, step };
  return (
    <div class="buttons">
      {(['done', 'repeat', 'skip'] as const).map((outcome) => (
        <Button
          key={outcome}
          size="small"
          onClick={() => act(() => call(`POST ${PATH}/steps/{step}/resolve`, { params, body: { outcome } }))}
        >
          {t(`resolve_${outcome}`)}
        </Button>
      ))}
    </div>
  );
}

/** The calls of the caller that wait, with their whole arguments. */
function WaitingCalls({ act }: { act: Act }) {
  const query = { state: 'pending', limit: 20 } as const;
  const { data, reload } = useData(() => call('GET /api/v1/security/approvals', { query }), [], LIVE_MS);
  const decide = (id: string, decision: 'approve' | 'deny'): void =>
    act(async () => {
      await call('POST /api/v1/security/approvals/{id}', { params: { id }, body: { decision } });
      await reload();
    });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section class="stack" aria-label={t('calls_that_wait')}>
      <h3>{t('calls_that_wait')}</h3>
      {data.data.map(({ id, tool, arguments: given }) => (
        <div class="stack" key={id}>
          <code class="breakable">{tool}</code>
          <pre class="folded-text">{JSON.stringify(given, null, 2)}</pre>
          <div class="buttons">
            <Button size="small" onClick={() => decide(id, 'deny')}>
              {t('deny_call')}
            </Button>
            <Button size="small" look="main" onClick={() => decide(id, 'approve')}>
              {t('approve_call')}
            </Button>
          </div>
        </div>
      ))}
    </section>
  );
}

/** A limit of 0 is none. */
function spentFacts({ used, budget }: Goal): { name: string; value: ComponentChildren }[] {
  const names = { steps: t('steps'), tokens: t('used_tokens'), seconds: t('used_seconds'), cost_micros: t('used_cost') };
  const members = Object.keys(names) as (keyof typeof names)[];
  return members
    .filter((member) => budget[member] > 0)
    .map((member) => ({
      name: names[member],
      value: (
        <span class="two-lines">
          <span>{t('spent_of', { used: used[member], most: budget[member] })}</span>
          <Progress label={names[member]} value={used[member] / budget[member]} />
        </span>
      ),
    }));
}
