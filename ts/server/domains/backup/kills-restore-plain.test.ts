import t from 'tap';
import { killWhileRestoring } from './test-support/kills.ts';

t.setTimeout(600_000);
t.test('kill -9 while a plain backup is restored leaves the old state or the new one, never a mixture', (t) =>
  killWhileRestoring(t, true),
);
