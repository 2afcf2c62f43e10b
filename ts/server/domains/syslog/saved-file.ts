/** The file syslog.json of data_dir has the targets that were saved while the node ran. */
import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { compileLazily } from '../../platform/schema/compile-lazily.ts';
import { type NodeTarget, PROTOCOLS, type Target } from './target.ts';

export const SYSLOG_FILE = 'syslog.json';

export interface SavedForwarding {
  /** Undefined: nothing is saved, and the settings of the machine hold. */
  node: NodeTarget | undefined;
  tenants: Readonly<Record<string, Target>>;
}

const SavedTarget = Type.Object({
  host: Type.String({ minLength: 1 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  protocol: Type.Enum([...PROTOCOLS]),
});
const check = compileLazily(
  Type.Object({
    node: Type.Optional(
      Type.Object({
        target: Type.Optional(SavedTarget),
        isOn: Type.Boolean(),
        facility: Type.Integer({ minimum: 0, maximum: 23 }),
      }),
    ),
    tenants: Type.Record(Type.String(), SavedTarget),
  }),
);

/** `problem`: why the file is not heeded. A node starts without it, so that what was saved in a page can be corrected there. */
export async function readSavedForwarding(path: string): Promise<SavedForwarding & { problem?: string }> {
  const nothing = { node: undefined, tenants: {} };
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!check.Check(value)) return { ...nothing, problem: `${path} holds no setting of syslog` };
    const node = value.node && { ...value.node, target: value.node.target };
    return { node, tenants: value.tenants };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
    return { ...nothing, problem: `${path} cannot be read: ${(error as Error).message}` };
  }
}

export async function writeSavedForwarding(path: string, saved: SavedForwarding): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(saved, undefined, 2)}\n`, 0o600);
}
