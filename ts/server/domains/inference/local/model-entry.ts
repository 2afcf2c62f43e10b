/** One row of the model registry. States: loading -> loaded -> unloading -> gone; a failed load goes from loading to gone. */
import type { MemoryPlan } from '../../../native/llama-shapes.ts';
import type { StoredModel } from '../models/model-source.ts';
import { type MemoryUse, sumOf } from './memory-use.ts';
import type { LoadedModel } from './model-opener.ts';

/** The kind of work that is done with a model: answers, or vectors and scores. Each takes a context of its own. */
export type ContextKind = 'engine' | 'embedder';

/** A request to the registry. */
export interface ModelRequest {
  stored: StoredModel;
  /** The memory that inspection predicts; undefined where it could not tell. */
  plan: MemoryPlan | undefined;
  /** Undefined: the tokenizer is enough. */
  context: ContextKind | undefined;
  /** The tokens that its prompt may come to. */
  nTokens: number;
}

export interface ModelEntry {
  readonly stored: StoredModel;
  readonly plan: MemoryPlan | undefined;
  /** Contexts whose memory is reserved, made or not yet made. */
  readonly contexts: Set<ContextKind>;
  state: 'loading' | 'loaded' | 'unloading';
  /** Settles when loading ends. */
  ready: Promise<LoadedModel>;
  /** The model once it is loaded. */
  model: LoadedModel | undefined;
  /** Settles when the memory of the newest context is free. */
  memoryReady: Promise<unknown>;
  /** 0 to 1. */
  progress: number;
  loadStartedAt: number;
  /** Requests that use the model or wait for it. */
  nReservations: number;
  /** Unix milliseconds. */
  lastUsedAt: number;
  readonly aborter: AbortController;
  /** Settles when the memory is free again; present while unloading. */
  gone: Promise<void> | undefined;
  /** An operator asked for the unload: new requests are refused instead of waiting for a reload. */
  isRefusing: boolean;
  /** Requests for other models that wait for this one to come to rest; new requests for it wait behind them. */
  nDrainers: number;
  /** Called once when the last reservation ends. */
  onIdle: (() => void)[];
}

/** A request's hold on a loaded model: it is not unloaded before release(). */
export interface ModelReservation {
  readonly model: LoadedModel;
  /** Idempotent. */
  release(): void;
}

/** The context that every model of the kind is loaded with. */
export function defaultContext({ kind }: StoredModel): ContextKind | undefined {
  if (kind === 'chat') return 'engine';
  return kind === 'vocab' ? undefined : 'embedder';
}

/** Without a plan, the file's size is the best guess there is. */
export function predictedMemory(
  { stored, plan }: Pick<ModelEntry, 'stored' | 'plan'>,
  contexts: Iterable<ContextKind>,
): MemoryUse {
  if (!plan) return { hostBytes: stored.sizeBytes, deviceBytes: 0 };
  return sumOf(plan.weights, plan.extras, ...Array.from(contexts, (kind) => plan[kind]));
}

/** Weights and contexts as they were allocated; what is only planned yet, as planned. */
export function memoryOf(entry: Pick<ModelEntry, 'stored' | 'plan' | 'contexts' | 'model'>): MemoryUse {
  const { model, plan, contexts } = entry;
  if (!model) return predictedMemory(entry, contexts);
  const open = model.memory();
  return sumOf(open.weights, plan?.extras, ...Array.from(contexts, (kind) => open[kind] ?? plan?.[kind]));
}
