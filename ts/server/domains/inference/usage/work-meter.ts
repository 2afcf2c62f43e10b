/** What meters one piece of work, as metering makes it. */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import type { TokenUsage } from './metrics.ts';

export type MeteredTokens = Pick<TokenUsage, 'nPromptTokens' | 'nCachedTokens' | 'nCompletionTokens'>;

export interface WorkMeter {
  /** Why the work must be ended. */
  readonly refusal: DomainError | undefined;
  /** Is called when tokens are covered that were not, and when there is a refusal. */
  onChange: () => void;
  started(nPromptTokens: number): void;
  /** Whether a client may have so many tokens of the answer now. */
  covers(nCompletion: number): boolean;
  /** Resolves when what the work used is on disk. */
  end(usage: MeteredTokens): Promise<void>;
}
