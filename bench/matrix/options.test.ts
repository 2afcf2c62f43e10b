import t from 'tap';
import { conditions } from './conditions.ts';
import { readMatrixOptions } from './options.ts';

t.test('machines are chosen by name, and the rest is the bench’s', async (t) => {
  const args = ['serving', '--machine-matrix', '--machine', 'one-core', '--rounds', '2', '--machine', 'haswell'];
  t.strictSame(readMatrixOptions(args, conditions), { names: ['one-core', 'haswell'], benchArgs: ['--rounds', '2'] });
  t.equal(readMatrixOptions(['serving', '--machine-matrix'], conditions).names, undefined, 'all, unless told');
});

t.test('a machine that is none is refused with those that are', async (t) => {
  t.throws(() => readMatrixOptions(['--machine', 'cray'], conditions), /"cray".*one-core/);
  t.throws(() => readMatrixOptions(['--machine'], conditions), /choose from/);
});
