/** The interface for modules that let a model call tools: which are offered, one call with its approval, and whether text of others came before. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Tool, ToolAnswer, ToolQuestion } from '../../../platform/tools/tool.ts';
import type { AuditSource, IdentityApi } from '../../identity/index.ts';
import { type Approvals, approvalEntry, DECIDE_SCOPE, ownerKey } from '../approvals/approvals.ts';
import { lackingScope, type ToolExecutor, type ToolOutcome, type ToolRequest, USE_SCOPE } from '../calls/tool-executor.ts';
import type { ToolRegistry } from '../calls/tool-registry.ts';
import { edgeError } from '../errors.ts';
import type { McpServers } from '../mcp-servers/mcp-servers.ts';
import { judgeCall } from '../policies/policy.ts';
import type { PolicyStore } from '../policies/policy-store.ts';
import type { AskedBy } from '../tables.ts';
import { RunBudget, type RunLimits } from './run-budget.ts';
import type { TaintStore } from './taint-store.ts';

interface ToolRunsDeps {
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  readonly policies: PolicyStore;
  readonly approvals: Approvals;
  readonly taints: TaintStore;
  readonly mcpServers: Pick<McpServers, 'list'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly limits: RunLimits;
  readonly now: () => number;
}

type RunCall = Omit<ToolRequest, 'isDirect' | 'timeoutSeconds' | 'ask'>;

/** An MCP server that the caller has tools of. */
export interface UsableMcpServer {
  readonly label: string;
  readonly url: string;
  /** Why its tools cannot be called now; undefined: they can. */
  readonly reason: string | undefined;
}

/** A call waits for somebody. */
interface AskedApproval {
  readonly id: string;
  readonly by: AskedBy;
}

const POLL_MS = 250;
/** Connections on which nothing is sent are cut by proxies on the way; whoever waits is told again so often. */
const REMIND_MS = 20_000;

export class ToolRuns {
  readonly #deps: ToolRunsDeps;

  constructor(deps: ToolRunsDeps) {
    this.#deps = deps;
  }

  /** @param mostCalls fewer calls than the node allows. */
  newBudget(mostCalls = Number.POSITIVE_INFINITY): RunBudget {
    const { limits, now } = this.#deps;
    return new RunBudget({ ...limits, calls: Math.min(limits.calls, mostCalls) }, now);
  }

  /** The tools that a model may be offered for the caller. Throws `insufficient_scope` for a credential that is for no tool. */
  async offered(caller: Principal): Promise<Tool[]> {
    if (lackingScope(caller, [USE_SCOPE]) !== undefined)
      throw edgeError('insufficient_scope', `The credential lacks the scope ${USE_SCOPE}, which tools need.`, {
        extra: { scope: USE_SCOPE },
      });
    const { tools: listed, policy } = await this.#deps.registry.read(caller);
    const judged = { caller, isDirect: false, isTainted: false, isToStrangers: false, isPermitted: false };
    return listed
      .filter(({ isRunning, tool }) => isRunning && lackingScope(caller, [tool.scope]) === undefined)
      .filter(({ tool }) => judgeCall(policy, { ...judged, tool }).decision !== 'deny')
      .map(({ tool }) => tool);
  }

  /** The MCP servers of which the caller has tools, whether or not they answer now. */
  async mcpServers(caller: Principal): Promise<UsableMcpServer[]> {
    const { registry, mcpServers } = this.#deps;
    const [{ tools }, servers] = await Promise.all([registry.read(caller), mcpServers.list(scopeOf(caller))]);
    const sources = new Set(tools.map(({ source }) => source));
    return servers
      .filter(({ row: { label, enabled } }) => enabled === 1 && sources.has(`mcp:${label}`))
      .map(({ row: { label, url }, reason }) => ({ label, url, reason }));
  }

