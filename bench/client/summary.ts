/** The field's metrics of a set of answers. */
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import type { ChatAnswer } from './chat-request.ts';

/** What an interactive user takes for fluent: first token within a second, and 99 of 100 tokens within 50 ms of the last. */
export const slo = { ttftMs: 1_000, itlP99Ms: 50 };

export function isServed({ status, nCompletionTokens }: ChatAnswer): boolean {
  return status === 200 && nCompletionTokens > 0;
}

export function meetsSlo(answer: ChatAnswer): boolean {
  // An answer of one token has no gap.
  const isFluent = answer.gapsMs.length === 0 || at(answer.gapsMs, 0.99) < slo.itlP99Ms;
  return isServed(answer) && answer.ttftMs < slo.ttftMs && isFluent;
}

/** @param seconds from the first request to the last answer. */
export function summarise(answers: readonly ChatAnswer[], seconds: number): Sample {
  const served = answers.filter(isServed);
  const ttft = served.map((answer) => answer.ttftMs);
  const gaps = served.flatMap((answer) => answer.gapsMs);
  const e2e = served.map((answer) => answer.e2eMs);
  const sum = (pick: (answer: ChatAnswer) => number) => served.reduce((total, answer) => total + pick(answer), 0);
  return {
    nRequests: answers.length,
    nFailed: answers.length - served.length,
    seconds,
    requestsPerSecond: served.length / seconds,
    goodputPerSecond: answers.filter(meetsSlo).length / seconds,
    tokensPerSecond: sum((answer) => answer.nCompletionTokens) / seconds,
    promptTokens: sum((answer) => answer.nPromptTokens),
    promptTokensEvaluated: sum((answer) => answer.nPromptEvaluated),
    ttftP50Ms: at(ttft, 0.5),
    ttftP95Ms: at(ttft, 0.95),
    ttftP99Ms: at(ttft, 0.99),
    itlP50Ms: at(gaps, 0.5),
    itlP99Ms: at(gaps, 0.99),
    worstGapMs: at(gaps, 1),
    e2eP50Ms: at(e2e, 0.5),
    e2eP99Ms: at(e2e, 0.99),
  };
}

/** NaN when there is nothing: such a figure counts as not measured. */
export function at(values: readonly number[], fraction: number): number {
  return values.length > 0 ? quantile(values, fraction) : Number.NaN;
}
