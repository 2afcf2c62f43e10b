/** Shows what became of a message or a call that a model made: its tool answers before the provider does. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { isOnItsWay, SentBadge } from '../../design/sent-badge.tsx';
import type { ToolEvent } from '../thread/message.ts';

const EVERY_MS = 2_000;
const IDS: Readonly<Record<string, RegExp>> = { 'comm.send': /^msg_[\w-]+$/, 'comm.call': /^call_[\w-]+$/ };

/** Shows nothing for calls of other tools. */
export function SentState({ event: { tool, state, result } }: { event: ToolEvent }) {
  const { id } = (result ?? {}) as { id?: unknown };
  if (state !== 'done' || typeof id !== 'string' || IDS[tool]?.test(id) !== true) return null;
  return <Followed key={id} id={id} isCall={tool === 'comm.call'} />;
}

/** Whoever may not see it, and whoever looks when its record is gone, is shown nothing. */
function Followed({ id, isCall }: { id: string; isCall: boolean }) {
  const [isOver, setOver] = useState(false);
  const load = async () => {
    const params = { id };
    const shown = isCall
      ? await call('GET /api/v1/comm/calls/{id}', { params })
      : await call('GET /api/v1/comm/messages/{id}', { params });
    setOver(!isOnItsWay(shown.state));
    return shown;
  };
  const { data } = useData(load, [id], isOver ? undefined : EVERY_MS);
  if (data === undefined) return null;
  return (
    <p class="row" role="status">
      <SentBadge state={data.state} /> <span class="small quiet breakable">{data.reason ?? data.to}</span>
    </p>
  );
}
