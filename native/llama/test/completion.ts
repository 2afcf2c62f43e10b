import type { FinishReason, GenerationJob, JobUsage, LlamaEngine } from '../../../ts/server/native/llama.ts';

export interface Completion {
  tokens: number[];
  text: string;
  finish: FinishReason;
  usage: JobUsage;
}

/** Runs one greedy job to its end and collects its tokens, which the engine reports beside log probabilities. */
export function complete(engine: LlamaEngine, job: Omit<GenerationJob, 'tenant'> & { tenant?: string }): Promise<Completion> {
  return new Promise((resolve, reject) => {
    const tokens: number[] = [];
    let body = '';
    let finish: FinishReason = 'stop';
    engine.submit(
      { tenant: 'test', sampling: { temperature: 0 }, topLogprobs: 0, ...job },
      {
        onLogprobs: (_choice, list) => tokens.push(...list.map(({ token }) => token)),
        onContent: (_choice, jsonBody) => {
          body += jsonBody.toString();
        },
        onFinish: (_choice, reason) => {
          finish = reason;
        },
        onDone: (usage) => resolve({ tokens, text: JSON.parse(`"${body}"`) as string, finish, usage }),
        onError: reject,
      },
    );
  });
}
