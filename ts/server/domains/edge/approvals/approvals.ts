/** Calls that ask: who may see and decide them, and the one time that an approved call is made. */
import { randomUUID } from 'node:crypto';
import { hasRole, type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { type AskingRule, hashOf, type Tool, type ToolAnswer, type ToolQuestion } from '../../../platform/tools/tool.ts';
import {
  type AuditEntry,
  type AuditSource,
  actorOf,
  auditEntry,
  type Delegation,
  type IdentityApi,
} from '../../identity/index.ts';
import { toolCallDenied } from '../../security/index.ts';
import { everyTenant } from '../access-check.ts';
import { edgeError } from '../errors.ts';
import type { ApprovalRow, ApprovalState, AskedBy, Remember } from '../tables.ts';
import type { ApprovalStore } from './approval-store.ts';

interface ApprovalsOptions {
  readonly store: ApprovalStore;
  /** How long a call may be approved, and then made. */
  readonly lifetimeMs: number;
  readonly nodeId: () => string;
  readonly now: () => number;
  readonly delegations: Pick<IdentityApi['delegations'], 'of'>;
  /** Throws where the arguments are none of the tool's. */
  readonly checkArguments: (caller: Principal, tool: string, value: unknown) => Promise<void>;
  /** The answer with what the question proposes. Throws where it is none to the question. */
  readonly completeAnswer: (question: ToolQuestion, given: unknown) => Promise<unknown>;
}

/** A call that may ask. */
export interface AskingCall {
  readonly tool: Tool;
  readonly arguments: unknown;
  readonly caller: Principal;
  /** The run that the call is part of: an approval holds in this one alone. */
  readonly run: string;
  /** Empty: none. */
  readonly conversation: string;
  /** A route of the tool's own module makes it: it is made as soon as it is approved. */
  readonly isOwnRoute: boolean;
  /** The rule of what the call is about. */
  readonly own: AskingRule | undefined;
  /** A run waits so long for the decision, which is of no use to anybody when it waits no more; undefined: whoever asked makes the call again. */
  readonly waitsMs: number | undefined;
}

type ToolArguments = Readonly<Record<string, unknown>>;

interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly remember: Remember;
  /** They take the place of those of the call. */
  readonly arguments: unknown;
  readonly reason: string | undefined;
}

interface ApprovalQuery {
  readonly state: ApprovalState | undefined;
  readonly after: string;
  readonly limit: number;
}

/** Waiting calls of one owner: a client that repeats itself with other arguments fills no table. */
const MAX_PENDING = 100;
/** The run itself ends what it waits for; this is for one whose node is gone. */
const WAIT_SLACK_MS = 60_000;
/** No capability token has the scope, and no key that is made for tools alone: an agent does not approve its own calls. */
export const DECIDE_SCOPE = 'account:manage';

export class Approvals {
  readonly #options: ApprovalsOptions;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Whether the person has let the tool pass, always or in this conversation. What destroys something is asked about each time. */
  async isPermitted({ tool, caller, conversation }: AskingCall): Promise<boolean> {
    if (tool.effect === 'destructive') return false;
    const permission = { owner: ownerKey(caller), tool: tool.name, definition: tool.definitionHash, conversation };
    return await this.#options.store.isPermitted(scopeOf(caller), permission);
  }

  /** The approval that the call waits for: the same one for the same call. */
  async request(call: AskingCall, by: AskedBy): Promise<ApprovalRow> {
    const { store, now } = this.#options;
    const { owner, binding } = bindingOf(call);
    const pending = await store.listPending(scopeOf(call.caller), owner, now());
    const same = pending.find((row) => row.binding === binding);
    if (same !== undefined) return same;
    if (pending.length >= MAX_PENDING)
      throw edgeError('budget_exceeded', `${MAX_PENDING} calls wait for approval; decide some of them first.`);
    return await this.#add(call, { owner, binding, asked_by: by });
  }

  /** The question waits as an approval does, and approves nothing. */
  async ask(call: AskingCall, { message, schema }: ToolQuestion): Promise<ApprovalRow> {
    const about = { owner: ownerKey(call.caller), binding: `question:${randomUUID()}`, asked_by: 'server' as const };
    return await this.#add({ ...call, arguments: { message, schema } }, about);
  }

  /** The person's answer, once. */
  async answerOf(caller: Principal, { id, owner, binding }: ApprovalRow): Promise<ToolAnswer> {
    const { store, now } = this.#options;
    const used = await store.use(scopeOf(caller), id, { owner, binding }, now());
    if (used !== undefined) {
      const content: ToolArguments = JSON.parse(used.decided_arguments ?? '{}');
      return { action: 'accept', content };
    }
    const row = await store.find(scopeOf(caller), id);
    const isDeclined = row?.state === 'denied' && row.decided_by !== null;
    return { action: isDeclined ? 'decline' : 'cancel' };
  }

