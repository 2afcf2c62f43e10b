/**
 * The one way to run a tool, whoever asks: a caller over HTTP, a model in a chat. A call is checked in this order: the tool is known to the caller and
 * unchanged, the arguments fit, role enforcement, scope, the tenant's policy with its approvals, the budget. Then it runs as its caller, its result is
 * bounded, and the audit log, the meter and the metrics have it. Nothing else may run a tool: see `runTool`.
 */
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hasScope, type Principal } from '../../../platform/http/principal.ts';
import { isUnusableStorage, unusableStorage } from '../../../platform/http/router-errors.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { StorageError } from '../../../platform/storage/index.ts';
import type { KnownAddresses } from '../../../platform/tools/known-addresses.ts';
import { type AskPerson, returnsUntrusted, runTool, type Tool } from '../../../platform/tools/tool.ts';
import type { ConversationsApi } from '../../conversations/index.ts';
import { type AuditSource, auditEntry, type IdentityApi } from '../../identity/index.ts';
import type { MeteringApi } from '../../metering/index.ts';
import { type SecurityApi, toolCallDenied } from '../../security/index.ts';
import { type Approvals, type AskingCall, toolChanged } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import { judgeCall, type Policy } from '../policies/policy.ts';
import type { ApprovalRow, AskedBy } from '../tables.ts';
import { boundResult } from './bounded-result.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { CallSlots } from './call-slots.ts';
import type { CallerTools, ToolRegistry } from './tool-registry.ts';

/** Ids and names of variables, which no text of people looks like for long. */
const NAME_OF_A_THING = /^[\w.:-]{1,100}$/;

export interface ToolRequest {
  readonly tool: string;
  readonly arguments: unknown;
  /** The caller, and from where the request comes, for the audit log. */
  readonly source: AuditSource;
  /** The caller itself makes the call, and no model. */
  readonly isDirect: boolean;
  /** A route of the tool's own module makes it, for a person: the tool's scope is enough, and what asks is made as soon as it is approved. */
  readonly isOwnRoute?: boolean;
  /** Text of others came before it in the run. */
  readonly isTainted: boolean;
  /** The run that the call is part of; approvals hold in it alone. */
  readonly run: string;
  readonly conversation?: string | undefined;
  /** The addresses that a model goes to unasked. */
  readonly addresses?: KnownAddresses | undefined;
  /** The tools that the caller may use, where the same request has read them; undefined: they are read. */
  readonly known?: CallerTools | undefined;
  /** The tool as it was offered; undefined: as it is. */
  readonly definitionHash?: string | undefined;
  readonly approvalId?: string | undefined;
  /** Whoever has it made wants to be asked, whatever the policy allows: the client, or a plan that does not list the tool. */
  readonly asksAs?: 'client' | 'plan' | undefined;
  /** The call has passed all checks and begins. */
  readonly onAdmitted?: (() => void) | undefined;
  /** An approval of the same call is used, where the client cannot name it. */
  readonly findsApproval?: boolean;
  /** Default, and most: the tool's own limit. */
  readonly timeoutSeconds?: number | undefined;
  /** Asks the person what the tool wants to know in the middle of the call, which waits for decisions as well; undefined: nobody sees it. */
  readonly ask?: ((tool: Tool, ...question: Parameters<AskPerson>) => ReturnType<AskPerson>) | undefined;
  readonly signal: AbortSignal;
}

export interface ToolOutcome {
  readonly id: string;
  /** The ones that the call was made with: whoever approved it may have changed them. */
  readonly arguments: unknown;
  readonly isDone: boolean;
  /** A JSON value; of a call that failed, undefined. */
  readonly result: unknown;
  readonly error: { readonly error: string; readonly detail: string } | undefined;
  /** The refusal of the tool or of the database, whole; undefined: it was not refused. */
  readonly refusal: DomainError | StorageError | undefined;
  /** Ids of what the call made, and of what was kept of a result that is longer than a model reads. */
  readonly artifacts: readonly string[];
  readonly tookMs: number;
  /** The result holds text that others may have written. */
  readonly isUntrusted: boolean;
}

