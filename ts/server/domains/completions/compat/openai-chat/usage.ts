/** Token counts and timings as the chat API and llama-server report them. */
import type { JobUsage } from '../../../../native/llama-shapes.ts';

export function chatUsage(usage: JobUsage): Record<string, unknown> {
  const { nPromptTokens, nCompletionTokens, nCachedTokens, nDraftedTokens, nAcceptedTokens, provider } = usage;
  return {
    prompt_tokens: nPromptTokens,
    completion_tokens: nCompletionTokens,
    total_tokens: nPromptTokens + nCompletionTokens,
    prompt_tokens_details: { cached_tokens: nCachedTokens },
    ...(provider === undefined ? {} : { completion_tokens_details: { reasoning_tokens: provider.nReasoningTokens } }),
    ...(nDraftedTokens > 0
      ? {
          completion_tokens_details: {
            accepted_prediction_tokens: nAcceptedTokens,
            rejected_prediction_tokens: nDraftedTokens - nAcceptedTokens,
          },
        }
      : {}),
  };
}

/** llama-server's `timings`, which bench programs read. */
export function chatTimings(usage: JobUsage): Record<string, number> {
  const nEvaluated = usage.nPromptTokens - usage.nCachedTokens;
  return {
    cache_n: usage.nCachedTokens,
    prompt_n: nEvaluated,
    prompt_ms: usage.prefillMs,
    prompt_per_second: rate(nEvaluated, usage.prefillMs),
    predicted_n: usage.nCompletionTokens,
    predicted_ms: usage.decodeMs,
    predicted_per_second: rate(usage.nCompletionTokens, usage.decodeMs),
    queue_ms: usage.queueMs,
    ...(usage.nDraftedTokens > 0 ? { draft_n: usage.nDraftedTokens, draft_n_accepted: usage.nAcceptedTokens } : {}),
  };
}

function rate(nTokens: number, ms: number): number {
  return ms > 0 ? (nTokens * 1000) / ms : 0;
}