  /**
   * Decides about a call that waits, in the caller's name. Throws `insufficient_scope` for a credential that decides nothing, and `approval_closed`
   * where the call waits no more.
   */
  async decide(source: AuditSource, id: string, decision: 'approve' | 'deny', reason: string | undefined): Promise<void> {
    const { approvals, recordAct } = this.#deps;
    const { caller } = source;
    if (lackingScope(caller, [DECIDE_SCOPE]) !== undefined)
      throw edgeError('insufficient_scope', `The credential lacks the scope ${DECIDE_SCOPE}, which decides about calls.`, {
        extra: { scope: DECIDE_SCOPE },
      });
    const decided = { decision, remember: 'once', reason, arguments: undefined } as const;
    const row = await approvals.decide(caller, id, decided);
    await recordAct(approvalEntry(source, row, decided));
  }

  /**
   * One call. Where it asks, `onAsked` is told, and the call waits for the decision; without one in time it is denied. Throws what the call is
   * refused with; without `onAsked`, also `approval_required`. What the tool asks in the middle of the call waits in the same way.
   */
  async call(request: RunCall, onAsked?: (asked: AskedApproval) => void): Promise<ToolOutcome> {
    const { executor } = this.#deps;
    const over = new AbortController();
    const waiting = { ...request, signal: AbortSignal.any([request.signal, over.signal]) };
    const ask = onAsked && ((tool: Tool, question: ToolQuestion) => this.#answered(waiting, { tool, question }, onAsked));
    const call = { ...request, isDirect: false, ask };
    try {
      return await executor.execute(call);
    } catch (error) {
      if (onAsked === undefined || !(error instanceof DomainError) || error.code !== 'approval_required') throw error;
      const { approval_id: id, asked_by: by } = error.extra as { approval_id: string; asked_by: AskedBy };
      await this.#decided(request, { id, by }, onAsked);
      return await executor.execute({ ...call, approvalId: id });
    } finally {
      // A question of a call that has ended is nobody's any more.
      over.abort();
    }
  }

  /** Whether the tenant has plans of goals approved by somebody other than their owner. */
  async needsSecondPerson(caller: Principal): Promise<boolean> {
    return (await this.#deps.policies.get(scopeOf(caller))).plan_approval === 'second_person';
  }

  /** Whether a call of the caller waits for no decision any more. */
  isDecided(caller: Principal, approval: string): Promise<boolean> {
    return this.#deps.approvals.isDecided(caller, approval);
  }

  /** Whether text of others has come into the conversation; undefined: there is none. */
  async isTainted(caller: Principal, conversation: string | undefined): Promise<boolean> {
    return conversation !== undefined && (await this.#deps.taints.has(scopeOf(caller), ownerKey(caller), conversation));
  }

  /** Resolves when that is on disk. */
  async taint(caller: Principal, conversation: string | undefined): Promise<void> {
    if (conversation === undefined) return;
    await this.#deps.taints.add(scopeOf(caller), ownerKey(caller), conversation, this.#deps.now());
  }

  async #answered(
    request: RunCall,
    { tool, question }: { tool: Tool; question: ToolQuestion },
    onAsked: (asked: AskedApproval) => void,
  ): Promise<ToolAnswer> {
    const { approvals, policies } = this.#deps;
    const { source, run, conversation = '' } = request;
    const { caller } = source;
    const waitsMs = (await policies.get(scopeOf(caller))).timeout_seconds * 1000;
    const call = { tool, arguments: request.arguments, caller, run, conversation, isOwnRoute: false, own: undefined, waitsMs };
    const row = await approvals.ask(call, question);
    await this.#decided(request, { id: row.id, by: row.asked_by }, onAsked);
    return await approvals.answerOf(caller, row);
  }

  async #decided(
    { source: { caller }, signal }: RunCall,
    asked: AskedApproval,
    onAsked: (asked: AskedApproval) => void,
  ): Promise<void> {
    const { approvals, policies, now } = this.#deps;
    const { timeout_seconds: seconds } = await policies.get(scopeOf(caller));
    const until = now() + seconds * 1000;
    for (let remindAt = 0; now() < until; ) {
      if (now() >= remindAt) {
        onAsked(asked);
        remindAt = now() + REMIND_MS;
      }
      if (await approvals.isDecided(caller, asked.id)) return;
      try {
        await sleep(POLL_MS, undefined, { signal });
      } catch (error) {
        await approvals.expire(caller, asked.id, 'the call was given up while it waited');
        throw error;
      }
    }
    await approvals.expire(caller, asked.id, `nobody decided within ${seconds} s`);
  }
}
