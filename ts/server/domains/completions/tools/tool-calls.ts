/** The calls of one round: those that read run side by side, the others in their order, each with the rights of whoever asked. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hashOf, returnsUntrusted, type Tool, wireName } from '../../../platform/tools/tool.ts';
import type { RunBudget } from '../../edge/index.ts';
import type { ToolCall } from '../answer/answer-collector.ts';
import type { Asker } from '../answer/pending-answer.ts';
import type { AnswerTools, ApprovedCall } from './answer-tools.ts';
import type { ToolEvent } from './tool-event.ts';
import type { CallResult } from './tool-messages.ts';

export interface ToolCallsDeps {
  readonly tools: AnswerTools;
  readonly asker: Asker;
  /** The id of the answer, in which its approvals hold alone. */
  readonly run: string;
  readonly conversation: string | undefined;
  readonly budget: RunBudget;
  readonly signal: AbortSignal;
  tell(event: ToolEvent): void;
}

interface PlannedCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  /** It was decided about before the answer began. */
  readonly approved?: ApprovedCall;
}

export class ToolCalls {
  readonly #deps: ToolCallsDeps;
  #isTainted: boolean;

  constructor(deps: ToolCallsDeps) {
    this.#deps = deps;
    this.#isTainted = deps.tools.isTainted;
  }

  /** The results in the order of the calls. Rejects when the client is gone, or its credential is refused by now. */
  async run(calls: readonly ToolCall[]): Promise<CallResult[]> {
    const planned = calls.flatMap((call) => {
      const tool = this.#deps.tools.offered.get(call.name);
      return tool === undefined ? [] : [{ call, tool }];
    });
    // What acts was planned together with what reads: by whom, nobody knows. What a call itself returns did not plan it.
    const wasTainted = this.#isTainted;
    const untrusted = planned.filter(({ call, tool }) => returnsUntrusted(tool, JSON.parse(call.arguments)));
    if (untrusted.length > 0) await this.#taint();
    const reads = planned.map((each) => (each.tool.effect === 'read' ? this.#call(each, wasTainted) : undefined));
    // Whichever fails first is thrown below; the others have nobody to tell.
    for (const read of reads) read?.catch(() => undefined);
    const results: CallResult[] = [];
    for (const [i, each] of planned.entries()) {
      const isTainted = wasTainted || untrusted.some((other) => other !== each);
      results.push(await (reads[i] ?? this.#call(each, isTainted)));
    }
    return results;
  }

  /** Calls that the client approved with its request, one after the other. */
  async runApproved(approved: readonly ApprovedCall[]): Promise<CallResult[]> {
    const results: CallResult[] = [];
    for (const each of approved) {
      const { tool, id, arguments: text } = each;
      const call = { id, name: wireName(tool.name), arguments: text };
      results.push(await this.#call({ call, tool, approved: each }, this.#isTainted));
    }
    return results;
  }

  /** On disk before anything of it is read, so that it holds after a crash as well. */
  async #taint(): Promise<void> {
    const { tools, asker, conversation } = this.#deps;
    if (this.#isTainted) return;
    this.#isTainted = true;
    await tools.runs.taint(asker.caller, conversation);
  }

  async #call({ call, tool, approved }: PlannedCall, isTainted: boolean): Promise<CallResult> {
    const { tools, asker, run, conversation, budget, signal, tell } = this.#deps;
    const { id, name, arguments: text } = call;
    const given = JSON.parse(text) as unknown;
    const about = { call_id: id, tool: tool.name, arguments: given };
    const { source } = asker;
    if (source === undefined) throw new TypeError('an answer without a source runs tools');
    if (!budget.takeCall()) return this.#refused(about, 'budget_exceeded', 'The answer has made as many calls as it may.');
    signal.throwIfAborted();
    await asker.recheck?.();
    const suspends = tools.hosted?.suspends?.(tool) === true;
    const begin = (): void => tell({ ...about, state: 'running' });
    if (!suspends) begin();
    try {
      const outcome = await tools.runs.call(
        {
          tool: tool.name,
          definitionHash: tool.definitionHash,
          arguments: given,
          source,
          isTainted,
          run: approved?.run ?? run,
          approvalId: approved?.approval,
          asksAs: tools.hosted?.asks?.(tool) === true ? 'client' : undefined,
          conversation,
          addresses: tools.addresses,
          signal,
          onAdmitted: suspends ? begin : undefined,
        },
        suspends
          ? undefined
          : (asked) => tell({ ...about, state: 'awaiting_approval', approval_id: asked.id, asked_by: asked.by }),
      );
      const { isDone, error, tookMs, isUntrusted } = outcome;
      // Whoever approved the call may have given it other arguments.
      if (isUntrusted) await this.#taint();
      const result = isDone ? outcome.result : error;
      budget.called(hashOf({ name, arguments: outcome.arguments, result }));
      tell({ ...about, arguments: outcome.arguments, state: isDone ? 'done' : 'failed', result, took_ms: tookMs });
      return { id, value: isDone ? result : { error }, isUntrusted };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'approval_required' && approved === undefined) return this.#suspended(about, error);
      if (error.code === 'approval_required') return this.#refused(about, 'approval_closed', NOT_THIS_CALL);
      return this.#refused(about, error.code, error.message);
    }
  }

  /** Another request of the client brings the decision: the id of its request for approval says about what. */
  #suspended(about: Pick<ToolEvent, 'call_id' | 'tool' | 'arguments'>, { extra }: DomainError): CallResult {
    const { approval_id: approval, asked_by: by } = extra as { approval_id: string; asked_by: string };
    const id = approvalRequestId(this.#deps.run, approval);
    this.#deps.tell({ ...about, call_id: id, state: 'awaiting_approval', approval_id: approval, asked_by: by });
    return { id: about.call_id, value: undefined, isUntrusted: false, isSuspended: true };
  }

  #refused(about: Pick<ToolEvent, 'call_id' | 'tool' | 'arguments'>, code: string, detail: string): CallResult {
    const { budget, tell } = this.#deps;
    const result = { error: code, detail };
    budget.called(hashOf({ tool: about.tool, arguments: about.arguments, result }));
    tell({ ...about, state: FAILURES.has(code) ? 'failed' : 'denied', result });
    return { id: about.call_id, value: { error: result }, isUntrusted: false };
  }
}

const NOT_THIS_CALL = 'The approval was used, is over, or is of another call.';
const REQUEST_ID = /^mcpr_([0-9a-f-]{36})_(apr_[0-9a-f-]{36})$/;

function approvalRequestId(run: string, approval: string): string {
  return `mcpr_${run}_${approval}`;
}

/** Undefined: no request for approval has such an id. */
export function readApprovalRequestId(id: string): { readonly run: string; readonly approval: string } | undefined {
  const [, run, approval] = REQUEST_ID.exec(id) ?? [];
  return run === undefined || approval === undefined ? undefined : { run, approval };
}

/** Refusals that are nobody's decision. */
const FAILURES: ReadonlySet<string> = new Set([
  'invalid_request',
  'tool_timeout',
  'tool_unavailable',
  'storage_unavailable',
  'approval_closed',
]);
