import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../files/test-support/new-folder.ts';
import { Connection } from './connection.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

t.test('the log is emptied once nobody reads it any more, and again after the next commit', async (t) => {
  const file = join(newFolder(t), 'a.db');
  const writer = Connection.openWriter(file);
  const reader = Connection.openReader(file);
  t.teardown(() => {
    log.stop();
    reader.close();
    writer.close();
  });
  let attempts = 0;
  const log = new WriteAheadLog(
    writer,
    () => {
      attempts += 1;
      log.tend();
    },
    { firstMs: 5, againMs: 5 },
  );
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const bytes = () => readFileSync(`${file}-wal`);
  writer.control('create table notes (text text)');
  writer.control("insert into notes values ('qzxvqk')");
  log.noteCommit();
  reader.control('begin');
  t.strictSame(reader.run({ sql: 'select text from notes', parameters: [] }).rows, [{ text: 'qzxvqk' }]);
  writer.control('delete from notes');
  await until(() => attempts >= 3);
  t.ok(bytes().includes('qzxvqk'), 'the reader holds it');
  reader.control('rollback');
  await until(() => bytes().length === 0);
  t.notOk(readFileSync(file).includes('qzxvqk'));
  const before = attempts;
  writer.control("insert into notes values ('next')");
  t.not(bytes().length, 0);
  log.noteCommit();
  await until(() => bytes().length === 0);
  t.ok(attempts > before);
});

t.test('each time that an attempt is due, it is made', async (t) => {
  const file = join(newFolder(t), 'a.db');
  const writer = Connection.openWriter(file);
  t.teardown(() => {
    log.stop();
    writer.close();
  });
  let due = Promise.withResolvers<void>();
  const onDue = () => {
    log.tend();
    due.resolve();
  };
  const log = new WriteAheadLog(writer, onDue, { firstMs: 5, againMs: 5 });
  writer.control('create table notes (text text)');
  // Timers between let the event loop look at the clock at any fraction of a millisecond.
  const between = setInterval(() => undefined, 2);
  t.teardown(() => clearInterval(between));
  await due.promise;
  const left: number[] = [];
  for (let i = 0; i < 100; i += 1) {
    due = Promise.withResolvers<void>();
    writer.control("insert into notes values ('text')");
    log.noteCommit();
    await due.promise;
    if (readFileSync(`${file}-wal`).length > 0) left.push(i);
  }
  t.strictSame(left, []);
});
