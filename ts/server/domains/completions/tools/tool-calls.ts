/** The calls of one round: those that read run side by side, the others in their order, each with the rights of whoever asked. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hashOf, returnsUntrusted, type Tool } from '../../../platform/tools/tool.ts';
import type { RunBudget } from '../../edge/index.ts';
import type { ToolCall } from '../answer/answer-collector.ts';
import type { Asker } from '../answer/pending-answer.ts';
import type { AnswerTools } from './answer-tools.ts';
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
    // What acts was planned together with what reads: by whom, nobody knows.
    const wasTainted = this.#isTainted;
    if (planned.some(({ call, tool }) => returnsUntrusted(tool, JSON.parse(call.arguments)))) await this.#taint();
    const reads = planned.map((each) => (each.tool.effect === 'read' ? this.#call(each, wasTainted) : undefined));
    // Whichever fails first is thrown below; the others have nobody to tell.
    for (const read of reads) read?.catch(() => undefined);
    const results: CallResult[] = [];
    for (const [i, each] of planned.entries()) results.push(await (reads[i] ?? this.#call(each, this.#isTainted)));
    return results;
  }

  /** On disk before anything of it is read, so that it holds after a crash as well. */
  async #taint(): Promise<void> {
    const { tools, asker, conversation } = this.#deps;
    if (this.#isTainted) return;
    this.#isTainted = true;
    await tools.runs.taint(asker.caller, conversation);
  }

  async #call({ call, tool }: PlannedCall, isTainted: boolean): Promise<CallResult> {
    const { tools, asker, run, conversation, budget, signal, tell } = this.#deps;
    const { id, name, arguments: text } = call;
    const given = JSON.parse(text) as unknown;
    const about = { call_id: id, tool: tool.name, arguments: given };
    const { source } = asker;
    if (source === undefined) throw new TypeError('an answer without a source runs tools');
    if (!budget.takeCall()) return this.#refused(about, 'budget_exceeded', 'The answer has made as many calls as it may.');
    signal.throwIfAborted();
    await asker.recheck?.();
    tell({ ...about, state: 'running' });
    try {
      const outcome = await tools.runs.call(
        {
          tool: tool.name,
          definitionHash: tool.definitionHash,
          arguments: given,
          source,
          isTainted,
          run,
          conversation,
          addresses: tools.addresses,
          signal,
        },
        (asked) => tell({ ...about, state: 'awaiting_approval', approval_id: asked.id, asked_by: asked.by }),
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
      return this.#refused(about, error.code, error.message);
    }
  }

  #refused(about: Pick<ToolEvent, 'call_id' | 'tool' | 'arguments'>, code: string, detail: string): CallResult {
    const { budget, tell } = this.#deps;
    const result = { error: code, detail };
    budget.called(hashOf({ tool: about.tool, arguments: about.arguments, result }));
    tell({ ...about, state: FAILURES.has(code) ? 'failed' : 'denied', result });
    return { id: about.call_id, value: { error: result }, isUntrusted: false };
  }
}

/** Refusals that are nobody's decision. */
const FAILURES: ReadonlySet<string> = new Set(['invalid_request', 'tool_timeout', 'tool_unavailable', 'storage_unavailable']);
