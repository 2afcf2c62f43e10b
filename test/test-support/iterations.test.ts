import t, { type Test } from 'tap';
import { iterations } from './iterations.ts';

function withEnvironment(t: Test, values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    t.teardown(() => set(name, before));
    set(name, value);
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

t.test('a short run, and a long one where it is asked for', async (t) => {
  withEnvironment(t, { SVC_TEST_LONG: undefined });
  t.equal(iterations(10, 100), 10);
  withEnvironment(t, { SVC_TEST_LONG: '1' });
  t.equal(iterations(10, 100), 100);
});

t.test('a variable of its own wins, and is checked', async (t) => {
  withEnvironment(t, { SVC_TEST_LONG: '1', SVC_TEST_SOMETHING: '7' });
  t.equal(iterations(10, 100, 'SVC_TEST_SOMETHING'), 7);
  for (const wrong of ['', '0', '-1', '1.5', 'many']) {
    withEnvironment(t, { SVC_TEST_SOMETHING: wrong });
    t.throws(() => iterations(10, 100, 'SVC_TEST_SOMETHING'), /SVC_TEST_SOMETHING is .*: give a whole number/);
  }
});