interface ToolExecutorDeps {
  readonly registry: ToolRegistry;
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
  readonly approvals: Approvals;
  readonly slots: CallSlots;
  readonly metering: MeteringApi;
  readonly artifacts: ConversationsApi['artifacts'];
  readonly recordAct: IdentityApi['recordAct'];
  readonly metrics: CallMetrics;
  readonly log: Log;
}

/** A call that every check let pass, with what it holds until its tool has ended. */
interface AdmittedCall {
  readonly tool: Tool;
  readonly arguments: unknown;
  readonly approval: ApprovalRow | undefined;
  /** Gives the slot back and has the call metered. */
  end(): Promise<void>;
}

export const USE_SCOPE = 'tools:use';
/** A call that a caller makes itself belongs to no run: any request of the same call may bring the approval. */
export const DIRECT_RUN = 'direct';

export class ToolExecutor {
  readonly #deps: ToolExecutorDeps;

  constructor(deps: ToolExecutorDeps) {
    this.#deps = deps;
  }

  /** Throws what the call is refused with; what the tool itself fails with is an outcome. */
  async execute(request: ToolRequest): Promise<ToolOutcome> {
    const { registry } = this.#deps;
    const startedAt = performance.now();
    const known = request.known ?? (await registry.read(request.source.caller));
    const { tool, isRunning, reason, refusal } = registry.find(known, request.tool);
    if (request.definitionHash !== undefined && request.definitionHash !== tool.definitionHash) throw toolChanged(tool.name);
    if (!isRunning)
      throw refusal ?? edgeError('tool_unavailable', reason ?? `The module that has ${tool.name} does not run on this node.`);
    await registry.checkArguments(tool, request.arguments);
    const admitted = await this.#admit(tool, request, known.policy).catch((error: unknown) =>
      this.#refused(tool, request, error),
    );
    request.onAdmitted?.();
    return await this.#run(admitted, request, startedAt);
  }

  async #admit(tool: Tool, request: ToolRequest, policy: Policy): Promise<AdmittedCall> {
    const { security, slots, metering } = this.#deps;
    const { caller } = request.source;
    const { isOwnRoute = false } = request;
    security.requireToolCall(caller, tool.name);
    requireScopes(caller, tool, isOwnRoute);
    const own = await tool.asks?.({ caller, isOwnRoute, arguments: request.arguments });
    const waitsMs = request.ask === undefined ? undefined : policy.timeout_seconds * 1000;
    const asking: AskingCall = { ...request, tool, caller, conversation: request.conversation ?? '', isOwnRoute, own, waitsMs };
    const by = await this.#askedBy(asking, request, policy);
    const found = by !== undefined && request.findsApproval ? await this.#deps.approvals.findApproved(asking) : undefined;
    const approvalId = request.approvalId ?? found;
    if (by !== undefined && approvalId === undefined) throw await this.#approvalRequired(asking, by);
    const release = slots.take(caller);
    const { tenant, subject: user, kind, keyId } = caller;
    // What acts is on disk before it begins, so that a crash leaves its trace.
    const isStreamed = tool.effect !== 'read';
    const work = { model: tool.name, operation: 'tool', nPromptEstimate: 0, nMost: 0, isStreamed, hasNoTokens: true } as const;
    try {
      const meter = await metering.begin({ tenant, user, key: kind === 'key' ? keyId : undefined }, work);
      const end = async (): Promise<void> => {
        release();
        await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
      };
      try {
        const approval = by === undefined ? undefined : await this.#useApproval(asking, approvalId ?? '', by);
        return { tool, arguments: argumentsOf(asking, approval), approval, end };
      } catch (error) {
        await end();
        throw error;
      }
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Why the call asks; undefined: it does not. Throws `tool_call_denied` where the policy denies it. */
  async #askedBy(
    asking: AskingCall,
    { isDirect, isTainted, addresses, asksAs }: ToolRequest,
    policy: Policy,
  ): Promise<AskedBy | undefined> {
    const { tool, caller } = asking;
    const address = isDirect ? undefined : tool.reaches?.(asking.arguments);
    const isToStrangers = address !== undefined && addresses?.admits(address) !== true;
    // What only reads needs no permission.
    const isPermitted = !isDirect && tool.effect !== 'read' && (await this.#deps.approvals.isPermitted(asking));
    const outcome = judgeCall(policy, { tool, caller, isDirect, isTainted, isToStrangers, isPermitted });
    if (outcome.decision === 'deny') throw toolCallDenied(tool.name, `The policy of your tenant denies ${tool.name}.`);
    // What it is about asks whoever calls, and no rule of the tenant takes that away.
    if (asking.own !== undefined) return asking.own.rule;
    return outcome.decision === 'ask' ? outcome.by : asksAs;
  }

  async #useApproval(asking: AskingCall, approvalId: string, by: AskedBy): Promise<ApprovalRow> {
    const used = await this.#deps.approvals.use(asking, approvalId);
    if (used === undefined) throw await this.#approvalRequired(asking, by);
    return used;
  }

  async #approvalRequired(asking: AskingCall, by: AskedBy): Promise<DomainError> {
    const { id } = await this.#deps.approvals.request(asking, by);
    const sentence = `${asking.tool.name} waits for the approval ${id}.`;
    return edgeError('approval_required', sentence, { extra: { approval_id: id, asked_by: by } });
  }

  async #run(admitted: AdmittedCall, request: ToolRequest, startedAt: number): Promise<ToolOutcome> {
    const { artifacts, log } = this.#deps;
    const { tool } = admitted;
    const { conversation, source } = request;
    const { caller } = source;
    const id = `call_${randomUUID()}`;
    const seconds = Math.min(tool.maxSeconds, request.timeoutSeconds ?? tool.maxSeconds);
    const limit = new CallLimit(seconds);
    const signal = AbortSignal.any([limit.signal, request.signal]);
    const { isOwnRoute = false, addresses, ask: askPerson } = request;
    const ask: AskPerson | undefined = askPerson && ((question) => limit.standingFor(() => askPerson(tool, question)));
    const by = admitted.approval?.asked_by;
    const approved = by === 'own' || by === 'second_person' ? by : undefined;
    const call = { caller, arguments: admitted.arguments, conversation, addresses, isOwnRoute, approved, ask };
    const running = runTool(tool, call, signal);
    // A tool that does not heed its signal keeps its slot until it ends.
    const ended = running.then(
      () => admitted.end(),
      () => admitted.end(),
    );
    ended.catch((error: unknown) => log.warn('a call of a tool was not metered', { tool: tool.name, error: String(error) }));
    const ran = await beforeAbort(running, signal).then(
      async (value) => {
        const bounded = await boundResult({ tool: tool.name, value, caller, conversation }, artifacts);
        return { result: bounded.value, artifacts: [...(tool.made?.(value) ?? []), ...bounded.artifacts], thrown: undefined };
      },
      (thrown: unknown) => ({ result: undefined, artifacts: [], thrown }),
    );
    limit.end();
    const refusal =
      ran.thrown === undefined ? undefined : limit.signal.aborted ? timeoutOf(tool, seconds) : this.#refusalOf(request);
    const error = ran.thrown === undefined ? undefined : failureOf(refusal ?? ran.thrown);
    if (error?.error === 'internal') log.error('a tool failed', { tool: tool.name, error: ran.thrown });
    if (ran.thrown === undefined && tool.effect !== 'read') await ended;
    const about = { id, approval: admitted.approval?.id, ...(error !== undefined && { error: error.error }) };
    const { tookMs } = await this.#ended(tool, request, startedAt, about);
    if (refusal !== undefined) throw refusal;
    const { result, artifacts: kept } = ran;
    const refused = ran.thrown instanceof DomainError || isUnusableStorage(ran.thrown) ? ran.thrown : undefined;
    const outcome = { id, arguments: admitted.arguments, isDone: error === undefined, result, error, artifacts: kept, tookMs };
    return { ...outcome, refusal: refused, isUntrusted: returnsUntrusted(tool, admitted.arguments) };
  }

  /** Whoever asked is gone. */
  #refusalOf({ signal }: ToolRequest): DomainError | undefined {
    return signal.aborted ? edgeError('client_closed', 'The client went away.') : undefined;
  }

  /** The call is over: the log, the metrics and the client are told how long it took. */
  async #ended(
    tool: Tool,
    { source, isDirect, isTainted, arguments: args }: ToolRequest,
    startedAt: number,
    about: { id: string; approval: string | undefined; error?: string },
  ): Promise<{ tookMs: number }> {
    const { metrics, recordAct, log } = this.#deps;
    const tookMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const outcome = about.error === undefined ? 'done' : 'failed';
    metrics.ended(tool, outcome, tookMs);
    const detail = { ...kindOf(tool, args), is_direct: isDirect, is_tainted: isTainted, ...about, took_ms: tookMs };
    const recorded = recordAct(auditEntry(source, { action: 'tool.call', target: tool.name, outcome, detail }));
    // Nothing happened that a crash could hide: the line and the use are written soon, and nobody waits for the disk.
    if (tool.effect === 'read') recorded.catch((error: unknown) => log.error('a call is not in the audit log', { error }));
    else await recorded;
    return { tookMs };
  }

  async #refused(tool: Tool, { source, isDirect, isTainted, arguments: args }: ToolRequest, error: unknown): Promise<never> {
    const { metrics, recordAct } = this.#deps;
    if (!(error instanceof DomainError)) throw error;
    metrics.refused(tool, error.code === 'approval_required' ? 'asked' : 'denied');
    const approval = error.extra['approval_id'];
    const detail = {
      ...kindOf(tool, args),
      is_direct: isDirect,
      is_tainted: isTainted,
      error: error.code,
      ...(approval !== undefined && { approval }),
    };
    await recordAct(auditEntry(source, { action: 'tool.call', target: tool.name, outcome: 'denied', detail }));
    throw error;
  }
}

