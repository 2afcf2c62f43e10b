import t from 'tap';
import { SetUpError } from './set-up-error.mjs';
import { runSteps, type Step } from './steps.mjs';

function recorder() {
  const lines: string[] = [];
  return { lines, out: { write: (text: string) => lines.push(text) } };
}

function step(title: string, isDone: boolean, run: Step['run'] = async () => {}): Step {
  return { title, isDone: async () => isDone, run };
}

t.test('when everything is done, nothing runs and nothing is printed', async (t) => {
  const { lines, out } = recorder();
  const run = async () => t.fail('a finished step ran');
  await runSteps([step('one', true, run), step('two', true, run)], out);
  t.same(lines, []);
});

t.test('only what is missing runs, in order and numbered', async (t) => {
  const { lines, out } = recorder();
  const ran: string[] = [];
  const note = (name: string) => async () => void ran.push(name);
  await runSteps([step('one', false, note('one')), step('two', true, note('two')), step('three', false, note('three'))], out);
  t.same(ran, ['one', 'three']);
  t.match(lines[0], /^\[1\/2\] one/);
  t.match(lines.at(-1), /^\[2\/2\] three done \(\d+ s\)/);
});

t.test('what the machine lacks is told before any step has run', async (t) => {
  const lacking: Step = {
    ...step('two', false),
    prepare: () => {
      throw new SetUpError('CMake is missing');
    },
  };
  const first = step('one', false, async () => t.fail('a step ran'));
  await t.rejects(runSteps([first, lacking], recorder().out), { name: 'SetUpError' });
});

t.test('after a failure the steps behind it do not run', async (t) => {
  const failing = step('one', false, async () => Promise.reject(new Error('cut off')));
  const next = step('two', false, async () => t.fail('ran after a failure'));
  await t.rejects(runSteps([failing, next], recorder().out), { message: 'cut off' });
});