  async #add(
    { tool, arguments: given, caller, conversation, isOwnRoute, waitsMs }: AskingCall,
    about: Pick<ApprovalRow, 'owner' | 'binding' | 'asked_by'>,
  ): Promise<ApprovalRow> {
    const { store, delegations, lifetimeMs, nodeId, now } = this.#options;
    const scope = scopeOf(caller);
    const createdAt = now();
    const row: ApprovalRow = {
      ...about,
      tenant: scope.tenant,
      id: `apr_${newTimeOrderedId(createdAt)}`,
      tool: tool.name,
      effect: tool.effect,
      definition: tool.definitionHash,
      arguments: JSON.stringify(given),
      conversation,
      state: 'pending',
      created_at: createdAt,
      expires_at: createdAt + (waitsMs === undefined ? lifetimeMs : waitsMs + WAIT_SLACK_MS),
      waiting_node: waitsMs === undefined ? null : nodeId(),
      decided_at: null,
      decided_by: null,
      decided_arguments: null,
      reason: null,
      delegation: isOwnRoute ? JSON.stringify(delegations.of(caller)) : null,
      outcome: null,
    };
    await store.add(scope, row);
    return row;
  }

  /**
   * Takes the approval for the call, once. Undefined: it is none for this call, or not one any more. Throws `tool_call_denied` where it was denied,
   * and `tool_changed` where the tool is not the one that was approved.
   */
  async use(call: AskingCall, id: string): Promise<ApprovalRow | undefined> {
    const { store, now } = this.#options;
    const scope = scopeOf(call.caller);
    const { owner, binding } = bindingOf(call);
    const used = await store.use(scope, id, { owner, binding }, now());
    if (used !== undefined) return used;
    const row = await store.find(scope, id);
    if (row?.owner !== owner || row.tool !== call.tool.name) return undefined;
    if (call.isOwnRoute && row.state === 'used' && row.binding === binding)
      throw edgeError('approval_used', `The call of ${id} was made: its outcome stands there.`, { extra: { approval_id: id } });
    if (row.definition !== call.tool.definitionHash) throw toolChanged(row.tool);
    if (row.state === 'denied' && row.binding === binding)
      throw toolCallDenied(row.tool, `The call of ${row.tool} was denied${row.reason === null ? '.' : `: ${row.reason}`}`);
    return undefined;
  }

  /** An approval of this very call that was given and serves still. */
  async findApproved(call: AskingCall): Promise<string | undefined> {
    const { store, now } = this.#options;
    return await store.findApproved(scopeOf(call.caller), bindingOf(call), now());
  }

  /**
   * Newest first: the caller's own, for administrators of the tenant those of everybody that destroy something, and those that another person decides.
   */
  async list(caller: Principal, query: ApprovalQuery): Promise<ApprovalRow[]> {
    const owner = ownerKey(caller);
    const more = { withDestructive: isAdministrator(caller), withSecondPerson: isSecondPerson(caller) };
    return await this.#options.store.list(scopeOf(caller), { ...query, owner, ...more });
  }

  /** Throws `approval_not_found`. */
  async get(caller: Principal, id: string): Promise<ApprovalRow> {
    const row = await this.#options.store.find(scopeOf(caller), id);
    if (row === undefined || !this.#sees(caller, row)) throw approvalNotFound(id);
    return row;
  }

  /** Keeps what became of a call that was made when it was approved. */
  async keepOutcome({ tenant, id }: ApprovalRow, caller: Principal, outcome: unknown): Promise<ApprovalRow> {
    if (tenant !== caller.tenant) throw approvalNotFound(id);
    return await this.#options.store.keepOutcome(scopeOf(caller), id, JSON.stringify(outcome));
  }

  async decide(caller: Principal, id: string, decision: Decision): Promise<ApprovalRow> {
    const { store, now } = this.#options;
    const scope = scopeOf(caller);
    const row = await this.get(caller, id);
    if (row.asked_by === 'second_person' && !isOther(caller, row) && decision.decision === 'approve')
      throw edgeError('forbidden', 'Another person than the one who asked decides about it.');
    if (!mayDecide(caller, row))
      throw edgeError('forbidden', `${row.tool} cannot be undone: an administrator of the tenant decides about it.`);
    requireConsistent(row, decision);
    const decidedArguments = await this.#decidedArguments(caller, row, decision);
    const at = now();
    const decided = {
      state: decision.decision === 'approve' ? ('approved' as const) : ('denied' as const),
      decided_at: at,
      decided_by: actorOf(caller),
      decided_arguments: decidedArguments === undefined ? null : JSON.stringify(decidedArguments),
      reason: decision.reason ?? null,
    };
    const { tenant, owner, tool, definition } = row;
    const conversation = decision.remember === 'always' ? '' : row.conversation;
    const permission =
      decision.remember === 'once' ? undefined : { tenant, owner, tool, definition, conversation, created_at: at };
    const updated = await store.decide(scope, id, decided, permission, at);
    if (updated === undefined) throw edgeError('approval_closed', `${id} was decided, used, or is over.`);
    return updated;
  }

  /** Undefined: those of the call stay. */
  async #decidedArguments(caller: Principal, row: ApprovalRow, { decision, arguments: given }: Decision): Promise<unknown> {
    const { checkArguments, completeAnswer } = this.#options;
    if (decision === 'deny') return undefined;
    if (row.asked_by === 'server') return await completeAnswer(JSON.parse(row.arguments) as ToolQuestion, given ?? {});
    if (given !== undefined) await checkArguments(caller, row.tool, given);
    return given;
  }

  /** Whether a call of the caller waits no more. */
  async isDecided(caller: Principal, id: string): Promise<boolean> {
    const row = await this.#options.store.find(scopeOf(caller), id);
    return row?.owner !== ownerKey(caller) || row.state !== 'pending' || row.expires_at <= this.#options.now();
  }

  /** The runs that waited on this node are gone: it has started again. */
  async expireWaiting(): Promise<void> {
    const { store, nodeId, now } = this.#options;
    await store.denyWaiting(everyTenant(), nodeId(), { decided_at: now(), reason: 'the node stopped while the call waited' });
  }

  /** The run that waited for a decision goes on without: what is decided later has no effect. */
  async expire(caller: Principal, id: string, reason: string): Promise<void> {
    const { store, now } = this.#options;
    const denied = { state: 'denied' as const, decided_at: now(), decided_by: null, decided_arguments: null, reason };
    await store.decide(scopeOf(caller), id, denied, undefined, now());
  }

  #sees(caller: Principal, row: ApprovalRow): boolean {
    const isDestructive = row.effect === 'destructive' && isAdministrator(caller);
    return row.owner === ownerKey(caller) || isDestructive || isOther(caller, row);
  }
}

