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

interface ForcedCall extends Pick<GenerationJob, 'toolSchemas' | 'maxTokens' | 'logitBias'> {
  /** OpenAI's list of tools, of which one must be called. */
  toolsJson: string;
  question: string;
  seed: number;
}

/** The arguments of the one call that a random model makes; undefined where it did not come to an end. */
export function forcedArguments(
  engine: LlamaEngine,
  { toolsJson, question, seed, ...job }: ForcedCall,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let body = '';
    let finish = '';
    engine.submit(
      {
        tenant: 'test',
        prompt: {
          kind: 'chat',
          messagesJson: JSON.stringify([{ role: 'user', content: question }]),
          toolsJson,
          toolChoice: 'required',
          parallelToolCalls: false,
          enableThinking: false,
        },
        sampling: { temperature: 1.5, seed },
        ...job,
      },
      {
        onContent: () => {},
        onToolArguments: (_choice, _index, jsonBody) => {
          body += jsonBody.toString();
        },
        onFinish: (_choice, reason) => {
          finish = reason;
        },
        onDone: () => resolve(finish === 'tool_calls' ? (JSON.parse(`"${body}"`) as string) : undefined),
        onError: reject,
      },
    );
  });
}
