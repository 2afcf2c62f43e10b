/** Calls of a tenant: started, watched, hung up, and ended when the node stops. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import type { IdentityApi } from '../../identity/index.ts';
import type { AttachedFiles } from '../attached-files.ts';
import type { RecordPage } from '../comm-store.ts';
import { accountContext } from '../delivery.ts';
import { commError } from '../errors.ts';
import { type CommService, masked, ownerOf, seesAll } from '../service.ts';
import type { AccountRow, CallRow } from '../tables.ts';
import type { CallStore } from './call-store.ts';
import { type CallOutcome, type DigitsAsked, Phone, type SipSettings } from './phone.ts';
import { CALL_RATE } from './rtp-session.ts';
import { readWav, type Sound, writeWav } from './wav.ts';

interface CallRequest {
  readonly account_id: string;
  readonly to: string;
  readonly say?: string | undefined;
  readonly file_id?: string | undefined;
  readonly voice?: string | undefined;
  readonly digits?: DigitsAsked | undefined;
  readonly record?: boolean | undefined;
  readonly max_seconds?: number | undefined;
  readonly ring_seconds?: number | undefined;
}

interface CallsDeps {
  readonly store: CallStore;
  readonly service: Pick<CommService, 'usableAccount'>;
  readonly files: AttachedFiles;
  /** Reads a text aloud, at CALL_RATE. Throws the errors of the module media. */
  readonly speak: (caller: Principal, text: string, voice: string | undefined) => Promise<Int16Array>;
  /** Writes down what a recording says; undefined: no speech model is there. */
  readonly transcribe: (caller: Principal, wav: Buffer, signal: AbortSignal) => Promise<string | undefined>;
  /** Makes another rate of a sound. */
  readonly resample: (sound: Sound, rate: number) => Int16Array;
  readonly sealingKey: IdentityApi['sealingKey'];
  readonly policy: AddressPolicy;
  readonly nodeId: () => string;
  readonly maxSeconds: number;
  readonly timeoutMs: number;
  readonly log: Log;
  readonly now: () => number;
  onEnd(kind: AccountRow['kind'], state: CallRow['state']): void;
}

const RING_SECONDS = 30;
/** A stopping node waits so long for the other sides to take the end of their calls. */
const STOP_MS = 2_000;
const MOST_AT_A_TIME = 20;

export class Calls {
  readonly #deps: CallsDeps;
  readonly #phones = new Map<string, { phone: Phone; ended: Promise<void> }>();
  #nStarting = 0;
  /** Those that run, and those that have ended and answer repetitions of the other side. */
  readonly #lingering = new Set<Phone>();
  readonly #stopping = new AbortController();
  readonly #transcribing = new Set<Promise<void>>();

  constructor(deps: CallsDeps) {
    this.#deps = deps;
  }

  /** The call is on disk when it resolves, and what it plays is ready. Throws what it is refused with. */
  async start(caller: Principal, request: CallRequest): Promise<CallRow> {
    const { service } = this.#deps;
    if (request.record === true && request.say === undefined && request.file_id === undefined)
      throw commError('invalid_request', 'record: Whoever is recorded is told so first: give `say` or `file_id`.', {
        param: 'record',
      });
    const account = await service.usableAccount(caller, request.account_id, request.to, 'calls');
    if (this.#stopping.signal.aborted || this.#phones.size + this.#nStarting >= MOST_AT_A_TIME)
      throw commError('calls_busy', 'The node makes as many calls as it may at a time.', { retryAfterMs: 30_000 });
    // A text is read aloud first, which takes seconds: such a call counts already.
    this.#nStarting += 1;
    try {
      return await this.#begin(caller, request, account);
    } finally {
      this.#nStarting -= 1;
    }
  }

  async #begin(caller: Principal, request: CallRequest, account: AccountRow): Promise<CallRow> {
    const { store, sealingKey, nodeId, now } = this.#deps;
    const sound = await this.#soundOf(caller, request);
    const sealing = await sealingKey();
    const password = account.sealed_key === null ? '' : sealing.unseal(account.sealed_key, accountContext(account));
    const scope = scopeOf(caller);
    const row: CallRow = {
      tenant: scope.tenant,
      id: `call_${newTimeOrderedId()}`,
      account: account.id,
      owner: ownerOf(caller),
      masked_to: masked(request.to),
      node: nodeId(),
      state: 'calling',
      sip_status: null,
      reason: null,
      sealed_digits: null,
      recording: null,
      sealed_transcript: null,
      talked_ms: 0,
      created_at: now(),
      updated_at: now(),
    };
    const { tenant: _, ...saved } = row;
    await store.add(scope, saved, account.per_day);
    this.#dial(caller, row, account, { request, sound, password });
    return row;
  }

  /** Newest first: the caller's own; for administrators all of the tenant. */
  list(caller: Principal, page: Omit<RecordPage, 'owner'>): Promise<CallRow[]> {
    return this.#deps.store.list(scopeOf(caller), { ...page, owner: seesAll(caller) ? undefined : ownerOf(caller) });
  }

  /** The caller's own; for administrators all of the tenant. */
  async get(caller: Principal, id: string): Promise<CallRow> {
    const found = await this.#deps.store.find(scopeOf(caller), id);
    const isSeen = found !== undefined && (found.owner === ownerOf(caller) || seesAll(caller));
    if (!isSeen) throw commError('call_not_found', `There is no call ${JSON.stringify(id.slice(0, 60))}.`);
    return found;
  }

