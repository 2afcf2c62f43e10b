import t from 'tap';
import type { OperationMetrics, TokenUsage } from './metrics.ts';
import { UsageRecorder } from './usage-recorder.ts';

const usage: TokenUsage = { nPromptTokens: 7, nCachedTokens: 2, nCompletionTokens: 3, nDraftedTokens: 0, nAcceptedTokens: 0 };

function begin() {
  const heard: string[] = [];
  const metrics: OperationMetrics = {
    firstToken: () => heard.push('first token'),
    interToken: () => heard.push('inter token'),
    completed: ({ nCompletionTokens }) => heard.push(`completed ${nCompletionTokens}`),
    failed: (code) => heard.push(`failed ${code}`),
  };
  const recorder = new UsageRecorder(metrics);
  recorder.onEnd((nPrompt, nCompletion) => heard.push(`end ${nPrompt} ${nCompletion}`));
  return { recorder, heard };
}

const endings: [how: string, end: (recorder: UsageRecorder) => void, heard: string[]][] = [
  ['completed', (recorder) => recorder.completed(usage), ['completed 3', 'end 7 3']],
  ['failed before it started', (recorder) => recorder.failed('queue_full'), ['failed queue_full', 'end 0 0']],
  [
    'given up by its client',
    (recorder) => {
      recorder.started(7);
      recorder.text();
      recorder.text();
      recorder.failed('client_closed');
    },
    ['failed client_closed', 'end 7 2'],
  ],
];

for (const [how, end, expected] of endings) {
  t.test(`work that is ${how} is counted and freed once`, async (t) => {
    const { recorder, heard } = begin();
    end(recorder);
    recorder.failed('internal');
    recorder.completed(usage);
    t.strictSame(heard, expected);
  });
}

t.test('a step is timed once, and only when it had text', async (t) => {
  const { recorder, heard } = begin();
  recorder.flushed();
  recorder.text();
  recorder.text();
  recorder.flushed();
  recorder.flushed();
  recorder.text();
  recorder.flushed();
  t.strictSame(heard, ['first token', 'inter token']);
});

t.test('what is held for work that is over already is freed at once', async (t) => {
  const { recorder, heard } = begin();
  recorder.failed('client_closed');
  recorder.onEnd(() => heard.push('freed'));
  t.equal(heard.at(-1), 'freed');
});
