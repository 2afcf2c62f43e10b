/** Keeps the model that answers where a request names none: it is loaded at start, and stays loaded. */
import type { Log } from '../../platform/log/log.ts';
import { inferenceFailure } from './failure.ts';
import { modelNameOfFile } from './library/index.ts';
import type { LocalBackend } from './local/local-backend.ts';
import { isModelPath } from './model-folders.ts';
import type { ModelSource, StoredModel } from './models/model-source.ts';

interface DefaultModelSettings {
  readonly default_model: string;
}

/**
 * The configured one; else the smallest chat model that is no demonstration, else the demonstration. Undefined: none is installed. One
 * without a chat template is taken where there is no other.
 */
export async function chooseDefaultModel(
  { default_model: named }: DefaultModelSettings,
  source: ModelSource,
): Promise<string | undefined> {
  return named === '' ? byPreference(await source.list())[0]?.id : nameOf(named);
}

function nameOf(setting: string): string {
  return isModelPath(setting) ? modelNameOfFile(setting) : setting.toLowerCase();
}

/** Chat models in the order in which they are tried: the smallest first, then demonstrations, then those without a chat template. */
function byPreference(models: readonly StoredModel[]): StoredModel[] {
  const rank = ({ isBase, demonstration }: StoredModel) => (isBase ? 2 : 0) + (demonstration === undefined ? 0 : 1);
  return models.filter(({ kind }) => kind === 'chat').sort((a, b) => rank(a) - rank(b) || a.sizeBytes - b.sizeBytes);
}

export interface DefaultModelOptions {
  readonly settings: DefaultModelSettings;
  readonly source: ModelSource;
  readonly local: Pick<LocalBackend, 'load' | 'setPinned' | 'state' | 'unavailableReason'>;
  onLoadError(id: string, error: unknown): void;
  readonly log: Log;
}

/** Why a file could not be loaded, and the state that it had. */
interface LoadFailure {
  readonly stamp: string;
  readonly detail: string;
}

export class DefaultModel {
  readonly #options: DefaultModelOptions;
  /** Undefined: none is installed. */
  id: string | undefined;
  readonly #failures = new Map<string, LoadFailure>();
  #work: Promise<void> = Promise.resolve();

  constructor(options: DefaultModelOptions) {
    this.#options = options;
  }

  /** What keeps a model from being the default, or the default from answering. */
  async findFailure(): Promise<string | undefined> {
    for (const [id, { detail }] of this.#failures) {
      const state = await this.#options.local.state(id);
      // It was loaded since, or is gone.
      if (state === 'loaded' || (state === undefined && id !== this.id)) continue;
      return id === this.id ? detail : `${id} could not be loaded, and ${this.id} answers in its place: ${detail}`;
    }
    return undefined;
  }

  async choose(): Promise<void> {
    const { settings, source } = this.#options;
    this.#take(await chooseDefaultModel(settings, source));
  }

  /** Loads what was chosen; where that fails, the next that can be loaded takes its place. Never rejects. */
  load(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.id === undefined || (await this.#tryToLoad(this.id))) return;
      if (this.#options.settings.default_model === '') await this.#replace();
    });
  }

  /** Models have come: one of them takes the place of a demonstration, or of none, as soon as it is loaded. Never rejects. */
  reconsider(): Promise<void> {
    return this.#inTurn(async () => {
      const current = (await this.#options.source.list()).find(({ id }) => id === this.id);
      const isReal = current !== undefined && current.demonstration === undefined && !current.isBase;
      if (!isReal || this.#failures.has(current.id)) await this.#replace();
    });
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const { local, log } = this.#options;
    this.#work = this.#work
      .then(() => (local.unavailableReason() ? undefined : run()))
      .catch((error: unknown) => log.warn('the default model stays as it is', { error: String(error) }));
    return this.#work;
  }

  /** What is the default stays it, and answers, until another one is loaded. */
  async #replace(): Promise<void> {
    const before = this.id;
    const candidates = await this.#candidates();
    // Where there is room for one model, the new one needs the place of the old one.
    if (before !== undefined) this.#options.local.setPinned(before, false);
    for (const id of candidates) {
      if (!(await this.#tryToLoad(id))) continue;
      this.#take(id);
      if (id !== before) this.#options.log.info('another model is the default', { model: id, before });
      return;
    }
    this.#take(before);
  }

  /** Best first, without the files that have failed as they are now, unless a request has loaded them since. */
  async #candidates(): Promise<string[]> {
    const { settings, source, local } = this.#options;
    if (settings.default_model !== '') return [nameOf(settings.default_model)];
    const candidates: string[] = [];
    for (const model of byPreference(await source.list())) {
      const hasFailed = this.#failures.get(model.id)?.stamp === stampOf(model);
      if (!hasFailed || (await local.state(model.id)) === 'loaded') candidates.push(model.id);
    }
    return candidates;
  }

  async #tryToLoad(id: string): Promise<boolean> {
    const { local, source, onLoadError } = this.#options;
    const model = await source.find(id);
    try {
      local.setPinned(id, true);
      await local.load(id, new AbortController().signal, Number.POSITIVE_INFINITY);
      this.#failures.delete(id);
      return true;
    } catch (error) {
      const { code, message } = inferenceFailure(error);
      // The node stops.
      if (code === 'model_unloading') throw error;
      local.setPinned(id, false);
      this.#failures.set(id, { stamp: model === undefined ? '' : stampOf(model), detail: message });
      onLoadError(id, error);
      return false;
    }
  }

  #take(id: string | undefined): void {
    const { local } = this.#options;
    if (this.id !== undefined) local.setPinned(this.id, false);
    if (id !== undefined) local.setPinned(id, true);
    this.id = id;
  }
}

function stampOf({ path, sizeBytes, createdAt }: StoredModel): string {
  return `${path} ${sizeBytes} ${createdAt}`;
}
