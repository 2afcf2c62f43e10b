/** An answer in which the model says no word: what filters put around its words is all of it. It takes no token and no memory of a model. */
import type { JobUsage } from '../../native/llama-shapes.ts';
import type { BackendCompletion, CompletionSink } from './backend.ts';

const NO_USE: JobUsage = {
  nPromptTokens: 0,
  nCachedTokens: 0,
  nCompletionTokens: 0,
  queueMs: 0,
  prefillMs: 0,
  decodeMs: 0,
  nDraftedTokens: 0,
  nAcceptedTokens: 0,
};

export function answerSilently(sink: CompletionSink, nChoices: number): BackendCompletion {
  let isCancelled = false;
  // The sink is bound to the job that this returns before it receives anything.
  const turn = setImmediate(() => {
    sink.onStart(0, 0);
    // A quota that is used up ends the answer where it starts.
    if (isCancelled) return;
    for (let choice = 0; choice < nChoices; choice++) sink.onFinish(choice, 'stop', '');
    sink.onDone(NO_USE);
    sink.onFlush();
  });
  const cancel = () => {
    isCancelled = true;
    clearImmediate(turn);
  };
  return { cancel, pause: () => {}, resume: () => {}, release: () => {} };
}
