import t from 'tap';
import { Progress } from './progress.mjs';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  return { written, out: { isTTY, write: (text: string) => written.push(text) } };
}

t.test('a terminal sees one line for each step, which ends with how long it took', async (t) => {
  const { written, out } = recorder(true);
  await new Progress(1, out).step('Compiling', async () => {});
  t.equal(written.join('').split('\n').length, 2);
  t.match(written.join(''), /\[1\/1\] Compiling done \(0 s\)\n$/);
});

t.test('a log sees plain lines', async (t) => {
  const { written, out } = recorder(false);
  await new Progress(3, out).step('Compiling', async () => {});
  t.same(written, ['[1/3] Compiling (0 s)\n', '[1/3] Compiling done (0 s)\n']);
});

t.test('what a step reports is shown while it runs', async (t) => {
  const { written, out } = recorder(true);
  await new Progress(1, out).step('Compiling', async (report) => {
    report('[7/245]');
    while (!written.join('').includes('[7/245]')) await new Promise((done) => setImmediate(done));
  });
  t.match(written.join(''), 'Compiling [7/245] (0 s)');
});
