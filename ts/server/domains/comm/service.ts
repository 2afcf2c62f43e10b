/** Accounts of a tenant, and messages over them. */
import { hasRole, type Principal, scopeOf } from '../../platform/http/principal.ts';
import { SchemaCheck } from '../../platform/schema/schema-check.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { matchesAny } from '../../platform/text/name-pattern.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type AskingRule, hashOf } from '../../platform/tools/tool.ts';
import { actorOf, type IdentityApi } from '../identity/index.ts';
import type { LicenseApi } from '../license/index.ts';
import type { AttachedFiles } from './attached-files.ts';
import type { Channel } from './channels/channel.ts';
import { type AccountKind, CHANNELS } from './channels/channels.ts';
import type { CommStore, RecordPage } from './comm-store.ts';
import { accountContext, type Delivery, messageContext } from './delivery.ts';
import { commError } from './errors.ts';
import type { AccountRow, MessageRow } from './tables.ts';

interface CommServiceDeps {
  readonly store: CommStore;
  readonly files: AttachedFiles;
  readonly delivery: Delivery;
  readonly license: Pick<LicenseApi, 'requireFeature'>;
  readonly sealingKey: IdentityApi['sealingKey'];
  readonly nodeId: () => string;
  readonly now: () => number;
  /** Throws `unsafe_address`. */
  check(url: URL): void;
}

interface AccountChanges {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly key?: string | null | undefined;
  readonly allowed_recipients?: readonly string[] | undefined;
  readonly limits?: { readonly per_day: number } | undefined;
  readonly model_may_send?: boolean | undefined;
}

interface MessageRequest {
  readonly account_id: string;
  readonly to?: string | undefined;
  readonly text: string;
  readonly subject?: string | undefined;
  readonly file_ids?: readonly string[] | undefined;
  readonly idempotency_key?: string | undefined;
}

const DEFAULT_PER_DAY = 200;
const TEST_TEXT = 'A test of svc: this account sends messages.';
const ENDED_OPEN: readonly MessageRow['state'][] = ['outcome_unknown'];

export class CommService {
  readonly #deps: CommServiceDeps;
  readonly #checks = new Map<AccountKind, SchemaCheck>();

  constructor(deps: CommServiceDeps) {
    this.#deps = deps;
  }

  accounts(caller: Principal): Promise<AccountRow[]> {
    return this.#deps.store.accounts(scopeOf(caller));
  }

  async account(caller: Principal, id: string): Promise<AccountRow> {
    const found = await this.#deps.store.account(scopeOf(caller), id);
    if (found === undefined) throw commError('account_not_found', `There is no account ${JSON.stringify(id.slice(0, 60))}.`);
    return found;
  }

  async add(caller: Principal, kind: AccountKind, changes: AccountChanges & { readonly name: string }): Promise<AccountRow> {
    const { license, now } = this.#deps;
    license.requireFeature('comm');
    const made: AccountRow = {
      tenant: caller.tenant,
      id: `acc_${newTimeOrderedId()}`,
      kind,
      name: changes.name,
      settings: '{}',
      enabled: 1,
      sealed_key: null,
      sealed_by: null,
      allowed_recipients: '[]',
      per_day: DEFAULT_PER_DAY,
      model_may_send: 0,
      created_at: now(),
      updated_at: now(),
    };
    return await this.#save(scopeOf(caller), made, { settings: {}, ...changes });
  }

  async change(caller: Principal, id: string, changes: AccountChanges): Promise<AccountRow> {
    const before = await this.account(caller, id);
    if (changes.enabled === true) this.#deps.license.requireFeature('comm');
    return await this.#save(scopeOf(caller), before, changes);
  }

  async remove(caller: Principal, id: string): Promise<void> {
    await this.account(caller, id);
    await this.#deps.store.removeAccount(scopeOf(caller), id);
  }

