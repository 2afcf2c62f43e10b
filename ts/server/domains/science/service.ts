/** Sources as tenants have them: which are enabled, one of them asked, or several at once. */
import type { SealingKey } from '../../platform/crypto/sealing-key.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { Log } from '../../platform/log/log.ts';
import type { UseRules } from '../../platform/module/use-rules.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { actorOf, type IdentityApi } from '../identity/index.ts';
import type { LicenseApi } from '../license/index.ts';
import type { Adapter, Operation } from './adapters/adapter.ts';
import type { ScienceRecord } from './answers/read-answer.ts';
import { argumentsOf, DEFAULT_RECORDS } from './arguments.ts';
import { scienceError } from './errors.ts';
import type { RawAnswer, SourceClient } from './requests/source-client.ts';
import type { SourceStore } from './source-store.ts';
import type { RequestRow, SourceRow } from './tables.ts';

interface ScienceServiceDeps {
  readonly adapters: () => ReadonlyMap<string, Adapter>;
  readonly store: SourceStore;
  readonly client: SourceClient;
  readonly license: Pick<LicenseApi, 'requireFeature'>;
  readonly uses: UseRules;
  readonly sealingKey: IdentityApi['sealingKey'];
  readonly now: () => number;
  /** A query waits so long for each of its sources. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** A source with what the tenant decided. */
export interface TenantSource {
  readonly adapter: Adapter;
  readonly isEnabled: boolean;
  readonly hasKey: boolean;
}

interface ScienceQuery {
  readonly query: string;
  readonly sources?: readonly string[] | undefined;
  readonly category?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit?: number | undefined;
}

interface SourceFailure {
  readonly source: string;
  readonly error: string;
  readonly detail: string;
}

interface QueryResult {
  readonly records: readonly ScienceRecord[];
  readonly raw: Readonly<Record<string, RawAnswer>>;
  readonly failures: readonly SourceFailure[];
  readonly took_ms: number;
}

const EARLIEST = '1600-01-01';
const LATEST = '2100-12-31';

export class ScienceService {
  readonly #deps: ScienceServiceDeps;

  constructor(deps: ScienceServiceDeps) {
    this.#deps = deps;
  }

  /** By id, those that groups and the credential leave to the caller. */
  async list(caller: Principal): Promise<TenantSource[]> {
    const { adapters, store, uses } = this.#deps;
    const rows = new Map((await store.list(scopeOf(caller))).map((row) => [row.source, row]));
    const isAllowed = await uses.of(caller, 'tools');
    return [...adapters().values()]
      .filter((adapter) => Object.keys(adapter.operations).some((name) => isAllowed(toolName(adapter, name))))
      .map((adapter) => tenantSource(adapter, rows.get(adapter.id)))
      .toSorted((a, b) => (a.adapter.id < b.adapter.id ? -1 : 1));
  }

  async get(caller: Principal, id: string): Promise<TenantSource> {
    const found = (await this.list(caller)).find(({ adapter }) => adapter.id === id);
    if (found === undefined)
      throw scienceError('source_not_found', `There is no source ${JSON.stringify(id.slice(0, 60))} that you may use.`);
    return found;
  }

  /** `key`: null forgets it; undefined leaves it. */
  async change(
    caller: Principal,
    id: string,
    { enabled, key }: { enabled?: boolean | undefined; key?: string | null | undefined },
  ): Promise<TenantSource> {
    const { store, license, now } = this.#deps;
    const { adapter } = await this.get(caller, id);
    if (enabled === true) license.requireFeature('science');
    if (key !== undefined && key !== null && adapter.key === undefined)
      throw scienceError('invalid_request', `${adapter.name} takes no key.`, { param: 'key' });
    const scope = scopeOf(caller);
    const before = (await store.list(scope)).find(({ source }) => source === id);
    const kept = { sealed_key: before?.sealed_key ?? null, sealed_by: before?.sealed_by ?? null };
    const sealed = key === undefined ? kept : await this.#seal(scope, adapter, key);
    const isEnabled = enabled ?? before?.enabled === 1;
    if (isEnabled && adapter.key?.required === true && sealed.sealed_key === null)
      throw scienceError('source_needs_key', `${adapter.name} needs a key: ${adapter.key.url} issues one.`, { param: 'key' });
    const row = { source: id, enabled: isEnabled ? 1 : 0, ...sealed, updated_at: now() };
    await store.set(scope, row);
    return tenantSource(adapter, { tenant: scope.tenant, ...row });
  }

