/**
 * A model with nothing beside a job: what every answer under load is held against.
 *
 * Batches differ in company, and floats with them, so greedy choices between near-equal tokens may flip (see "Where batches
 * differ" in native/llama/kv/README.md). Where an answer parts from the one alone, its token must be within a hair of the best for the model alone,
 * and what follows is held against what the model alone says from there on.
 */
import type { GenerationJob, LlamaEngine, TokenLogprob } from '../../../ts/server/native/llama.ts';

/** Natural-log units; measured gaps at flips stay below 0.02 on random weights. */
export const nearlyEqual = 0.05;
const nAnswerTokens = 24;
/** A logit bias: a random model never repeats itself by its own choice; among a few tokens it has to, so that drafts are accepted. */
export const fewTokens: [number, number][] = [310, 320, 330, 340, 350, 360].map((token) => [token, 200]);

interface Choice {
  tokens: TokenLogprob[];
  /** Body of a JSON string. */
  text: string;
}

export interface Answer {
  choices: Choice[];
  error: string | undefined;
}

/** What may end an answer before it has all its tokens. */
export type Ending = Pick<GenerationJob, 'stop' | 'jsonSchema'>;

interface Running {
  id: number;
  answer: Promise<Answer>;
}

/** Starts a greedy job that does not end by itself: its answer has `nAnswerTokens`, unless told otherwise. */
export function start(engine: LlamaEngine, job: Omit<GenerationJob, 'sampling' | 'topLogprobs'>): Running {
  const choices = Array.from({ length: job.n ?? 1 }, (): Choice => ({ tokens: [], text: '' }));
  const choice = (index: number) => choices[index] as Choice;
  let id = 0;
  const answer = new Promise<Answer>((resolve) => {
    id = engine.submit(
      { maxTokens: nAnswerTokens, ...job, sampling: { temperature: 0, ignoreEos: true }, topLogprobs: 5 },
      {
        onContent: (index, jsonBody) => {
          choice(index).text += jsonBody.toString();
        },
        onFinish() {},
        onLogprobs: (index, more) => choice(index).tokens.push(...more),
        onDone: () => resolve({ choices, error: undefined }),
        onError: (error) => resolve({ choices, error: error.code }),
      },
    );
  });
  return { id, answer };
}

export class ModelAlone {
  readonly #engine: LlamaEngine;
  readonly #logitBias: [number, number][];
  readonly #answers = new Map<string, Promise<Answer>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: LlamaEngine, logitBias: [number, number][]) {
    this.#engine = engine;
    this.#logitBias = logitBias;
  }

  /** Largest gap, in natural-log units, between a token of the answer and the best in its place; infinite for a token that is far off. */
  async largestGap(prompt: Int32Array, { choices }: Answer, ending: Ending = {}): Promise<number> {
    return Math.max(...(await Promise.all(choices.map((choice) => this.#largestGap(prompt, choice, ending)))));
  }

  async #largestGap(prompt: Int32Array, { tokens, text }: Choice, ending: Ending): Promise<number> {
    let worst = 0;
    let from = 0;
    while (from < nAnswerTokens) {
      const said = tokens.slice(from);
      const alone = await this.#answer(
        Int32Array.from([...prompt, ...tokens.slice(0, from).map(({ token }) => token)]),
        nAnswerTokens - from,
        ending,
      );
      const at = alone.tokens.findIndex(({ token }, i) => token !== said[i]?.token);
      if (at === -1 && (said.length > alone.tokens.length || (from === 0 && text !== alone.text)))
        return Number.POSITIVE_INFINITY;
      if (at === -1) break;
      worst = Math.max(worst, gap(said[at], alone.tokens[at]));
      // Stop strings and grammars cannot be taken up in the middle.
      if (ending.stop || ending.jsonSchema) break;
      from += at + 1;
    }
    return worst;
  }

  async #answer(tokens: Int32Array, maxTokens: number, ending: Ending): Promise<Choice> {
    const key = `${tokens.join()} ${JSON.stringify(ending)}`;
    let answer = this.#answers.get(key);
    if (!answer) {
      const job = { tenant: 'alone', prompt: { kind: 'tokens', tokens } as const, maxTokens, cachePrompt: false, ...ending };
      answer = this.#last.then(() => start(this.#engine, { ...job, logitBias: this.#logitBias }).answer);
      this.#answers.set(key, answer);
      this.#last = answer;
    }
    const [choice] = (await answer).choices;
    return choice as Choice;
  }
}

/** A biased token may be far from the likeliest: then its own probability has to do. */
function gap(said: TokenLogprob | undefined, best: TokenLogprob | undefined): number {
  if (!said || !best) return Number.POSITIVE_INFINITY;
  const foretold = best.top.find(({ token }) => token === said.token);
  const isBiased = !best.top.some(({ token }) => token === best.token);
  if (!foretold && !isBiased) return Number.POSITIVE_INFINITY;
  return Math.abs(best.logprob - (foretold ?? said).logprob);
}
