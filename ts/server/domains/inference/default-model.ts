/** Which model answers who names none: it is loaded at start, and stays loaded. */
import type { Log } from '../../platform/log/log.ts';
import { inferenceFailure } from './failure.ts';
import { modelNameOfFile } from './library/index.ts';
import type { LocalBackend } from './local/local-backend.ts';
import { isModelPath } from './model-folders.ts';
import type { ModelSource } from './models/model-source.ts';

/** The configured one; else the smallest chat model that is no demonstration, else the demonstration. Undefined: none is installed. */
export async function chooseDefaultModel(
  { default_model: named }: { readonly default_model: string },
  source: ModelSource,
): Promise<string | undefined> {
  if (isModelPath(named)) return modelNameOfFile(named);
  if (named !== '') return named.toLowerCase();
  const chat = (await source.list()).filter((model) => model.kind === 'chat');
  const real = chat.filter((model) => model.demonstration === undefined);
  return (real.length > 0 ? real : chat).sort((a, b) => a.sizeBytes - b.sizeBytes)[0]?.id;
}

export interface DefaultModelOptions {
  readonly settings: { readonly default_model: string };
  readonly source: ModelSource;
  readonly local: Pick<LocalBackend, 'load' | 'setPinned' | 'unavailableReason'>;
  onLoadError(id: string, error: unknown): void;
  readonly log: Log;
}

export class DefaultModel {
  readonly #options: DefaultModelOptions;
  /** Undefined: none is installed. */
  id: string | undefined;
  #failure: string | undefined;

  constructor(options: DefaultModelOptions) {
    this.#options = options;
  }

  /** Why it could not be loaded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  async choose(): Promise<void> {
    const { settings, source } = this.#options;
    this.#take(await chooseDefaultModel(settings, source));
  }

  #take(id: string | undefined): void {
    const { local } = this.#options;
    if (this.id !== undefined) local.setPinned(this.id, false);
    if (id !== undefined) local.setPinned(id, true);
    this.id = id;
    this.#failure = undefined;
  }

  /** Never rejects: what fails is told by the log and by /health. */
  async load(): Promise<void> {
    const { local, onLoadError } = this.#options;
    const id = this.id;
    if (id === undefined || local.unavailableReason()) return;
    await local.load(id, new AbortController().signal, Number.POSITIVE_INFINITY).catch((error: unknown) => {
      this.#failure = inferenceFailure(error).message;
      onLoadError(id, error);
    });
  }

  /** Models have come: one of them takes the place of a demonstration, or of none. Never rejects. */
  async reconsider(): Promise<void> {
    const { settings, source, log } = this.#options;
    const before = this.id;
    try {
      const current = (await source.list()).find(({ id }) => id === before);
      if (current !== undefined && current.demonstration === undefined) return;
      const chosen = await chooseDefaultModel(settings, source);
      if (chosen === before || this.id !== before) return;
      this.#take(chosen);
      log.info('another model is the default', { model: chosen, before });
      await this.load();
    } catch (error) {
      log.warn('the default model stays as it is', { error: String(error) });
    }
  }
}