  async request(caller: Principal, id: string, reason: string): Promise<RequestRow> {
    const { store, now } = this.#deps;
    const { adapter, isEnabled } = await this.get(caller, id);
    const at = now();
    const row = { id: `srq_${newTimeOrderedId()}`, source: adapter.id, owner: ownerOf(caller), reason, created_at: at };
    // Nobody has to decide about what is there.
    if (isEnabled) return { tenant: caller.tenant, ...row, state: 'enabled', decided_at: at };
    return await store.request(scopeOf(caller), { ...row, state: 'waiting', decided_at: null });
  }

  /** One operation of one source, as a tool asks for it. */
  async ask(
    caller: Principal,
    adapter: Adapter,
    operation: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<{ records: readonly ScienceRecord[]; raw: RawAnswer; total: number | undefined }> {
    const { store } = this.#deps;
    const row = (await store.list(scopeOf(caller))).find(({ source }) => source === adapter.id);
    if (row?.enabled !== 1) throw scienceError('source_disabled', `${adapter.name} is not enabled for your tenant.`);
    const shape = adapter.operations[operation] as Operation;
    const { limit = DEFAULT_RECORDS, ...more } = given as { limit?: number };
    const args = argumentsOf(shape, more);
    const key = await this.#keyOf(scopeOf(caller), adapter, row);
    return await this.#deps.client.ask({ adapter, operation, args, limit, key }, signal);
  }

  /** Each source answers or fails for itself. Throws `no_source_enabled`, `source_not_found`. */
  async query(caller: Principal, query: ScienceQuery, signal: AbortSignal): Promise<QueryResult> {
    const startedAt = performance.now();
    const asked = await this.#askedSources(caller, query);
    const answers = await Promise.all(asked.map((source) => this.#askForQuery(caller, source, query, signal)));
    signal.throwIfAborted();
    return {
      records: merged(answers.map(({ records }) => records)),
      raw: Object.fromEntries(answers.flatMap(({ source, raw }) => (raw === undefined ? [] : [[source, raw]]))),
      failures: answers.flatMap(({ failure }) => failure ?? []),
      took_ms: Math.round((performance.now() - startedAt) * 100) / 100,
    };
  }

  async #askedSources(caller: Principal, { sources, category }: ScienceQuery): Promise<TenantSource[]> {
    const listed = await this.list(caller);
    if (sources !== undefined) {
      const unknown = sources.find((id) => !listed.some(({ adapter }) => adapter.id === id));
      if (unknown !== undefined)
        throw scienceError('source_not_found', `There is no source ${JSON.stringify(unknown)} that you may use.`, {
          param: 'sources',
        });
      return listed.filter(({ adapter }) => sources.includes(adapter.id));
    }
    const able = listed.filter(({ adapter, isEnabled }) => isEnabled && queryOperation(adapter) !== undefined);
    const asked = able.filter(({ adapter }) => category === undefined || adapter.category === category);
    if (asked.length > 0) return asked;
    const about = category === undefined ? '' : ` about ${category}`;
    throw scienceError('no_source_enabled', `Your tenant has no source${about} that could be asked.`);
  }

  async #askForQuery(caller: Principal, { adapter }: TenantSource, query: ScienceQuery, signal: AbortSignal) {
    const source = adapter.id;
    const limit = AbortSignal.timeout(this.#deps.timeoutMs);
    try {
      const operation = queryOperation(adapter);
      if (operation === undefined)
        throw scienceError('invalid_request', `${adapter.name} has no search by words: its own tools ask it.`, {
          param: 'sources',
        });
      const given = withoutAbsent({ query: query.query, ...wholeRange(query), limit: query.limit });
      const { records, raw } = await this.ask(caller, adapter, operation, given, AbortSignal.any([limit, signal]));
      return { source, records: records.filter((record) => isWithin(record, query)), raw };
    } catch (error) {
      if (signal.aborted) throw error;
      if (!limit.aborted && !(error instanceof DomainError))
        this.#deps.log.error('a source could not be asked', { source, error });
      return { source, records: [], failure: failureOf(adapter, error, limit.aborted) };
    }
  }

  async #seal(scope: TenantScope, adapter: Adapter, key: string | null) {
    if (key === null) return { sealed_key: null, sealed_by: null };
    const sealing = await this.#deps.sealingKey();
    return { sealed_key: sealing.seal(key, contextOf(scope, adapter)), sealed_by: sealing.id };
  }

  /** A source that answers without a key is asked without one where it lies on another node. */
  async #keyOf(scope: TenantScope, adapter: Adapter, { sealed_key: sealed, sealed_by: by }: SourceRow) {
    if (sealed === null || adapter.key === undefined) return undefined;
    const sealing: SealingKey = await this.#deps.sealingKey();
    if (sealing.id === by) return { value: sealing.unseal(sealed, contextOf(scope, adapter)), tenant: scope.tenant };
    if (!adapter.key.required) return undefined;
    throw scienceError(
      'source_key_elsewhere',
      `The key of ${adapter.name} was given to another node: give it to this one as well.`,
    );
  }
}

/** The account, whichever of its credentials it presents, or a key without one. */
export function ownerOf(caller: Principal): string {
  return caller.subject === undefined ? actorOf(caller) : `user:${caller.subject}`;
}

export function toolName({ id }: Adapter, operation: string): string {
  return `science.${id}.${operation}`;
}

function queryOperation({ operations }: Adapter): string | undefined {
  return Object.keys(operations).find((name) => operations[name]?.is_query === true);
}

function tenantSource(adapter: Adapter, row: SourceRow | undefined): TenantSource {
  return { adapter, isEnabled: row?.enabled === 1, hasKey: (row?.sealed_key ?? null) !== null };
}

/** A key is for the address that it was given for. */
function contextOf({ tenant }: TenantScope, { id, base_url: url }: Adapter): string {
  return `science source ${id} of ${tenant} at ${new URL(url).origin}`;
}

function withoutAbsent(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Many sources take both ends of a time, or none. */
function wholeRange({ from, to }: ScienceQuery): { from?: string; to?: string } {
  return from === undefined && to === undefined ? {} : { from: from ?? EARLIEST, to: to ?? LATEST };
}

/** A record without a date is not known to lie outside. Dates compare as texts; those of a year or a month as their first day. */
function isWithin({ date }: ScienceRecord, { from, to }: ScienceQuery): boolean {
  if (date === null) return true;
  const isBefore = from !== undefined && date < from.slice(0, date.length);
  return !isBefore && (to === undefined || date.slice(0, to.length) <= to);
}

/** The best of each source first; a work that several have stands once, as the first of them has it. */
function merged(lists: readonly (readonly ScienceRecord[])[]): ScienceRecord[] {
  const seen = new Set<string>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
  return inTurn.filter(({ doi, kind }) => {
    if (doi === undefined) return true;
    const key = `${kind} ${doi}`;
    return seen.has(key) ? false : seen.add(key) !== undefined;
  });
}

function failureOf({ id: source, name }: Adapter, error: unknown, isLate: boolean): SourceFailure {
  if (isLate) return { source, error: 'source_timeout', detail: `${name} did not answer in its time.` };
  if (error instanceof DomainError) return { source, error: error.code, detail: error.message };
  return { source, error: 'source_failed', detail: `${name} could not be asked; the log of the node has the reason.` };
}
