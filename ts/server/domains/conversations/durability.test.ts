import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createStorage } from '../../platform/storage/index.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { ConversationService } from './service.ts';
import { conversationMigrations } from './store/migrations.ts';
import { ann } from './test-support/conversation-owners.ts';

async function openService(folder: string) {
  const modules = [{ module: 'conversations', migrations: conversationMigrations }];
  const storage = createStorage({ url: `sqlite:${join(folder, 'svc.db')}`, modules });
  await storage.open();
  return { storage, service: new ConversationService({ storage, temporaryMs: 1_000_000 }) };
}

t.test('after kill -9 every acknowledged message is there, and is found', async (t) => {
  const folder = newFolder(t);
  const script = join(import.meta.dirname, 'test-support', 'steady-talker.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, `sqlite:${join(folder, 'svc.db')}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reader = new LineReader<{ conversationId: string; id: string }>(child);
  await reader.find(() => reader.lines.length >= 200);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await reader.ended;
  const { storage, service } = await openService(folder);
  t.teardown(() => storage.close());
  const stored = new Set<string>();
  for (const { id } of await service.list(ann, {}, 10)) {
    const { messages } = await service.messages(ann, id, { limit: 1_000 });
    t.strictSame(
      messages.map(({ seq }) => seq),
      messages.map((_, i) => i + 1),
    );
    for (const message of messages) stored.add(`${id} ${message.id}`);
  }
  t.strictSame(
    reader.lines.filter(({ conversationId, id }) => !stored.has(`${conversationId} ${id}`)),
    [],
  );
  const last = reader.lines.at(-1);
  t.match(await service.search(ann, last?.id ?? ''), [{ messageId: last?.id }]);
});

t.test('no file of SQLite holds what was erased once the server has stopped', async (t) => {
  const folder = newFolder(t);
  const { storage, service } = await openService(folder);
  const secret = 'xylophonequartz';
  await service.create(ann, { id: 'c', title: `Title ${secret}`, metadata: { note: secret } });
  for (let i = 0; i < 100; i++) await service.append(ann, 'c', { role: 'user', content: `${secret} ${'filler '.repeat(i)}` });
  await service.append(ann, 'c', { role: 'user', content: `${secret} `.repeat(5_000) });
  await service.create(ann, { id: 'kept', title: 'Another' });
  await service.update(ann, 'c', { title: 'Renamed' });
  t.equal(await service.erase(ann, 'c'), 1);
  await storage.close();
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name));
    t.notOk(bytes.includes(secret), name);
    t.ok(bytes.includes('Another'), 'what was kept is there');
  }
});
