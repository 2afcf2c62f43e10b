/** Calls of the node's own tools: what each was given, what came of it, and the decision that one waits for. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { isProposal, MemoryProposal } from '../memory/recalled-memories.tsx';
import type { ToolEvent } from '../thread/message.ts';
import { SentState } from './sent-state.tsx';
import { ServerQuestion } from './server-question.tsx';

/** @param isLive the answer is being written: a call that waits can be decided. */
export function ToolEvents({ events, isLive = false }: { events: readonly ToolEvent[]; isLive?: boolean }) {
  return (
    <>
      {events.map((event) => (
        <details class="folded" key={event.call_id} open={(isLive && event.state === 'awaiting_approval') || isProposal(event)}>
          <summary>
            <Icon name="tool" /> {t('tool_call', { name: event.tool })} <span class="quiet">{t(`tool_${stateOf(event)}`)}</span>
          </summary>
          <pre class="folded-text">{indented(event.arguments)}</pre>
          {isLive && event.state === 'awaiting_approval' && event.approval_id !== undefined && (
            <Waiting key={event.approval_id} id={event.approval_id} {...event} />
          )}
          <MemoryProposal event={event} />
          <SentState event={event} />
          {event.result !== undefined && <pre class="folded-text">{indented(event.result)}</pre>}
        </details>
      ))}
    </>
  );
}

function Waiting({ id, tool, asked_by: askedBy }: { id: string } & ToolEvent) {
  return askedBy === 'server' ? <ServerQuestion id={id} tool={tool} /> : <Decision id={id} askedBy={askedBy} />;
}

/** Whoever answers it once is told by the next event of the call. */
function Decision({ id, askedBy }: { id: string; askedBy: string | undefined }) {
  const [isSent, setSent] = useState(false);
  const decide = async (decision: 'approve' | 'deny'): Promise<void> => {
    setSent(true);
    try {
      await call('POST /api/v1/security/approvals/{id}', { params: { id }, body: { decision } });
    } catch (error) {
      setSent(false);
      showToast(explain(error));
    }
  };
  return (
    <div class="tool-decision">
      <p>{t(askedBy === 'untrusted' ? 'tool_asks_untrusted' : askedBy === 'rule' ? 'tool_asks_rule' : 'tool_asks')}</p>
      <div class="buttons">
        <Button disabled={isSent} onClick={() => void decide('deny')}>
          {t('deny_call')}
        </Button>
        <Button look="main" disabled={isSent} onClick={() => void decide('approve')}>
          {t('approve_call')}
        </Button>
      </div>
    </div>
  );
}

const STATES = ['running', 'awaiting_approval', 'done', 'failed', 'denied'] as const;

/** Other clients may have written what is stored. */
function stateOf({ state }: ToolEvent): (typeof STATES)[number] {
  return STATES.find((known) => known === state) ?? 'failed';
}

function indented(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}
