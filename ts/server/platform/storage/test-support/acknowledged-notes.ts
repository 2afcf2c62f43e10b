import { createStorage } from '../create-storage.ts';
import { systemScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from './notes-module.ts';
import type { WriterLine } from './steady-writer.ts';

/** The acknowledged ids that the database does not have: none, if acknowledged means durable. Its tables are checked as well. */
export async function listLostNotes(url: string, lines: readonly WriterLine[]): Promise<string[]> {
  const storage = createStorage({ url, modules: [notesModule] });
  await storage.open();
  try {
    const rows = await storage
      .access<NoteTables>()
      .read(systemScope(), (db) => db.selectFrom('notes').select(['id', 'text']).execute());
    const whole = new Set(rows.filter(({ id, text }) => text === id.repeat(50)).map(({ id }) => id));
    return lines.flatMap(({ acknowledged }) => (acknowledged === undefined || whole.has(acknowledged) ? [] : [acknowledged]));
  } finally {
    await storage.close();
  }
}
