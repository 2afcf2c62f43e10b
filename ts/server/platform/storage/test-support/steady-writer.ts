/**
 * Writes notes with ids that count up, several at a time, and prints a JSON line for each event: an acknowledged id, a refusal, a change of
 * readiness. Usage: node steady-writer.ts URL FIRST_ID. Ends when its stdin does, or is killed.
 */
import { createStorage } from '../create-storage.ts';
import { StorageError } from '../storage-error.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from './notes-module.ts';

export interface WriterLine {
  acknowledged?: string;
  refused?: string;
  outcome?: string;
  notReady?: string | null;
}

const WRITERS = 8;
const [, , url = '', firstId = '0'] = process.argv;
const red = tenantScope('red');
let nextId = Number(firstId);
let isStopping = false;

function say(line: WriterLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const storage = createStorage({
  url,
  modules: [notesModule],
  reopenDelayMs: { first: 20, longest: 100 },
  observer: {
    onIoError: () => say({ notReady: storage.notReady() ?? null }),
    onRecovered: () => say({ notReady: storage.notReady() ?? null }),
  },
});
await storage.open();
const notes = storage.access<NoteTables>();

async function writeOne(id: string, interactive: boolean): Promise<void> {
  const note = { tenant: 'red', id, text: id.repeat(50), version: 1 };
  if (interactive) await notes.write(red, async (tx) => await tx.insertInto('notes').values(note).execute());
  else await notes.writeUnit(red, (db) => [db.insertInto('notes').values(note)]);
}

async function writeSteadily(interactive: boolean): Promise<void> {
  while (!isStopping) {
    const id = String(nextId);
    nextId += 1;
    try {
      await writeOne(id, interactive);
      say({ acknowledged: id });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      say({ refused: error.code, outcome: error.outcome });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

process.stdin.on('end', () => {
  isStopping = true;
});
process.stdin.resume();
await Promise.all(Array.from({ length: WRITERS }, (_, i) => writeSteadily(i % 4 === 0)));
await storage.close();