/** Gives what the audit log says of each call: its effect, and what it is about by names alone, so that nothing of its content is there. */
function kindOf({ effect, about = [] }: Tool, args: unknown): { effect: Tool['effect']; about?: string } {
  const given = about.map((member) => (args as Record<string, unknown> | null)?.[member]);
  const names = given.filter((name) => typeof name === 'string' && NAME_OF_A_THING.test(name));
  return names.length === 0 ? { effect } : { effect, about: names.join(' ') };
}

/** A caller without a credential is one that none was asked of. */
export function lackingScope(caller: Principal, scopes: readonly string[]): string | undefined {
  return caller.kind === 'anonymous' ? undefined : scopes.find((scope) => !hasScope(caller, scope));
}

/** That of tools at all, and that of what the tool does; a route of the module's own is no use of tools. */
function requireScopes(caller: Principal, { name, scope: ofTool }: Tool, isOwnRoute: boolean): void {
  const lacking = lackingScope(caller, isOwnRoute ? [ofTool] : [USE_SCOPE, ofTool]);
  if (lacking === undefined) return;
  throw edgeError('insufficient_scope', `The credential lacks the scope ${lacking}, which ${name} needs.`, {
    extra: { scope: lacking },
  });
}

/** Whoever approved a call may have changed its arguments: it is made as it was shown to them. */
function argumentsOf({ arguments: given }: AskingCall, approval: ApprovalRow | undefined): unknown {
  const changed = approval?.decided_arguments;
  return typeof changed === 'string' ? JSON.parse(changed) : given;
}

/** Rejects when the signal aborts, whatever the work does. */
async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function failureOf(error: unknown): { error: string; detail: string } {
  if (error instanceof DomainError) return { error: error.code, detail: error.message };
  if (isUnusableStorage(error)) return { error: 'storage_unavailable', detail: unusableStorage(error).message };
  return { error: 'internal', detail: 'The tool failed; the log of the node has the reason.' };
}

function timeoutOf({ name }: Tool, seconds: number) {
  return edgeError('tool_timeout', `${name} did not end within ${seconds} s.`);
}

/** The time that a call may take. It stands while the call waits for a person. */
class CallLimit {
  readonly #ended = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number) {
    this.#leftMs = seconds * 1000;
    this.#start();
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Whoever calls it waits for one thing at a time. */
  async standingFor<T>(wait: () => Promise<T>): Promise<T> {
    this.end();
    this.#leftMs -= performance.now() - this.#startedAt;
    try {
      return await wait();
    } finally {
      this.#start();
    }
  }

  /** The call is over. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#ended.abort(), Math.max(0, this.#leftMs)).unref();
  }
}
