import t from 'tap';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { plainMeter } from '../test-support/unmetered.ts';
import type { OperationMetrics, TokenUsage } from './metrics.ts';
import { type MeteredTokens, UsageRecorder, type WorkMeter } from './usage-recorder.ts';

const usage: TokenUsage = { nPromptTokens: 7, nCachedTokens: 2, nCompletionTokens: 3, nDraftedTokens: 0, nAcceptedTokens: 0 };

function begin(parts: Partial<WorkMeter> = {}) {
  const heard: string[] = [];
  const metrics: OperationMetrics = {
    firstToken: () => heard.push('first token'),
    interToken: () => heard.push('inter token'),
    completed: ({ nCompletionTokens }) => heard.push(`completed ${nCompletionTokens}`),
    failed: (code) => heard.push(`failed ${code}`),
  };
  const recorder = new UsageRecorder(metrics);
  const end = async ({ nPromptTokens, nCompletionTokens }: MeteredTokens): Promise<void> => {
    heard.push(`metered ${nPromptTokens} ${nCompletionTokens}`);
  };
  recorder.meterWith({ ...plainMeter(), end, ...parts });
  recorder.onEnd(() => heard.push('freed'));
  return { recorder, heard };
}

const endings: [how: string, end: (recorder: UsageRecorder) => void, heard: string[]][] = [
  ['completed', (recorder) => recorder.completed(usage), ['completed 3', 'freed', 'metered 7 3']],
  ['failed before it started', (recorder) => recorder.failed('queue_full'), ['failed queue_full', 'freed', 'metered 0 0']],
  [
    'given up by its client',
    (recorder) => {
      recorder.started(7);
      recorder.text(1);
      recorder.text(1);
      recorder.failed('client_closed');
    },
    ['failed client_closed', 'freed', 'metered 7 2'],
  ],
];

for (const [how, end, expected] of endings) {
  t.test(`work that is ${how} is counted, metered and freed once`, async (t) => {
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
  recorder.text(1);
  recorder.text(1);
  recorder.flushed();
  recorder.flushed();
  recorder.text(1);
  recorder.flushed();
  t.strictSame(heard, ['first token', 'inter token']);
});

t.test('what is held for work that is over already is freed at once', async (t) => {
  const { recorder, heard } = begin();
  recorder.failed('client_closed');
  recorder.onEnd(() => heard.push('freed late'));
  t.equal(heard.at(-1), 'freed late');
});

t.test('text is covered as far as the meter says, and its whole answer at the end', async (t) => {
  const asked: number[] = [];
  const { recorder } = begin({ covers: (nCompletion) => asked.push(nCompletion) > 1 });
  recorder.text(1);
  t.notOk(recorder.isCovered());
  recorder.completed({ ...usage, nCompletionTokens: 5 });
  t.ok(recorder.isCovered());
  t.strictSame(asked, [1, 5]);
});

t.test('what the meter refuses is an error of the module, and a failed record is told', async (t) => {
  const failure = new DomainError('storage_unavailable', 'The disk is gone.');
  const { recorder } = begin({
    refusal: new DomainError('quota_exceeded', 'Used up.'),
    end: () => Promise.reject(failure),
  });
  t.match(recorder.refusal, { code: 'quota_exceeded' });
  recorder.completed(usage);
  await t.rejects(recorder.whenRecorded(), failure);
});
