/** Adding files to a knowledge base while it is asked. */
import type { Trial } from '../trial.ts';

function trial(name: string, nFiles: number, more: Partial<Trial> = {}): Trial {
  const figure = (name: string) => `files.${name}`;
  return {
    name,
    summary: `${nFiles} files of 1 to 200 KiB by \`svc kb add\`, interrupted half way, while searches and chats arrive`,
    ours: 'svc-ingest',
    rival: 'ingest-by-hand',
    model: 'tiny',
    // What one round has added would be unchanged in the next.
    fresh: 'round',
    phases: { files: { kind: 'ingest', nFiles, leastKib: 1, mostKib: 200, idleSeconds: 60 } },
    goals: [
      { figure: figure('searchP99Ms'), unit: 'ms', against: { baseline: figure('idleSearchP99Ms') }, atMost: 2 },
      { figure: figure('chatP99Ms'), unit: 'ms', against: { baseline: figure('idleChatP99Ms') }, atMost: 2 },
      { figure: figure('keptShare'), unit: 'of what was added before the interruption', atLeast: 1 },
      { figure: figure('filesPerSecond'), unit: 'files/s', against: 'rival' },
      { figure: figure('mbPerSecond'), unit: 'MB/s', against: 'rival' },
      { figure: figure('filesPerCpuSecond'), unit: 'files a second and core', against: 'rival' },
      { figure: figure('mbPerCpuSecond'), unit: 'MB a second and core', against: 'rival' },
    ],
    ...more,
  };
}

/** Ten thousand take hours where cores are few. */
export const ingestTrials: readonly Trial[] = [
  trial('files', 500),
  trial('ten-thousand-files', 10_000, { onlyWhenNamed: true }),
  {
    name: 'quotes',
    summary: 'chats over 10,000 passages whose replies are quotations, ours alone: no model is waited for',
    ours: 'svc-ingest',
    model: 'tiny',
    onlyWhenNamed: true,
    phases: { replies: { kind: 'quotes', nPassages: 10_000, nReplies: 300 } },
    goals: [
      { figure: 'replies.replyP50Ms', unit: 'ms', atMost: 40 },
      { figure: 'replies.replyP99Ms', unit: 'ms', atMost: 120 },
      { figure: 'replies.citedShare', unit: 'of the replies', atLeast: 0.9 },
      { figure: 'replies.replyCpuMs', unit: 'ms of CPU' },
      { figure: 'replies.searchCpuMs', unit: 'ms of CPU' },
      { figure: 'replies.searchP50Ms', unit: 'ms' },
      { figure: 'replies.searchP99Ms', unit: 'ms' },
    ],
  },
];
