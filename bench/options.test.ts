import t from 'tap';
import { helpText, readOptions } from './options.ts';

t.test('a suite alone: three rounds, no more', async (t) => {
  t.match(readOptions(['serving']), {
    subject: 'serving',
    nRounds: 3,
    isQuick: false,
    hasReport: false,
    hasSummary: false,
    isJson: false,
  });
});

t.test('a quick run has one round unless told', async (t) => {
  t.equal(readOptions(['serving', '--quick'])?.nRounds, 1);
  t.equal(readOptions(['serving', '--quick', '--rounds', '4'])?.nRounds, 4);
});

t.test('options stand before and after the suite', async (t) => {
  const args = ['--json', '--trial', 'a', 'kernels', '--trial=b', '--report', '--threads', '2', '--model', 'q05'];
  t.match(readOptions(args), {
    subject: 'kernels',
    trials: ['a', 'b'],
    isJson: true,
    hasReport: true,
    nThreads: 2,
    model: 'q05',
  });
});

t.test("the rival's flags come in one word", async (t) => {
  t.strictSame(readOptions(['serving', '--rival-flags=-ub 256  --prio 2'])?.rivalFlags, ['-ub', '256', '--prio', '2']);
  const options = readOptions(['--rival-flags', '-ub 256', 'serving', '--quick']);
  t.match(options, { subject: 'serving', rivalFlags: ['-ub', '256'], isQuick: true });
  t.strictSame(readOptions(['serving'])?.rivalFlags, []);
  t.throws(() => readOptions(['serving', '--rival-flags']), /--rival-flags/);
});

t.test('what cannot be understood is named', async (t) => {
  t.throws(() => readOptions(['serving', '--rounds', '0']), /--rounds is "0"/);
  t.throws(() => readOptions(['serving', '--threads', 'two']), /--threads is "two"/);
  t.throws(() => readOptions(['serving', 'http']), /one word too many/);
  t.throws(() => readOptions(['serving', '--tokens']), /--tokens/);
});

t.test('help names every option that is read', async (t) => {
  t.equal(readOptions(['serving', '--help']), undefined);
  const help = helpText({ serving: 'what it asks' });
  for (const option of [
    'trial',
    'rival',
    'rival-flags',
    'model',
    'threads',
    'rounds',
    'quick',
    'report',
    'summary',
    'json',
    'help',
  ])
    t.match(help, new RegExp(`^  --${option} `, 'm'));
  t.match(help, /serving +what it asks/);
});
