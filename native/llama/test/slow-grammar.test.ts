/**
 * Grammars that are built to be slow: the other streams do not notice, and the request with the grammar is slow by itself or refused.
 */
import { performance } from 'node:perf_hooks';
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';
import { type GenerationJob, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Completion, complete } from './completion.ts';
import { undisturbed } from './undisturbed.ts';

/** What steps may lose to grammars, each; sanitised code is some ten times slower. */
const mostDelayMs = isSanitized() ? 100 : 10;
const nTokens = 60;

/** Each character may be followed in five times as many ways as the one before it. */
const ambiguous = `root ::= ${['[a-z ]', '[b-z ]', '[c-z ]', '[d-z ]'].map((last) => `c root ${last}`).join(' | ')} | c\nc ::= [a-z ]`;
const every = (first: number) => Array.from({ length: 4_900 }, (_, i) => String.fromCodePoint(0x4e00 + first + 2 * i)).join('');
/** Nearly 20,000 kinds of characters, and a table of them for each of many states. */
const manyClasses = `root ::= (odd{0,60} even{0,60} low{0,60}){0,60}\nodd ::= [${every(1)}a-z ]\neven ::= [${every(0)}b-z ]\nlow ::= [c-z ]`;
/** Thousands of places at once. */
const manyPlaces = `root ::= ${'([a-z ]{0,60} [b-z ]{0,60} [c-z ]{0,60}){0,60} '.repeat(12)}`;
const hostile: Readonly<Record<string, string>> = { ambiguous, manyClasses, manyPlaces };
/** Ways to write a greeting. */
const honest = 'root ::= ("Good " ("morning" | "evening") ", " [A-Z] [a-z]{2,8} "! ")+';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
t.teardown(() => model.close());

/** Milliseconds between the tokens of a stream, the longest last. */
async function gapsOf(engine: LlamaEngine, job: Partial<GenerationJob> = {}): Promise<{ tokens: number[]; gaps: number[] }> {
  const times: number[] = [];
  const tokens: number[] = [];
  await new Promise<void>((resolve, reject) => {
    engine.submit(
      {
        tenant: 'other',
        prompt: { kind: 'text', text: 'Once upon a time' },
        maxTokens: nTokens,
        sampling: { temperature: 0, ignoreEos: true },
        topLogprobs: 0,
        ...job,
      },
      {
        onLogprobs: (_choice, list) => {
          times.push(performance.now());
          tokens.push(...list.map(({ token }) => token));
        },
        onContent() {},
        onFinish() {},
        onDone: () => resolve(),
        onError: reject,
      },
    );
  });
  return {
    tokens,
    gaps: times
      .slice(1)
      .map((time, i) => time - (times[i] as number))
      .sort((a, b) => a - b),
  };
}

const worst = (gaps: readonly number[]): number => gaps.at(-1) as number;

/** Runs the hostile request, and others beside it until it is over; at least once. */
async function beside(
  engine: LlamaEngine,
  grammar: string,
  others: () => Promise<number>,
): Promise<{ outcome: Completion | { code: string }; gaps: number[] }> {
  let isOver = false;
  const job = { tenant: 'hostile', prompt: { kind: 'text', text: 'a' } as const, grammar, maxTokens: 12 };
  const outcome = complete(engine, { ...job, timeoutMs: 3_000 }).catch((error: { code: string }) => error);
  outcome.finally(() => {
    isOver = true;
  });
  const gaps: number[] = [];
  do gaps.push(await others());
  while (!isOver);
  return { outcome: await outcome, gaps };
}

for (const [name, grammar] of Object.entries(hostile)) {
  t.test(`${name}: no other stream waits`, { timeout: 90_000 }, async (t: Test) => {
    const engine = await model.createEngine({ nCtx: 3 * 512, nParallel: 3, nThreads: 1, speculation: 'off' });
    t.teardown(() => engine.close());
    const plain = (await gapsOf(engine)).tokens;
    const guided = (await gapsOf(engine, { grammar: honest })).tokens;
    const both = async () => {
      const [a, b] = await Promise.all([gapsOf(engine), gapsOf(engine, { grammar: honest })]);
      if (b?.tokens.join() !== guided.join() || a?.tokens.length !== plain.length) t.fail('another answer');
      return Math.max(worst(a?.gaps ?? []), worst(b?.gaps ?? []));
    };
    let nMeasured = 0;
    const measure = async () => {
      const alone: number[] = [];
      for (let i = 0; i < 3; i++) alone.push(await both());
      // The comment makes it another grammar, which is compiled again.
      const { outcome, gaps } = await beside(engine, `${grammar} # ${++nMeasured}`, both);
      if ('code' in outcome) t.match(outcome.code, /^(grammar_too_complex|deadline_exceeded)$/, `ends as ${outcome.code}`);
      else t.ok(outcome.tokens.length > 0, 'has an answer');
      // Other programs on the machine interrupt steps too: most rounds have to be undisturbed, not each.
      const typical = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] as number;
      return { longestAlone: Math.max(...alone), typical };
    };
    const isUnnoticed = ({ longestAlone, typical }: { longestAlone: number; typical: number }) =>
      typical <= longestAlone + mostDelayMs;
    const times = await undisturbed(measure, isUnnoticed);
    t.ok(isUnnoticed(times), `${times.typical.toFixed(1)} ms beside it, ${times.longestAlone.toFixed(1)} ms alone`);
    t.ok(engine.stats().lateRowsTotal > 0, 'its rows leave the steps');
  });
}
