/** One row of the model table. States: loading -> loaded -> unloading -> gone; a failed load goes from loading to gone. */
import type { StoredModel } from '../model-source.ts';
import type { LoadedModel } from './loaded-model.ts';

export interface ModelEntry {
  readonly stored: StoredModel;
  state: 'loading' | 'loaded' | 'unloading';
  /** Settles when loading ends. */
  ready: Promise<LoadedModel>;
  /** The model once it is loaded. */
  model: LoadedModel | undefined;
  /** 0 to 1. */
  progress: number;
  loadStartedAt: number;
  /** Requests that use the model or wait for it. */
  nLeases: number;
  /** Unix milliseconds. */
  lastUsedAt: number;
  readonly aborter: AbortController;
  /** Settles when the memory is free again; present while unloading. */
  gone: Promise<void> | undefined;
  /** An operator asked for the unload: new requests are refused instead of waiting for a reload. */
  isRefusing: boolean;
  /** Called once when the last lease ends. */
  onIdle: (() => void)[];
}

/** A request's hold on a loaded model: it is not unloaded before release(). */
export interface ModelLease {
  readonly model: LoadedModel;
  /** Idempotent. */
  release(): void;
}