  /** The keys that were pressed, and what was said; null: another node has them, or there are none. */
  async heardIn(row: CallRow): Promise<{ digits: string | null; transcript: string | null }> {
    const isHere = row.node === this.#deps.nodeId();
    if (!isHere) return { digits: row.sealed_digits === null ? '' : null, transcript: null };
    const sealing = await this.#deps.sealingKey();
    const unseal = (sealed: string | null, context: string) => (sealed === null ? null : sealing.unseal(sealed, context));
    return {
      digits: unseal(row.sealed_digits, digitsContext(row)) ?? '',
      transcript: unseal(row.sealed_transcript, transcriptContext(row)),
    };
  }

  async hangUp(caller: Principal, id: string): Promise<CallRow> {
    const call = await this.get(caller, id);
    const running = this.#phones.get(id);
    if (running === undefined && call.node !== this.#deps.nodeId() && ['calling', 'ringing', 'talking'].includes(call.state))
      throw commError('account_key_elsewhere', 'Another node makes the call: hang up there.');
    running?.phone.hangUp();
    await running?.ended;
    return await this.get(caller, id);
  }

  async begin(): Promise<void> {
    await this.#deps.store.endInterrupted(this.#deps.nodeId(), this.#deps.now());
  }

  /** Ends all calls, those that ring and those that talk. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const running = [...this.#phones.values()];
    for (const { phone } of running) phone.hangUp();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS);
    });
    await Promise.race([Promise.all(running.map(({ ended }) => ended)), late]);
    clearTimeout(timer);
    for (const phone of this.#lingering) phone.abandon();
    await Promise.all(running.map(({ ended }) => ended));
    await Promise.all(this.#transcribing);
  }

  #dial(
    caller: Principal,
    row: CallRow,
    account: AccountRow,
    { request, sound, password }: { request: CallRequest; sound: Int16Array | undefined; password: string },
  ): void {
    const { store, policy, timeoutMs, maxSeconds, now, log } = this.#deps;
    const scope = scopeOf(caller);
    const phone = new Phone({
      settings: JSON.parse(account.settings) as SipSettings,
      password,
      to: request.to,
      sound,
      digits: request.digits,
      isRecorded: request.record === true,
      maxSeconds: Math.min(maxSeconds, request.max_seconds ?? maxSeconds),
      ringSeconds: request.ring_seconds ?? RING_SECONDS,
      policy,
      timeoutMs,
      now,
      onState: (state) =>
        void store
          .change(scope, row.id, { state, updated_at: now() })
          .catch((error: unknown) =>
            log.warn('the state of a call could not be recorded', { call: row.id, error: String(error) }),
          ),
    });
    const ended = phone
      .run()
      .then((outcome) => this.#ended(caller, scope, { row, kind: account.kind }, outcome))
      .catch((error: unknown) => log.warn('the end of a call could not be recorded', { call: row.id, error: String(error) }))
      .finally(() => this.#phones.delete(row.id));
    this.#phones.set(row.id, { phone, ended });
    this.#lingering.add(phone);
    void phone.gone.then(() => this.#lingering.delete(phone));
  }

  async #ended(
    caller: Principal,
    scope: TenantScope,
    { row, kind }: { row: CallRow; kind: AccountRow['kind'] },
    outcome: CallOutcome,
  ): Promise<void> {
    const { store, files, sealingKey, now, log, onEnd } = this.#deps;
    const { end, status, reason, digits, recording, talkedMs } = outcome;
    const wav = recording.length === 0 ? undefined : writeWav({ rate: CALL_RATE, samples: recording });
    const kept = await (wav && files.keep(caller, `${row.id}.wav`, wav))?.catch((error: unknown) => {
      log.warn('a recording could not be stored', { call: row.id, error: String(error) });
      return undefined;
    });
    const sealed = digits === '' ? null : (await sealingKey()).seal(digits, digitsContext(row));
    await store.change(scope, row.id, {
      state: end,
      sip_status: status ?? null,
      reason: reason ?? null,
      sealed_digits: sealed,
      recording: kept ?? null,
      talked_ms: talkedMs,
      updated_at: now(),
    });
    onEnd(kind, end);
    if (kept !== undefined && wav !== undefined) this.#transcribe(caller, scope, row, wav);
  }

  /** It takes longer than a call may take to end, so that nobody waits for it. A node that stops leaves a recording without its words. */
  #transcribe(caller: Principal, scope: TenantScope, row: CallRow, wav: Buffer): void {
    const { store, transcribe, sealingKey, log } = this.#deps;
    const work = async (): Promise<void> => {
      const text = await transcribe(caller, wav, this.#stopping.signal);
      if (text !== undefined) await store.keepTranscript(scope, row.id, (await sealingKey()).seal(text, transcriptContext(row)));
    };
    const done = work()
      .catch((error: unknown) => log.warn('a recording of a call was not transcribed', { call: row.id, error: String(error) }))
      .finally(() => this.#transcribing.delete(done));
    this.#transcribing.add(done);
  }

  async #soundOf(caller: Principal, { say, file_id: fileId, voice }: CallRequest): Promise<Int16Array | undefined> {
    const { files, speak, resample } = this.#deps;
    const spoken = say === undefined ? undefined : await speak(caller, say, voice);
    if (fileId === undefined) return spoken;
    const file = await files.readOwn(caller, fileId);
    const sound = readWav(file);
    if (sound === undefined)
      throw commError('attachment_refused', 'A call plays WAV files of 16-bit samples.', { param: 'file_id' });
    const played = resample(sound, CALL_RATE);
    if (spoken === undefined) return played;
    const both = new Int16Array(played.length + spoken.length);
    both.set(played);
    both.set(spoken, played.length);
    return both;
  }
}

function digitsContext({ tenant, id }: Pick<CallRow, 'tenant' | 'id'>): string {
  return `comm digits of ${id} of ${tenant}`;
}

function transcriptContext({ tenant, id }: Pick<CallRow, 'tenant' | 'id'>): string {
  return `comm transcript of ${id} of ${tenant}`;
}
