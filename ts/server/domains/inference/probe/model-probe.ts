/** Measures what a chat model can do, by tasks that it works on while nobody waits for a model. */
import { setTimeout as wait } from 'node:timers/promises';
import type { CompletionSink, InferenceBackend, ModelCard } from '../backend.ts';
import { inferenceError } from '../errors.ts';
import type { Abilities, Ability } from './abilities.ts';
import { makeProbeTasks, type ProbeAnswer, type ProbeTask } from './probe-tasks.ts';

export interface ProbeOptions {
  readonly backend: Pick<InferenceBackend, 'models' | 'complete'>;
  /** Whether requests wait or run, of whatever model. */
  isBusy(): boolean;
}

/** The time for work on the tasks; those that are left then stay untried. */
const MOST_MS = 60_000;
/** The time for waiting until nobody else asks. */
const MOST_WAIT_MS = 10 * 60_000;
const LOOK_MS = 250;
const MOST_TOKENS = 64;
/** The tenant of probes: in the engine's fair shares the node is a tenant as others are. */
const TENANT = 'node';

export class ModelProbe {
  readonly #options: ProbeOptions;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Throws `model_not_found`, `unsupported` for a model that does not chat, and what keeps the model from running. */
  async run(id: string, signal: AbortSignal, onTask: (done: number, total: number) => void): Promise<Abilities> {
    const card = (await this.#options.backend.models(id)).find((each) => each.id === id);
    if (card === undefined) throw inferenceError('model_not_found', `No model ${id} is installed here.`, { param: 'model' });
    if (!card.capabilities.chat) throw inferenceError('unsupported', `${id} is no chat model.`, { param: 'model' });
    const tasks = makeProbeTasks(Math.floor(Math.random() * 2 ** 32));
    const tally = new Tally();
    let leftMs = MOST_MS;
    let waitMs = MOST_WAIT_MS;
    for (const [i, task] of tasks.entries()) {
      onTask(i, tasks.length);
      waitMs -= await this.#untilNobodyWaits(waitMs, signal);
      if (leftMs <= 0 || waitMs <= 0) break;
      const startedAt = performance.now();
      const answer = await this.#ask(card, task, AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))]));
      leftMs -= performance.now() - startedAt;
      // Cut off by the time, it says nothing of the model.
      if (answer === undefined) break;
      tally.count(task, answer);
    }
    signal.throwIfAborted();
    return tally.abilities();
  }

  async #untilNobodyWaits(mostMs: number, signal: AbortSignal): Promise<number> {
    const startedAt = performance.now();
    while (this.#options.isBusy() && performance.now() - startedAt < mostMs) await wait(LOOK_MS, undefined, { signal });
    return performance.now() - startedAt;
  }

  /** Undefined: the signal came first. */
  async #ask(card: ModelCard, task: ProbeTask, signal: AbortSignal): Promise<ProbeAnswer | undefined> {
    if (task.prompt.toolsJson !== undefined && !card.capabilities.tools) return { text: '', call: undefined };
    const { prompt, jsonSchema } = task;
    const job = { prompt, maxTokens: MOST_TOKENS, sampling: { temperature: 0 }, ...(jsonSchema !== undefined && { jsonSchema }) };
    const needs = { needsTools: prompt.toolsJson !== undefined, needsVision: false, needsAudio: false };
    const sink = new ProbeSink();
    try {
      const running = await this.#options.backend.complete(card, { model: card.id, ...needs, job }, sink, {
        tenant: TENANT,
        signal,
      });
      const stop = (): void => {
        running.cancel();
        sink.abandon();
      };
      signal.addEventListener('abort', stop, { once: true });
      try {
        if (signal.aborted) stop();
        return await sink.answer;
      } finally {
        signal.removeEventListener('abort', stop);
        running.release();
      }
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}

class Tally {
  readonly #right = new Map<Ability, number>();
  readonly #tried = new Map<Ability, number>();
  #nTasks = 0;

  count({ checks }: ProbeTask, answer: ProbeAnswer): void {
    this.#nTasks += 1;
    for (const [ability, isRight] of Object.entries(checks) as [Ability, (answer: ProbeAnswer) => boolean][]) {
      this.#tried.set(ability, (this.#tried.get(ability) ?? 0) + 1);
      if (isRight(answer)) this.#right.set(ability, (this.#right.get(ability) ?? 0) + 1);
    }
  }

  abilities(): Abilities {
    const shares = [...this.#tried].map(([ability, n]) => [
      ability,
      Math.round((100 * (this.#right.get(ability) ?? 0)) / n) / 100,
    ]);
    return { ...(Object.fromEntries(shares) as Omit<Abilities, 'tasks'>), tasks: this.#nTasks };
  }
}

/** Gathers one answer. What it hears are the insides of JSON strings. */
class ProbeSink implements CompletionSink {
  readonly isStreamed = false;
  readonly #outcome = Promise.withResolvers<ProbeAnswer | undefined>();
  #text = '';
  #name: string | undefined;
  #arguments = '';

  get answer(): Promise<ProbeAnswer | undefined> {
    return this.#outcome.promise;
  }

  abandon(): void {
    this.#outcome.resolve(undefined);
  }

  begin(): void {}
  onStart(): void {}
  onReasoning(): void {}
  onReasoningDetail(): void {}
  onLogprobs(): void {}
  onFinish(): void {}
  onFlush(): void {}

  onContent(_choice: number, jsonBody: Buffer): void {
    this.#text += jsonBody.toString('latin1');
  }

  onToolCall(_choice: number, index: number, _id: string, name: string): void {
    if (index === 0) this.#name = name;
  }

  onToolArguments(_choice: number, index: number, jsonBody: Buffer): void {
    if (index === 0) this.#arguments += jsonBody.toString('latin1');
  }

  onDone(): void {
    const call = this.#name === undefined ? undefined : { name: this.#name, arguments: unescaped(this.#arguments) };
    this.#outcome.resolve({ text: unescaped(this.#text), call });
  }

  onError(error: Error): void {
    this.#outcome.reject(error);
  }
}

/** Bytes were gathered, since a character may lie in two pieces. */
function unescaped(latin1: string): string {
  return JSON.parse(`"${Buffer.from(latin1, 'latin1').toString('utf8')}"`) as string;
}
