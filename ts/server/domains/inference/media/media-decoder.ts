/**
 * Decodes what requests bring, in processes of which each serves one tenant at a time: whoever takes one over by a hole in a decoder sees
 * nobody else's images. Tenants take turns, image by image.
 */
import { availableParallelism } from 'node:os';
import type { DecodedMedia } from '../../../native/llama-shapes.ts';
import { hasImageLibrary, NO_IMAGE_LIBRARY } from '../../../platform/files/image-library.ts';
import { inferenceError } from '../errors.ts';
import { DecoderProcess, UndecodableError } from './decoder-process.ts';
import type { EncodedMedia, ProjectorInput } from './encoded-media.ts';
import { maxSoundSeconds } from './media-limits.ts';

const retryAfterMs = 1000;
/** A process without work for this long ends. */
const idleMs = 30_000;
/** The most bytes that wait, by what they take in memory and what they will come to: of all tenants, and of one. */
const maxWaitingBytes = 2 ** 31;
const maxWaitingBytesOfTenant = 2 ** 30;
const bytesPerPixel = 3;

export interface DecoderSlot {
  readonly isUsable: boolean;
  decode: DecoderProcess['decode'];
  end(): void;
}

interface Task {
  media: EncodedMedia;
  wants: ProjectorInput;
  sizeBytes: number;
  signal: AbortSignal;
  resolve: (decoded: DecodedMedia) => void;
  reject: (error: unknown) => void;
}

interface Slot {
  tenant: string;
  decoder: DecoderSlot;
  isBusy: boolean;
  idleTimer: NodeJS.Timeout | undefined;
}

export interface MediaDecoderStats {
  nWaiting: number;
  waitingBytes: number;
  nProcesses: number;
}

export class MediaDecoder {
  readonly #nMost: number;
  readonly #start: () => DecoderSlot;
  /** The tenants that wait, in the order of their turns. */
  readonly #waiting = new Map<string, Task[]>();
  readonly #waitingBytes = new Map<string, number>();
  readonly #slots: Slot[] = [];
  #sumBytes = 0;
  #isClosed = false;

  constructor({ nProcesses = defaultProcesses(), start = () => new DecoderProcess() as DecoderSlot } = {}) {
    this.#nMost = nProcesses;
    this.#start = start;
  }