  /** A model's message asks where the account does not let models send. Undefined: it does not ask, or is refused anyway. */
  async approvalRule(caller: Principal, { account_id: id }: Pick<MessageRequest, 'account_id'>): Promise<AskingRule | undefined> {
    const account = await this.#deps.store.account(scopeOf(caller), id);
    if (account === undefined || account.model_may_send === 1) return undefined;
    const { kind, settings } = account;
    return { rule: 'own', subject: hashOf({ id, kind, settings }) };
  }

  /** The message is on disk when it resolves. Throws what it is refused with. */
  async send(caller: Principal, request: MessageRequest): Promise<MessageRow> {
    const { store, files, delivery, now, nodeId } = this.#deps;
    const { account_id: accountId, to = '', text, subject, file_ids: fileIds = [], idempotency_key: key } = request;
    const account = await this.usableAccount(caller, accountId, to, 'messages');
    const sealing = await this.#deps.sealingKey();
    const attached = await files.find(caller, CHANNELS[account.kind], fileIds);
    const scope = scopeOf(caller);
    const id = `msg_${newTimeOrderedId()}`;
    const body = { to, ...(subject !== undefined && { subject }), text, ...(attached.length > 0 && { files: attached }) };
    const row = {
      id,
      account: account.id,
      owner: ownerOf(caller),
      idempotency_key: key ?? null,
      hash: hashOf({ account: account.id, ...body }),
      masked_to: masked(to),
      sealed_body: sealing.seal(JSON.stringify(body), messageContext({ tenant: scope.tenant, id })),
      node: nodeId(),
      state: 'queued' as const,
      may_be_taken: 0,
      reason: null,
      reference: null,
      job: null,
      created_at: now(),
      updated_at: now(),
    };
    const { message, isNew } = await store.addMessage(scope, row, account.per_day);
    if (isNew) await delivery.enqueue(scope, message);
    return message;
  }

  /** Sends a text of ours, so that an administrator sees whether the account works. */
  async test(caller: Principal, id: string, to: string): Promise<MessageRow> {
    return await this.send(caller, { account_id: id, to, text: TEST_TEXT, subject: 'A test of svc' });
  }

  /** Newest first: the caller's own; for administrators all of the tenant. */
  messages(caller: Principal, page: Omit<RecordPage, 'owner'>): Promise<MessageRow[]> {
    return this.#deps.store.messages(scopeOf(caller), { ...page, owner: seesAll(caller) ? undefined : ownerOf(caller) });
  }

  /** The caller's own; for administrators all of the tenant. */
  async message(caller: Principal, id: string): Promise<MessageRow> {
    const found = await this.#deps.store.message(scopeOf(caller), id);
    const isSeen = found !== undefined && (found.owner === ownerOf(caller) || seesAll(caller));
    if (!isSeen) throw commError('message_not_found', `There is no message ${JSON.stringify(id.slice(0, 60))}.`);
    return found;
  }

  /** Sends one again whose outcome nobody knows, since a person says so. */
  async resend(caller: Principal, id: string): Promise<MessageRow> {
    const { store, delivery, now, nodeId } = this.#deps;
    const before = await this.message(caller, id);
    if (before.node !== nodeId())
      throw commError('account_key_elsewhere', 'The text of the message lies on another node: resend it there.');
    const scope = scopeOf(caller);
    const changes = { state: 'queued' as const, job: null, reason: null, updated_at: now() };
    const message = before.sealed_body === null ? undefined : await store.changeMessage(scope, id, ENDED_OPEN, changes);
    if (message === undefined) throw commError('message_not_resendable', `The message is ${before.state}.`);
    await delivery.enqueue(scope, message);
    return message;
  }

