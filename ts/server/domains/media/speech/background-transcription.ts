/** Transcriptions that outlive their request, as jobs of this node, where the recording lies. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Job, type JobContext, JobError, JobFailedError, type JobQueue, type Jobs } from '../../../platform/jobs/index.ts';
import { anyName } from '../../../platform/module/use-rules.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { mediaError, mediaErrors } from '../errors.ts';
import type { StoredFiles } from '../form/given-file.ts';
import type { MediaOwner, SpeechService } from './speech-service.ts';
import { transcriptBody } from './transcript-shape.ts';

const JobInput = Type.Object({
  /** One of the two: a stored file, or one that came with the request. */
  sha256: Type.Optional(Type.String()),
  recording: Type.Optional(Type.String()),
  model: Type.String(),
  language: Type.Optional(Type.String()),
  prompt: Type.Optional(Type.String()),
  temperature: Type.Number(),
  translates: Type.Boolean(),
  has_words: Type.Boolean(),
  tells_speakers: Type.Boolean(),
  skips_silence: Type.Boolean(),
  key_id: Type.Optional(Type.String()),
});

type BackgroundWork = Omit<Static<typeof JobInput>, 'recording' | 'key_id'>;

interface BackgroundDeps {
  jobs: Jobs;
  service: SpeechService;
  /** Recordings wait there for their jobs. */
  folder: string;
  files(): StoredFiles | undefined;
}

/** A recording whose job was cancelled before it ran is removed by a start after so long. */
const MOST_AGE_MS = 7 * 86_400_000;
/** Windows of several recordings are decoded in turns; more of them at once only share the cores. */
const MOST_AT_ONCE = 4;
/** These pass: the job is tried again. */
const PASSING = ['queue_full', 'out_of_memory', 'storage_unavailable', 'internal', 'client_closed'];

export class BackgroundTranscription {
  readonly #deps: BackgroundDeps;
  readonly #queue: JobQueue<Static<typeof JobInput>>;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    this.#queue = deps.jobs.define({
      name: 'media.transcribe',
      input: JobInput,
      isOfNode: true,
      concurrency: MOST_AT_ONCE,
      run: (context) => this.#run(context),
    });
  }

  async start(): Promise<void> {
    this.#queue.start();
    for (const name of await readdir(this.#deps.folder, { recursive: true }).catch(() => [])) {
      const path = join(this.#deps.folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found?.isFile() === true && found.mtimeMs < Date.now() - MOST_AGE_MS) await rm(path, { force: true });
    }
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  /** These have recordings here. */
  async tenants(): Promise<string[]> {
    return await readdir(this.#deps.folder).catch(() => []);
  }

  async eraseTenant({ tenant }: TenantScope): Promise<void> {
    await rm(this.#folderOf(tenant), { recursive: true, force: true });
  }

  /** Takes the recording of a form over, unless it is a stored file. Throws queue_full and storage_unavailable. */
  async enqueue(scope: TenantScope, owner: MediaOwner, path: string, work: BackgroundWork): Promise<Job> {
    const recording = work.sha256 === undefined ? randomUUID() : undefined;
    if (recording !== undefined) {
      await mkdir(this.#folderOf(owner.tenant), { recursive: true });
      await rename(path, join(this.#folderOf(owner.tenant), recording));
    }
    try {
      const input = {
        ...work,
        ...(recording !== undefined && { recording }),
        ...(owner.key !== undefined && { key_id: owner.key }),
      };
      return await this.#queue.enqueue(scope, input, owner.user === undefined ? {} : { owner: owner.user });
    } catch (error) {
      if (recording !== undefined) await rm(join(this.#folderOf(owner.tenant), recording), { force: true });
      if (!(error instanceof JobError) || error.code !== 'job_queue_full') throw error;
      throw mediaError('queue_full', error.message, { retryAfterMs: 60_000, cause: error });
    }
  }

  async #run({ input, scope, owner, signal, progress }: JobContext<Static<typeof JobInput>, unknown>): Promise<object> {
    const { model, language, prompt, temperature, key_id: key } = input;
    const call = {
      model,
      mayUse: anyName,
      owner: { tenant: scope.tenant, user: owner, key },
      temperature,
      translates: input.translates,
      hasWords: input.has_words,
      tellsSpeakers: input.tells_speakers,
      skipsSilence: input.skips_silence,
      isBackground: true,
      signal,
      announce: () => undefined,
      ...(language !== undefined && { language }),
      ...(prompt !== undefined && { prompt }),
    };
    const path = await this.#pathOf(scope, input);
    try {
      const onProgress = ({ doneSeconds }: { doneSeconds: number }) => progress({ done: doneSeconds, unit: 'seconds' });
      const transcript = await this.#deps.service.transcribe(path, call, onProgress);
      await this.#removeRecording(scope, input);
      return transcriptBody(transcript, input.has_words);
    } catch (error) {
      if (signal.aborted || !(error instanceof DomainError) || PASSING.includes(error.code)) throw error;
      await this.#removeRecording(scope, input);
      const remedy = mediaErrors.hasCode(error.code) ? mediaErrors.rows[error.code][2] : 'Correct what the sentence names.';
      throw new JobFailedError(error.code, error.message, error.remedy ?? remedy, error);
    }
  }

  async #pathOf(scope: TenantScope, { sha256, recording }: Static<typeof JobInput>): Promise<string> {
    const files = this.#deps.files();
    try {
      if (recording !== undefined) {
        const path = join(this.#folderOf(scope.tenant), recording);
        await stat(path);
        return path;
      }
      if (sha256 !== undefined && files !== undefined) return await files.open(scope, sha256);
      throw new Error('no file of it is on this node');
    } catch (cause) {
      throw new JobFailedError('recording_gone', 'The recording is no longer there.', 'Send it again.', cause);
    }
  }

  async #removeRecording(scope: TenantScope, { recording }: Static<typeof JobInput>): Promise<void> {
    if (recording !== undefined) await rm(join(this.#folderOf(scope.tenant), recording), { force: true });
  }

  /** Names of tenants need not be names of folders. */
  #folderOf(tenant: string): string {
    return join(this.#deps.folder, createHash('sha256').update(tenant).digest('hex'));
  }
}