  /** Throws invalid_media, unsupported or queue_full, or the signal's reason. */
  async decode(
    tenant: string,
    media: readonly EncodedMedia[],
    wants: ProjectorInput,
    signal: AbortSignal,
  ): Promise<DecodedMedia[]> {
    for (const part of media) refuseUnwanted(part, wants);
    const sizes = media.map(sizeOf);
    this.#admit(
      tenant,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    return Promise.all(media.map((part, index) => this.#enter(tenant, part, wants, sizes[index] as number, signal)));
  }

  stats(): MediaDecoderStats {
    const nWaiting = [...this.#waiting.values()].reduce((sum, tasks) => sum + tasks.length, 0);
    return { nWaiting, waitingBytes: this.#sumBytes, nProcesses: this.#slots.length };
  }

  /** Again after close(). */
  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
    for (const tasks of this.#waiting.values()) for (const task of tasks) task.reject(closing());
    this.#waiting.clear();
    for (const slot of [...this.#slots]) this.#drop(slot);
  }

  /** A tenant of whom nothing waits may always bring one request. */
  #admit(tenant: string, sizeBytes: number): void {
    if (this.#isClosed) throw closing();
    const mine = this.#waitingBytes.get(tenant) ?? 0;
    if (mine === 0 && this.#sumBytes <= maxWaitingBytes) return;
    if (mine + sizeBytes <= maxWaitingBytesOfTenant && this.#sumBytes + sizeBytes <= maxWaitingBytes) return;
    throw inferenceError('queue_full', 'Too many images wait to be decoded.', { retryAfterMs });
  }

  #enter(
    tenant: string,
    media: EncodedMedia,
    wants: ProjectorInput,
    sizeBytes: number,
    signal: AbortSignal,
  ): Promise<DecodedMedia> {
    const { promise, resolve, reject } = Promise.withResolvers<DecodedMedia>();
    const tasks = this.#waiting.get(tenant) ?? [];
    tasks.push({ media, wants, sizeBytes, signal, resolve, reject });
    this.#waiting.set(tenant, tasks);
    this.#count(tenant, sizeBytes);
    this.#startNext();
    return promise.finally(() => this.#count(tenant, -sizeBytes));
  }

  #count(tenant: string, sizeBytes: number): void {
    const sum = (this.#waitingBytes.get(tenant) ?? 0) + sizeBytes;
    if (sum > 0) this.#waitingBytes.set(tenant, sum);
    else this.#waitingBytes.delete(tenant);
    this.#sumBytes += sizeBytes;
  }

  #startNext(): void {
    for (const tenant of [...this.#waiting.keys()]) {
      const slot = this.#slotFor(tenant);
      if (!slot) return;
      const task = this.#takeTurn(tenant);
      if (task) void this.#run(slot, task);
    }
  }

  /** Its next task; then the tenant goes behind the others. */
  #takeTurn(tenant: string): Task | undefined {
    const tasks = this.#waiting.get(tenant) ?? [];
    const task = tasks.shift();
    this.#waiting.delete(tenant);
    if (tasks.length > 0) this.#waiting.set(tenant, tasks);
    return task;
  }

  /** An idle process of the tenant's own, or a new one, be it in the place of one that is idle for another. */
  #slotFor(tenant: string): Slot | undefined {
    const idle = this.#slots.filter(({ isBusy }) => !isBusy);
    const own = idle.find((slot) => slot.tenant === tenant && slot.decoder.isUsable);
    if (own) return own;
    if (this.#slots.length >= this.#nMost) {
      const [other] = idle;
      if (!other) return undefined;
      this.#drop(other);
    }
    const slot = { tenant, decoder: this.#start(), isBusy: false, idleTimer: undefined };
    this.#slots.push(slot);
    return slot;
  }

  async #run(slot: Slot, task: Task): Promise<void> {
    slot.isBusy = true;
    clearTimeout(slot.idleTimer);
    try {
      task.signal.throwIfAborted();
      task.resolve(await decodeWith(slot.decoder, task));
    } catch (error) {
      task.reject(error);
    }
    slot.isBusy = false;
    if (!slot.decoder.isUsable || this.#isClosed) this.#drop(slot);
    else slot.idleTimer = setTimeout(() => this.#drop(slot), idleMs).unref();
    this.#startNext();
  }

  #drop(slot: Slot): void {
    clearTimeout(slot.idleTimer);
    slot.decoder.end();
    const at = this.#slots.indexOf(slot);
    if (at >= 0) this.#slots.splice(at, 1);
  }
}

/** Pictures are decoded beside what the engine computes for others. */
function defaultProcesses(): number {
  return Math.max(1, Math.min(4, Math.floor(availableParallelism() / 4)));
}

function closing(): Error {
  return inferenceError('model_unloading', 'The server is stopping.', { retryAfterMs });
}

function refuseUnwanted({ kind, param }: EncodedMedia, { imagePixels, soundRate }: ProjectorInput): void {
  if (kind === 'image' && imagePixels === 0) throw inferenceError('unsupported', 'The model reads no images.', { param });
  if (kind === 'audio' && soundRate === 0) throw inferenceError('unsupported', 'The model hears no sounds.', { param });
  if (!hasImageLibrary()) throw inferenceError('unsupported', NO_IMAGE_LIBRARY, { param });
}

function sizeOf(media: EncodedMedia): number {
  const encoded = media.bytes instanceof Uint8Array ? media.bytes.length : media.bytes.sizeBytes;
  return encoded + (media.kind === 'image' ? media.width * media.height * bytesPerPixel : 0);
}

async function decodeWith(decoder: DecoderSlot, { media, wants }: Task): Promise<DecodedMedia> {
  const sizeBytes = media.bytes instanceof Uint8Array ? media.bytes.length : media.bytes.sizeBytes;
  try {
    if (media.kind === 'image') {
      const maxPixels = media.width * media.height;
      const task = { kind: 'image', sizeBytes, maxPixels, fitPixels: wants.imagePixels } as const;
      const { bytes, width, height } = await decoder.decode(task, media.bytes);
      return { kind: 'image', width, height, pixels: bytes };
    }
    const task = { kind: 'audio', sizeBytes, format: media.format, rate: wants.soundRate, maxSeconds: maxSoundSeconds } as const;
    const { bytes } = await decoder.decode(task, media.bytes);
    return { kind: 'audio', samples: bytes };
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    const what = media.kind === 'image' ? 'image' : 'sound';
    throw inferenceError('invalid_media', `The ${what} in ${media.param} cannot be decoded: ${error.message}.`, {
      param: media.param,
    });
  }
}