  /** The account, by which that recipient may be reached so. Throws what keeps the caller from it. */
  async usableAccount(caller: Principal, id: string, to: string, forWhat: 'messages' | 'calls'): Promise<AccountRow> {
    const { sealingKey } = this.#deps;
    const account = await this.account(caller, id);
    if (account.enabled !== 1) throw commError('account_disabled', `${account.name} is switched off.`);
    const channel: Channel = CHANNELS[account.kind];
    if (channel.makesCalls !== (forWhat === 'calls'))
      throw commError('account_cannot', `${account.name} makes no ${forWhat}: it is of the kind ${account.kind}.`, {
        param: 'account_id',
      });
    const fault = channel.recipientFault(JSON.parse(account.settings) as Record<string, unknown>, to);
    if (fault !== undefined)
      throw commError('recipient_not_allowed', `${account.name} sends nothing there: ${fault}`, { param: 'to' });
    const allowed = JSON.parse(account.allowed_recipients) as string[];
    if (to !== '' && !matchesAny(allowed, to))
      throw commError('recipient_not_allowed', `${account.name} may not send to that recipient.`, { param: 'to' });
    const sealing = await sealingKey();
    if (account.sealed_key !== null && account.sealed_by !== sealing.id)
      throw commError('account_key_elsewhere', `The key of ${account.name} lies on another node.`);
    return account;
  }

  async #save(scope: TenantScope, before: AccountRow, changes: AccountChanges): Promise<AccountRow> {
    const { store, now, check, sealingKey } = this.#deps;
    const channel: Channel = CHANNELS[before.kind];
    const settings = changes.settings ?? (JSON.parse(before.settings) as Record<string, unknown>);
    this.#requireSettings(before.kind, channel, settings);
    const changed: AccountRow = {
      ...before,
      name: changes.name ?? before.name,
      settings: JSON.stringify(settings),
      enabled: (changes.enabled ?? before.enabled === 1) ? 1 : 0,
      allowed_recipients: JSON.stringify(changes.allowed_recipients ?? JSON.parse(before.allowed_recipients)),
      per_day: changes.limits?.per_day ?? before.per_day,
      model_may_send: (changes.model_may_send ?? before.model_may_send === 1) ? 1 : 0,
      updated_at: now(),
    };
    // A key that was given for one address never goes to another.
    if (accountContext(changed) !== accountContext(before) && before.sealed_key !== null && changes.key === undefined)
      throw commError('invalid_request', 'key: The account has another address: send its key again, or null.', { param: 'key' });
    const sealing = await sealingKey();
    const { key } = changes;
    const address = channel.address(settings, key ?? '');
    if (address !== undefined) check(address);
    else if (key !== undefined && key !== null)
      throw commError('invalid_request', `key: It is to be ${channel.keyMeaning}.`, { param: 'key' });
    const sealed =
      key === undefined
        ? { sealed_key: before.sealed_key, sealed_by: before.sealed_by }
        : key === null
          ? { sealed_key: null, sealed_by: null }
          : { sealed_key: sealing.seal(key, accountContext(changed)), sealed_by: sealing.id };
    const row = { ...changed, ...sealed };
    if (channel.needsKey && row.enabled === 1 && row.sealed_key === null)
      throw commError('invalid_request', `key: The account needs a key: ${channel.keyMeaning}.`, { param: 'key' });
    const { tenant: _, ...saved } = row;
    await store.saveAccount(scope, saved);
    return row;
  }

  #requireSettings(kind: AccountKind, channel: Channel, settings: unknown): void {
    const check = this.#checks.get(kind) ?? new SchemaCheck(channel.settings);
    this.#checks.set(kind, check);
    const fault = check.findFault(settings, 'settings');
    if (fault === undefined) return;
    const param = fault.member === '' ? 'settings' : `settings.${fault.member}`;
    throw commError('invalid_request', `${param}: ${fault.sentence}`, { param });
  }
}

/** As rows name whoever asked. */
export function ownerOf(caller: Principal): string {
  return caller.subject === undefined ? actorOf(caller) : `user:${caller.subject}`;
}

/** Administrators see the records of everybody in their tenant. */
export function seesAll(caller: Principal): boolean {
  return caller.kind === 'anonymous' || hasRole(caller, 'admin');
}

/** Gives the first character and, of a mail address, the domain. */
export function masked(to: string): string {
  const at = to.lastIndexOf('@');
  if (at > 0) return `${to.slice(0, 1)}***${to.slice(at)}`;
  return to.length < 6 ? '***' : `${to.slice(0, 2)}***${to.slice(-2)}`;
}
