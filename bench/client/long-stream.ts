/** One long stream, and the CPU time of the server's threads beside the one that computes: parsing, framing and writing. */
import type { LongStreamLoad } from '../load/load.ts';
import { readThreads } from '../process-usage.ts';
import { shapedBody } from './chat-body.ts';
import { sendChat } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { summarise } from './summary.ts';

export const runLongStream: Scenario<LongStreamLoad> = async ({ target, pid, seed }, { promptWords, tokens }) => {
  // From the first token on: what the prompt costs is no matter of streaming.
  let before: Map<string, number> | undefined;
  const onFrames = () => {
    before ??= readThreads(pid);
  };
  const startedAt = performance.now();
  const answer = await sendChat(target, shapedBody({ ownWords: promptWords, maxTokens: tokens }, seed, tokens), { onFrames });
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = [...readThreads(pid)].map(([thread, cpuSeconds]) => cpuSeconds - (before?.get(thread) ?? 0));
  const computing = Math.max(...used);
  const besideComputing = used.reduce((sum, cpuSeconds) => sum + cpuSeconds, 0) - computing;
  return {
    ...summarise([answer], seconds),
    streamCpuSeconds: besideComputing,
    streamCpuMicrosPerToken: (besideComputing * 1e6) / answer.nCompletionTokens,
    computeCpuSeconds: computing,
  };
};
