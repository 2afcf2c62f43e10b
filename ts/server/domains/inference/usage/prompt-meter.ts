/** Counts tokens as the model does that will answer, for whoever fills its prompt. Where a backend cannot tell, tokens are estimated. */
import type { CallOptions, ChatPrompt, CompletionRequest } from '../backend.ts';
import type { ResolvedModel } from '../service.ts';
import { estimateJobTokens, estimateTextTokens } from './prompt-estimate.ts';

export interface PromptMeter {
  /** Of one request, prompt and answer together; undefined: nobody knows. */
  contextTokens(): Promise<number | undefined>;
  /** Of messages and tools as the model's template writes them, with an estimate of images and sounds. */
  countPrompt(prompt: ChatPrompt, media?: CompletionRequest['job']['media']): Promise<number>;
  countText(text: string): Promise<number>;
}

const FLAGS = { addSpecial: false, parseSpecial: false };

/** Nothing that it counts is metered: the request itself is. */
export function promptMeter({ backend, card }: ResolvedModel, options: CallOptions): PromptMeter {
  /** What fails here fails again where the model is asked, and is said there. */
  const orEstimate = async (count: Promise<number>, estimate: () => number) =>
    await count.catch(() => {
      options.signal.throwIfAborted();
      return estimate();
    });
  return {
    contextTokens: async () => {
      const known = await backend.contextTokens?.(card, options).catch(() => undefined);
      return known ?? card.nCtxRequest ?? card.nCtxTrain;
    },
    countPrompt: async (prompt, media = []) => {
      const ofMedia = estimateJobTokens({ prompt: { kind: 'tokens', tokens: new Int32Array(0) }, media });
      const count = backend.countTokens(card, prompt, options);
      return ofMedia + (await orEstimate(count, () => estimateJobTokens({ prompt })));
    },
    countText: (text) =>
      orEstimate(
        backend.tokenize(card, text, FLAGS, options).then(({ length }) => length),
        () => estimateTextTokens([text]),
      ),
  };
}
