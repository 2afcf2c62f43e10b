/** Events that tell the client of an answer about the tools that run for it. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import type { CompletionSink } from '../../inference/index.ts';

export const ToolEventShape = named(
  'ToolEvent',
  Type.Object({
    call_id: Type.String(),
    tool: Type.String({ description: 'area.action' }),
    arguments: Type.Unknown({ description: 'With which the call is made, whole.' }),
    state: Type.Enum(['running', 'awaiting_approval', 'done', 'failed', 'denied']),
    approval_id: Type.Optional(Type.String({ description: 'POST /api/v1/security/approvals/{id} decides.' })),
    asked_by: Type.Optional(Type.String({ description: 'rule, default, or untrusted: text of others came before the call.' })),
    result: Type.Optional(Type.Unknown({ description: 'Of a call that failed or was denied, `{error, detail}`.' })),
    took_ms: Type.Optional(Type.Number()),
  }),
);

export type ToolEvent = Static<typeof ToolEventShape>;

/** The client's side of an answer with tools. */
export interface ToolSink extends CompletionSink {
  onToolEvent(event: ToolEvent): void;
}

/** The last state of each call, in the order in which the calls began. */
export class ToolEvents {
  readonly #byCall = new Map<string, ToolEvent>();

  add(event: ToolEvent): void {
    this.#byCall.set(event.call_id, event);
  }

  /** Undefined: no tool was called. */
  get list(): readonly ToolEvent[] | undefined {
    return this.#byCall.size === 0 ? undefined : [...this.#byCall.values()];
  }
}
