/** Recordings that become text, beside whisper-server, beside chats, and in whose memory. */
import type { SpeechTask } from '../media/speech-load.ts';
import type { Phase, Trial } from '../trial.ts';

const speech = (task: SpeechTask): Phase => ({ kind: 'speech', ...task });

export const mediaTrials: readonly Trial[] = [
  {
    name: 'files',
    summary: 'audio seconds a second of one file, of 4 and of 16 at once, and a clip of 5 s behind a file of ten minutes',
    ours: 'svc-speech',
    rival: 'whisper-server',
    phases: {
      one: speech({ task: 'files', files: 1, seconds: 60 }),
      four: speech({ task: 'files', files: 4, seconds: 30 }),
      sixteen: speech({ task: 'files', files: 16, seconds: 10 }),
      behind: speech({ task: 'behind', shortSeconds: 5, longSeconds: 600 }),
    },
    goals: [
      { figure: 'one.audioSecondsPerSecond', unit: 's/s', against: 'rival', atLeast: 0.98 },
      { figure: 'four.audioSecondsPerSecond', unit: 's/s', against: 'rival', atLeast: 1 },
      { figure: 'sixteen.audioSecondsPerSecond', unit: 's/s', against: 'rival', atLeast: 1 },
      { figure: 'behind.behindMs', unit: 'ms', against: { baseline: 'behind.aloneMs' }, atMost: 3 },
    ],
  },
  {
    name: 'beside',
    summary: 'what 4 files leave of a chat stream, and how soon the cores are free when the client of a file goes away',
    ours: 'svc-speech',
    phases: {
      chat: speech({ task: 'chat', files: 4, tokens: 300 }),
      cancel: speech({ task: 'cancel', times: 5 }),
    },
    goals: [
      { figure: 'chat.besideTokensPerSecond', unit: 'tok/s', against: { baseline: 'chat.idleTokensPerSecond' }, atLeast: 0.6 },
      { figure: 'chat.besideItlP99Ms', unit: 'ms', against: { baseline: 'chat.idleItlP99Ms' }, atMost: 3 },
      { figure: 'cancel.coresFreeMostMs', unit: 'ms', atMost: 100 },
    ],
  },
  {
    name: 'memory',
    summary: 'memory after 200 files beside that after 50, and that of a quarter of an hour beside that of a minute',
    ours: 'svc-speech',
    phases: {
      many: speech({ task: 'many', few: 50, many: 200 }),
      long: speech({ task: 'long', hours: 0.25 }),
    },
    goals: memoryGoals(),
  },
  {
    name: 'memory-long',
    summary: 'the same after 1,000 files, and of four hours',
    ours: 'svc-speech',
    onlyWhenNamed: true,
    phases: {
      many: speech({ task: 'many', few: 50, many: 1_000 }),
      long: speech({ task: 'long', hours: 4 }),
    },
    goals: memoryGoals(),
  },
];

function memoryGoals(): Trial['goals'] {
  return [
    { figure: 'many.growth', unit: 'of that after the few', atMost: 1.05 },
    { figure: 'long.moreMiB', unit: 'MiB', atMost: 64 },
  ];
}
