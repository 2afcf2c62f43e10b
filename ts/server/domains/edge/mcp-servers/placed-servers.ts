/**
 * MCP servers that the operator placed on this machine: programs, which run confined and speak over their standard input and output. They come from a
 * file of data_dir that `svc mcp add --command` writes, never from a request.
 */
import { closeSync, openSync, readFileSync, readSync, statSync, unwatchFile, watchFile } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import Type, { type Static } from 'typebox';
import { confinedCommand, findMissingConfinement } from '../../../native/confinement.ts';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { Log } from '../../../platform/log/log.ts';
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';
import { hashOf } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';
import { LABEL_PATTERN } from './definitions.ts';

/** A row whose address begins so is a program. */
export const PLACED_PREFIX = 'stdio:';

const paths = (description: string) => Type.Array(Type.String({ pattern: '^/' }), { description });
const PlacedServer = Type.Object(
  {
    tenant: Type.String(),
    label: Type.String({ pattern: LABEL_PATTERN }),
    command: Type.Array(Type.String(), { minItems: 1, description: 'The absolute path of the program first.' }),
    read: paths('Files, and folders with all below them, that it may read.'),
    write: paths('Folders in which it may change files.'),
    network: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type PlacedServer = Static<typeof PlacedServer>;

interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

const MEMORY_MIB = 1024;
const CPU_SECONDS = 24 * 60 * 60;
const FILE_MIB = 256;
const WATCH_MS = 2_000;
const fileCheck = new SchemaCheck(Type.Array(PlacedServer));

export class PlacedServers {
  readonly #path: string;
  readonly #log: Pick<Log, 'warn'>;
  #known: { readonly version: string; readonly servers: readonly PlacedServer[] } = { version: '', servers: [] };

  constructor(path: string, log: Pick<Log, 'warn'>) {
    this.#path = path;
    this.#log = log;
  }

  /** The servers as the file has them now. A file that cannot be read places nothing, and the log says why. */
  list(): readonly PlacedServer[] {
    const info = statSync(this.#path, { throwIfNoEntry: false });
    const version = info === undefined ? '' : `${info.mtimeMs} ${info.size} ${info.ino}`;
    if (version !== this.#known.version) this.#known = { version, servers: this.#read() };
    return this.#known.servers;
  }

  /** Reports each change of the file. */
  watch(onChange: () => void): void {
    watchFile(this.#path, { interval: WATCH_MS, persistent: false }, onChange);
  }

  close(): void {
    unwatchFile(this.#path);
  }

  #read(): readonly PlacedServer[] {
    try {
      return readPlaced(this.#path);
    } catch (error) {
      this.#log.warn('no MCP server that is placed on this machine runs', { path: this.#path, error: String(error) });
      return [];
    }
  }
}

/** Stands in the place of an address: another program is another server. */
export function placedAddress(server: PlacedServer): string {
  return PLACED_PREFIX + hashOf(server);
}

/** Throws `mcp_server_failed` where programs cannot be confined. */
export async function programOf({ command, read, write, network }: PlacedServer): Promise<Program> {
  const gap = await findMissingConfinement();
  if (gap !== undefined) throw edgeError('mcp_server_failed', `Programs of others cannot be confined on this node: ${gap}.`);
  const { file, args } = confinedCommand(command, {
    memoryMiB: MEMORY_MIB,
    cpuSeconds: CPU_SECONDS,
    readable: [...read, ...write],
    withoutDevices: true,
    writable: { folders: write, fileMiB: write.length === 0 ? 0 : FILE_MIB },
    hasNetwork: network,
  });
  const cwd = write[0] ?? '/';
  return { command: file, args, env: { HOME: cwd, LANG: 'C.UTF-8' }, cwd };
}

/** Takes the place of the one of that tenant and label. Undefined: none is there any more. False: none was there. */
export async function placeServer(
  path: string,
  { tenant, label }: Pick<PlacedServer, 'tenant' | 'label'>,
  server?: PlacedServer,
): Promise<boolean> {
  const all = readPlaced(path);
  const others = all.filter((each) => each.tenant !== tenant || each.label !== label);
  await writeFileAtomically(path, `${JSON.stringify(server === undefined ? others : [...others, server], null, 2)}\n`);
  return others.length < all.length;
}

/** The words of a command line, with the absolute path of the program. Throws an Error whose message says what is wrong with it. */
export function programLine(line: string, searched = process.env['PATH'] ?? ''): string[] {
  const [program = '', ...rest] = line.split(/\s+/).filter((word) => word !== '');
  if (program === 'node') return [process.execPath, ...rest];
  const candidates = isAbsolute(program) ? [program] : searched.split(delimiter).map((folder) => join(folder, program));
  const found = candidates.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (found === undefined) throw new Error(`there is no program ${program}`);
  if (isScript(found)) throw new Error(`${found} is a script: write the program that runs it first, for example node ${found}`);
  return [found, ...rest];
}

/** The kernel would start another program for it, which no confined process may. */
function isScript(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(file, start, 0, 2, 0);
    return start.toString('latin1') === '#!';
  } finally {
    closeSync(file);
  }
}

function readPlaced(path: string): PlacedServer[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const fault = fileCheck.findFault(value, path);
  if (fault !== undefined) throw new Error(fault.sentence);
  return value as PlacedServer[];
}
