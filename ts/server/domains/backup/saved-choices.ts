/** What administrators chose while the node ran, and what goes before the settings: kept in data_dir/backup.json. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { compileLazily } from '../../platform/schema/compile-lazily.ts';
import { named } from '../../platform/schema/named.ts';
import { backupError, backupErrors } from './errors.ts';

const CHOICES_FILE = 'backup.json';

/** Hours between backups, 0: none by itself; and how many are kept, 0: all. */
export const Schedule = named(
  'BackupScheduleChange',
  Type.Object({
    hours: Type.Integer({ minimum: 0, maximum: 8760 }),
    keep: Type.Integer({ minimum: 0, maximum: 10_000 }),
  }),
);
export type Schedule = Static<typeof Schedule>;

const Choices = Type.Object({
  folder: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  schedule: Type.Optional(Schedule),
});
type SavedChoices = Static<typeof Choices>;
const check = compileLazily(Choices);

/** Throws `invalid_destination` for a file that was written by hand, and wrongly. */
export async function readChoices(dataDir: string): Promise<SavedChoices> {
  const path = join(dataDir, CHOICES_FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return {};
  const value = parseJson(text);
  if (check.Check(value)) return value;
  throw backupError(
    'invalid_destination',
    `${path} holds no folder and no schedule that can be used.`,
    'Delete it, or set the destination again.',
  );
}

/** A member that is undefined goes back to the settings. What cannot be read is replaced. */
export async function writeChoices(
  dataDir: string,
  changes: { folder?: string | undefined; schedule?: Schedule | undefined },
): Promise<void> {
  const known = await readChoices(dataDir).catch((error: unknown) => {
    if (backupErrors.has(error)) return {};
    throw error;
  });
  await writeFileAtomically(join(dataDir, CHOICES_FILE), `${JSON.stringify({ ...known, ...changes })}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
