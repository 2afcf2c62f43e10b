/** Recordings that become documents: heard from where they were left, once by each model, one recording by one job at a time. */
import { anyName } from '../../../platform/module/use-rules.ts';
import { HeardNotes, type SaidPiece } from './heard-notes.ts';
import type { SpeechModels } from './speech-models.ts';
import type { MediaOwner, SpeechService } from './speech-service.ts';

interface HearingOptions {
  /** The folder keeps what was heard of this recording; it is made. */
  folder: string;
  signal: AbortSignal;
  onSeconds(done: number): void;
}

export class BackgroundHearing {
  readonly #service: SpeechService;
  readonly #models: SpeechModels;
  /** Work under way, by the folder of its notes. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(service: SpeechService, models: SpeechModels) {
    this.#service = service;
    this.#models = models;
  }

  /** Whether a recording would become text now. */
  async canHear(): Promise<boolean> {
    return (await this.#models.cards(anyName)).length > 0;
  }

  /** Hears a recording for an account by the default model. Throws the errors of the module, and those of quotas. */
  async hear(owner: MediaOwner, path: string, options: HearingOptions): Promise<readonly SaidPiece[]> {
    const { folder, signal } = options;
    for (let before = this.#busy.get(folder); before !== undefined; before = this.#busy.get(folder)) await before;
    signal.throwIfAborted();
    const work = this.#hear(owner, path, options);
    const ended = work.catch(() => undefined).finally(() => this.#busy.delete(folder));
    this.#busy.set(folder, ended);
    return await work;
  }

  async #hear(owner: MediaOwner, path: string, { folder, signal, onSeconds }: HearingOptions): Promise<readonly SaidPiece[]> {
    const { id: model, sizeBytes, createdAt } = (await this.#models.choose('', anyName)).file;
    const notes = await HeardNotes.open(folder, `${model} ${sizeBytes} ${createdAt}`);
    try {
      const { isWhole, doneSeconds: fromSeconds, language, said } = notes;
      if (isWhole) return said;
      const call = { model, mayUse: anyName, owner, isBackground: true, signal, announce: () => undefined };
      const { duration } = await this.#service.transcribe(
        path,
        { ...call, fromSeconds, ...(language !== '' && { language }) },
        (progress) => {
          notes.add(progress.segments, progress.doneSeconds, progress.language);
          onSeconds(progress.doneSeconds);
        },
      );
      notes.end(duration);
      return said;
    } finally {
      await notes.close();
    }
  }
}
