import t from 'tap';
import { killWhileCreating } from './test-support/kills.ts';

t.setTimeout(600_000);
t.test('kill -9 while a plain backup is made leaves whole backups alone, and a folder that goes on', (t) =>
  killWhileCreating(t, true),
);
