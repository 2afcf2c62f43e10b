/** Model cards and details -> their wire shapes. */
import { basename } from 'node:path';
import type { EngineLimits, EngineStats } from '../../../native/llama-shapes.ts';
import type { ModelCard, ModelDetail } from '../backend.ts';
import { totalBytes } from '../local/memory-use.ts';
import type { StoredModel } from '../models/model-source.ts';
import { answersFromDocuments } from '../probe/abilities.ts';

/** Every list and every detail of models says this of each. */
export function modelSummary(card: ModelCard) {
  return {
    id: card.id,
    kind: card.kind,
    architecture: card.architecture,
    family: card.family,
    capabilities: Object.entries(card.capabilities).flatMap(([name, has]) => (has ? [name] : [])),
    context_length: card.nCtxRequest ?? card.nCtxTrain,
    trained_context_length: card.nCtxTrain,
    size_bytes: card.sizeBytes,
    n_params: card.nParams,
    quantisation: card.quantisation,
    license: card.license,
    abilities: card.abilities,
    documents: documentsOf(card),
    created: card.createdAt,
    owned_by: card.ownedBy,
    state: card.state,
    note: card.unusable ?? card.demonstration,
    backend: card.backend,
    nodes: card.nodes,
    serving_state: card.servingState,
    serving_state_reason: card.servingReason,
    prices: card.prices,
  };
}

function documentsOf(card: ModelCard): 'answers' | 'quotes' | undefined {
  if (!card.capabilities.chat) return undefined;
  return answersFromDocuments(card) ? 'answers' : 'quotes';
}

export function listedModel(card: ModelCard) {
  return { ...modelSummary(card), pinned: card.isPinned };
}

export function inferenceModel(detail: ModelDetail) {
  return {
    ...modelSummary(detail.card),
    pinned: detail.pinned,
    requests: detail.nJobs,
    load_progress: detail.loadProgress,
    memory_bytes: detail.memoryBytes,
    gpu_memory_bytes: detail.deviceBytes,
    gpu_layers: detail.nGpuLayers,
    predicted_bytes: detail.predictedBytes,
    last_used: detail.lastUsedAt === undefined ? undefined : Math.floor(detail.lastUsedAt / 1000),
    engine: detail.limits && engineFacts(detail.limits),
    stats: detail.stats && engineState(detail.stats),
  };
}

export function storedModelDetail(stored: StoredModel) {
  return {
    id: stored.id,
    kind: stored.kind,
    architecture: stored.architecture,
    file: basename(stored.path),
    size_bytes: stored.sizeBytes,
    sha256: stored.sha256 ?? null,
    quantisation: stored.quantisation ?? null,
    license: stored.license ?? null,
    projector_file: stored.projectorPath === undefined ? null : basename(stored.projectorPath),
    created: stored.createdAt,
  };
}

function engineFacts(limits: EngineLimits) {
  return {
    n_ctx: limits.nCtx,
    n_ctx_per_request: limits.nCtxPerJob,
    n_parallel: limits.nParallel,
    n_threads: limits.nThreads,
    memory_bytes: totalBytes(limits.memory),
  };
}

function engineState(stats: EngineStats) {
  return {
    queued: stats.nQueued,
    queued_tokens: stats.nQueuedTokens,
    active: stats.nActive,
    kv_cells_used: stats.kvCellsUsed,
    kv_cells: stats.kvCells,
    prompt_tokens_total: stats.promptTokensTotal,
    cached_tokens_total: stats.cachedTokensTotal,
    completion_tokens_total: stats.completionTokensTotal,
    drafted_tokens_total: stats.draftedTokensTotal,
    accepted_tokens_total: stats.acceptedTokensTotal,
    steps_total: stats.stepsTotal,
    last_step_ms: stats.lastStepMs,
    jobs_per_second: stats.jobsPerSecond,
  };
}
