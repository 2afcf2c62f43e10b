/** What a node remembers of itself between starts: its id, and the roles that an operator switched. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import { writeFileAtomically } from '../files/atomic-file.ts';
import { ROLES } from '../module/module-names.ts';
import { StartError } from '../module/start-error.ts';
import { compileLazily } from '../schema/compile-lazily.ts';

const NodeRecord = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  roles: Type.Optional(Type.Array(Type.Enum([...ROLES]))),
});
const check = compileLazily(NodeRecord);

export type NodeRecord = Static<typeof NodeRecord>;

/** Makes a new id where the file is not there. Throws StartError for a file that holds something else. */
export async function openNodeFile(path: string): Promise<NodeRecord> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) return parse(path, text);
  const made: NodeRecord = { id: randomUUID() };
  await writeNodeFile(path, made);
  return made;
}

export function writeNodeFile(path: string, record: NodeRecord): Promise<void> {
  return writeFileAtomically(path, `${JSON.stringify(record, undefined, 2)}\n`);
}

function parse(path: string, text: string): NodeRecord {
  try {
    const record = JSON.parse(text) as unknown;
    if (check.Check(record)) return record;
  } catch {
    // Told below, like any other content that is none of this.
  }
  const remedy = 'restore it from a backup, or delete it: the node then gets a new id and its configured roles';
  throw new StartError('invalid_node_file', `${path} does not hold a node's id and roles`, remedy);
}
