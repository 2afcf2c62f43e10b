/** All resumable streams of this process: found by their owners alone, bounded in time and memory. */

import { HttpError } from '../../../platform/http/errors.ts';
import type { Log } from '../../../platform/log/log.ts';
import { type CompletionError, completionError } from '../errors.ts';
import { LiveStreams } from '../event-streams/live-streams.ts';
import { ResumableStream, type StreamAbout, type StreamHooks, type StreamOwner, type StreamParts } from './resumable-stream.ts';
import type { StreamLimits } from './stream-limits.ts';
import { StreamMemory } from './stream-memory.ts';

/** Between looks at streams that nobody reads, and at those that have ended. */
const SWEEP_MS = 1_000;

export class StreamRegistry {
  readonly #limits: StreamLimits;
  readonly #log: Log;
  readonly #live = new LiveStreams<ResumableStream>();
  readonly #memory: StreamMemory;
  readonly #hooks: StreamHooks;
  /** Undefined: no other node would be asked for its streams. */
  nodeId: () => string | undefined = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(limits: StreamLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
    this.#memory = new StreamMemory(limits, {
      remove: (stream) => this.#remove(stream),
      abandon: (stream) => stream.cut('client_closed', tooLong()),
    });
    this.#hooks = {
      changed: (stream) => this.#live.changed(keyOf(stream.about)),
      mustPause: (stream) => this.#memory.mustPause(stream),
      freed: (stream) => this.#memory.account(stream),
      left: (stream) => this.#left(stream),
      wait: (stream, signal) => this.#live.wait(keyOf(stream.about), signal),
      onReaderError: ({ about }, error) => log.warn('a reader of a stream was cut', { stream: about.id, error: String(error) }),
    };
  }

  /** Bytes of all streams. */
  get sizeBytes(): number {
    return this.#memory.totalBytes;
  }

  get count(): number {
    return [...this.#live.values()].length;
  }

  /** Undefined: there is no memory for it, or such streams are switched off. Throws `stream_exists`. */
  open(about: StreamAbout, parts: StreamParts): ResumableStream | undefined {
    if (this.#isStopped || this.#limits.detachedMs === 0) return undefined;
    if (this.#live.find(keyOf(about)) !== undefined)
      throw completionError(
        'stream_exists',
        'An answer with this id is being made or has just been; follow its stream instead.',
        {
          param: 'conversation_answer.id',
        },
      );
    if (!this.#memory.hasSpace(about.owner.tenant)) return undefined;
    const stream = new ResumableStream(about, parts, this.#hooks);
    this.#live.open(keyOf(about), stream);
    this.#memory.add(stream);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return stream;
  }

  /** The name by which any node of the cluster finds the stream: its id, and the node that has it. */
  nameOf({ about: { id } }: ResumableStream): string {
    const node = this.nodeId();
    return node === undefined ? id : `${id}@${node}`;
  }

  /** Throws `stream_not_found`, for a stream of somebody else as for none. */
  get(owner: StreamOwner, name: string): ResumableStream {
    const [id = ''] = name.split('@');
    const stream = this.#live.find(keyOf({ owner, id }));
    if (stream !== undefined) return stream;
    throw completionError(
      'stream_not_found',
      'You have no such stream here: it ended some time ago, or its node was restarted. A complete answer is in its conversation.',
    );
  }

  /** Oldest first; of one conversation, or all of the owner. */
  list(owner: StreamOwner, conversationId?: string): ResumableStream[] {
    return [...this.#live.values()].filter(
      ({ about }) =>
        about.owner.tenant === owner.tenant &&
        about.owner.subject === owner.subject &&
        (conversationId === undefined || about.conversationId === conversationId),
    );
  }

  /** Ends an answer; one that has ended stays as it is. Resolves when the part that was generated is stored. Throws `stream_not_found`. */
  async cancel(owner: StreamOwner, id: string): Promise<ResumableStream> {
    const stream = this.get(owner, id);
    stream.cut('cancelled', completionError('answer_cancelled', 'The answer was cancelled by request.'));
    await stream.parts.whenStored();
    return stream;
  }

  /** The work failed before it could answer anything: who waits for the stream hears why, and its id is free again. */
  fail(stream: ResumableStream, error: CompletionError): void {
    stream.cut('failure', error);
    this.#remove(stream);
  }

  /** The conversation is being erased, or all of the owner's are: nothing of its streams stays. Resolves when nothing is being stored. */
  async erase(owner: StreamOwner, conversationId?: string): Promise<void> {
    const streams = this.list(owner, conversationId);
    for (const stream of streams) {
      stream.cut('cancelled', completionError('answer_cancelled', 'The conversation was erased.'));
      this.#remove(stream);
    }
    await whenAllStored(streams);
  }

  /** Ends what runs; resolves when its parts are stored. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const streams = [...this.#live.values()];
    for (const stream of streams) {
      stream.cut('shutdown', completionError('node_stopping', 'The node stops; ask again in a moment.'));
      this.#remove(stream);
    }
    await whenAllStored(streams);
  }

  #left(stream: ResumableStream): void {
    if (stream.state === 'running' && !stream.isRead) void this.#recheck(stream);
  }

  /** Nobody reads the stream, so no open request stands for its credential. */
  async #recheck(stream: ResumableStream): Promise<void> {
    try {
      await stream.parts.recheck();
    } catch (error) {
      // As long as a credential cannot be judged, its work goes on.
      if (error instanceof HttpError && error.status !== 503)
        stream.cut(
          'client_closed',
          completionError('client_closed', 'The credential that the answer was asked for with has ended.'),
        );
      else this.#log.warn('the credential of a stream was not judged', { stream: stream.about.id, error: String(error) });
    }
  }

  #sweep(): void {
    const now = performance.now();
    for (const stream of [...this.#live.values()]) {
      if (stream.state !== 'running') {
        if (now - (stream.endedAt ?? now) >= this.#limits.keepMs) this.#remove(stream);
      } else if (stream.detachedAt !== undefined) {
        if (now - stream.detachedAt >= this.#limits.detachedMs) stream.cut('client_closed', abandoned(this.#limits.detachedMs));
        else void this.#recheck(stream);
      }
    }
  }

  #remove(stream: ResumableStream): void {
    this.#live.close(keyOf(stream.about), stream);
    this.#memory.release(stream);
    if (this.count > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

async function whenAllStored(streams: readonly ResumableStream[]): Promise<void> {
  await Promise.all(streams.map(({ parts }) => parts.whenStored()));
}

function keyOf({ owner, id }: Pick<StreamAbout, 'owner' | 'id'>): string {
  return JSON.stringify([owner.tenant, owner.subject, id]);
}

function abandoned(limitMs: number): CompletionError {
  return completionError('answer_abandoned', `Nobody read the answer for ${limitMs / 1000} seconds, so it was ended.`);
}

function tooLong(): CompletionError {
  return completionError(
    'answer_abandoned',
    'Nobody read the answer, and it became longer than what is kept for readers to come.',
  );
}