function requireConsistent(
  { effect, conversation, asked_by: by }: ApprovalRow,
  { decision, remember, arguments: changed }: Decision,
): void {
  const refuse = (param: string, sentence: string): never => {
    throw edgeError('invalid_request', sentence, { param });
  };
  if (decision === 'deny' && remember !== 'once') refuse('remember', 'A denial holds for this call alone; leave `remember` out.');
  if (decision === 'deny' && changed !== undefined) refuse('arguments', 'A call that is denied has no other arguments.');
  const isOwnRule = by === 'own' || by === 'second_person';
  if (isOwnRule && remember !== 'once') refuse('remember', 'What a device asks for is asked about each time.');
  // Other arguments may be about something whose rule is another one.
  if (isOwnRule && changed !== undefined) refuse('arguments', 'It is approved as it is: other arguments are another call.');
  if (by === 'server' && remember !== 'once') refuse('remember', 'An answer is to this question alone.');
  if (effect === 'destructive' && remember !== 'once') refuse('remember', 'What cannot be undone is asked about each time.');
  if (remember === 'conversation' && conversation === '') refuse('remember', 'The call belongs to no conversation.');
}

/** The account, or a key that belongs to none; all callers without either are one. */
export function ownerKey({ subject, keyId }: Principal): string {
  if (subject !== undefined) return `user:${subject}`;
  return keyId === undefined ? 'anonymous' : `key:${keyId}`;
}

/** An administrator of the tenant decides about what cannot be undone. */
export function mayDecide(caller: Principal, { effect }: Pick<ApprovalRow, 'effect'>): boolean {
  return effect !== 'destructive' || isAdministrator(caller);
}

/** Whoever could make such a call itself may be the other person, but no key that belongs to nobody. */
function isSecondPerson(caller: Principal): boolean {
  return caller.subject !== undefined && hasRole(caller, 'developer');
}

function isOther(caller: Principal, { asked_by: by, owner }: ApprovalRow): boolean {
  return by === 'second_person' && isSecondPerson(caller) && owner !== ownerKey(caller);
}

/** Says in whose name the call is made when it is approved; undefined: its caller makes it. */
export function delegationOf({ delegation }: ApprovalRow): Delegation | undefined {
  return delegation === null ? undefined : (JSON.parse(delegation) as Delegation);
}

/** The line of the audit log about a decision. */
export function approvalEntry(
  source: AuditSource,
  row: ApprovalRow,
  { decision, remember }: Pick<Decision, 'decision' | 'remember'>,
): AuditEntry {
  const detail = { approval: row.id, decision, remember, is_changed: row.decided_arguments !== null, owner: row.owner };
  return auditEntry(source, { action: 'tool.approval', target: row.tool, detail });
}

/** The caller is the operator at the machine on a node without accounts. */
function isAdministrator(caller: Principal): boolean {
  return caller.kind === 'anonymous' || hasRole(caller, 'admin');
}

function bindingOf({ tool, arguments: value, caller, run, own, isOwnRoute }: AskingCall): Pick<ApprovalRow, 'owner' | 'binding'> {
  const owner = ownerKey(caller);
  const { name, definitionHash: definition } = tool;
  // One that its caller makes again is another approval than one that is made at once.
  const about = { own, route: isOwnRoute || undefined };
  return { owner, binding: hashOf({ tool: name, definition, arguments: value, tenant: caller.tenant, owner, run, ...about }) };
}

export function toolChanged(tool: string) {
  return edgeError('tool_changed', `${tool} is another tool than the one that was approved or offered.`, { extra: { tool } });
}

function approvalNotFound(id: string) {
  return edgeError('approval_not_found', `There is no approval ${id.slice(0, 64)} that you may decide.`);
}
