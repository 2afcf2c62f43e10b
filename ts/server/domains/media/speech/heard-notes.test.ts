import { appendFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HeardNotes } from './heard-notes.ts';

const hello = { text: ' Hello.', begin: 0, end: 1.5 };
const world = { text: ' World\u2028\ud800.', begin: 31, end: 32 };

t.test('what was noted is there again, for the same model alone', async (t) => {
  const folder = join(t.testdir(), 'notes');
  const notes = await HeardNotes.open(folder, 'base 1');
  notes.add([hello], 30, 'en');
  await notes.close();
  const again = await HeardNotes.open(folder, 'base 1');
  t.match(again, { said: [hello], doneSeconds: 30, language: 'en', isWhole: false });
  again.add([world], 60, 'en');
  again.end(61);
  await again.close();
  const whole = await HeardNotes.open(folder, 'base 1');
  t.match(whole, { said: [hello, world], doneSeconds: 61, isWhole: true });
  await whole.close();
  const other = await HeardNotes.open(folder, 'base 2');
  t.match(other, { said: [], doneSeconds: 0, isWhole: false });
  await other.close();
});

t.test('a file that is cut anywhere gives the windows that are whole, and goes on behind them', async (t) => {
  const folder = join(t.testdir(), 'notes');
  const notes = await HeardNotes.open(folder, 'base');
  for (let i = 1; i <= 4; i++) notes.add([{ text: ` Window ${i}.`, begin: i * 30 - 30, end: i * 30 }], i * 30, 'en');
  await notes.close();
  const file = join(folder, String(readdirSync(folder)[0]));
  for (let size = statSync(file).size - 1; size >= 0; size -= 7) {
    truncateSync(file, size);
    const cut = await HeardNotes.open(folder, 'base');
    t.equal(cut.doneSeconds, cut.said.length * 30, `${size} bytes`);
    t.equal(cut.isWhole, false);
    await cut.close();
  }
  appendFileSync(file, '{"done":-1}\n\0\0\0\n');
  const bad = await HeardNotes.open(folder, 'base');
  t.match(bad, { said: [], doneSeconds: 0 });
  bad.add([hello], 30, 'en');
  await bad.close();
  const mended = await HeardNotes.open(folder, 'base');
  t.match(mended, { said: [hello], doneSeconds: 30 });
  await mended.close();
});
