/** A plugin on disk: a folder with `plugin.json`, the module that it names, and whatever else that reads. */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import Type, { type Static } from 'typebox';
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';
import { TOOL_EFFECTS } from '../../../platform/tools/tool.ts';

export const PLUGIN_ID_PATTERN = '^[a-z][a-z0-9_]{0,31}$';
const MANIFEST_FILE = 'plugin.json';
const MAX_FILES = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_SCHEMA_NODES = 500;

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

const Manifest = Type.Object(
  {
    id: Type.String({ pattern: PLUGIN_ID_PATTERN }),
    name: text(100),
    version: text(50),
    license: text(100),
    entry: Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]*\\.m?js$' }),
    tools: Type.Array(
      Type.Object(
        {
          name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
          description: text(2_000),
          input: Type.Record(Type.String(), Type.Unknown()),
          effect: Type.Enum([...TOOL_EFFECTS]),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 64 },
    ),
    hosts: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9.-]{1,253}(?::[0-9]{1,5})?$' }), { maxItems: 50 })),
    memory_mib: Type.Optional(Type.Integer({ minimum: 16, maximum: 2_048 })),
  },
  { additionalProperties: false },
);
type Manifest = Static<typeof Manifest>;

const manifestCheck = new SchemaCheck(Manifest);

export interface PluginFolder {
  readonly path: string;
  readonly manifest: Manifest;
  /** The hash of the names and contents of all files, in hexadecimal. */
  readonly hash: string;
}

/** The sentence says what is wrong with the folder. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault';
}

/** A text that shows whether a file was written since: sizes and times of all files. Throws PluginFault. */
export function fingerprintOf(folder: string): string {
  return filesOf(folder)
    .map(({ path, stats }) => [path, stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino].join(':'))
    .join('\n');
}

/** Throws PluginFault. */
export function readPluginFolder(folder: string): PluginFolder {
  const hash = createHash('sha256');
  const files = filesOf(folder);
  for (const { path } of files) {
    const content = createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
    hash.update(`${JSON.stringify(path)} ${content}\n`);
  }
  const manifest = readManifest(folder);
  if (!files.some(({ path }) => path === manifest.entry)) throw new PluginFault(`the entry ${manifest.entry} is missing`);
  return { path: folder, manifest, hash: hash.digest('hex') };
}

interface FileOnDisk {
  /** Below the folder, with slashes. */
  readonly path: string;
  readonly stats: Stats;
}

/** The files by their names. A link could lead to what no hash covers, so there is none. */
function filesOf(folder: string): FileOnDisk[] {
  const entries = entriesOf(folder);
  const strange = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (strange !== undefined) throw new PluginFault(`${strange.name} is neither a file nor a folder`);
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return { path: relative(folder, path).split(sep).join('/'), stats: statSync(path) };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const sizeBytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  if (files.length > MAX_FILES || sizeBytes > MAX_BYTES)
    throw new PluginFault(`it has ${files.length} files of ${sizeBytes} bytes; at most ${MAX_FILES} of ${MAX_BYTES} are read`);
  return files;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    throw new PluginFault(`the folder cannot be read: ${(error as Error).message}`);
  }
}

function readManifest(folder: string): Manifest {
  const manifest = parsedManifest(folder);
  const fault = manifestCheck.findFault(manifest, MANIFEST_FILE);
  if (fault !== undefined) throw new PluginFault(`${MANIFEST_FILE}: ${fault.sentence}`);
  const { tools } = manifest as Manifest;
  const twice = tools.find(({ name }, i) => tools.findIndex((tool) => tool.name === name) < i);
  if (twice !== undefined) throw new PluginFault(`${MANIFEST_FILE}: two tools are called ${twice.name}`);
  for (const { name, input } of tools) {
    if (input['type'] !== 'object') throw new PluginFault(`${MANIFEST_FILE}: the input of ${name} must have the type "object"`);
    checkSchema(name, input, { left: MAX_SCHEMA_NODES });
  }
  return manifest as Manifest;
}

function parsedManifest(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'));
  } catch (error) {
    throw new PluginFault(`${MANIFEST_FILE} cannot be read: ${(error as Error).message}`);
  }
}

/** The keywords of JSON Schema that a grammar can hold to. Patterns are left out: one of them may take longer than any call. */
const KEYWORDS = new Set([
  ...['type', 'description', 'title', 'default', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'anyOf'],
]);

function checkSchema(tool: string, schema: unknown, nodes: { left: number }): void {
  nodes.left -= 1;
  if (nodes.left < 0) throw new PluginFault(`${MANIFEST_FILE}: the input of ${tool} is too large`);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new PluginFault(`${MANIFEST_FILE}: the input of ${tool} holds something that is no schema`);
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined)
    throw new PluginFault(
      `${MANIFEST_FILE}: the input of ${tool} has ${JSON.stringify(unknown)}; known are ${[...KEYWORDS].join(', ')}`,
    );
  const { properties = {}, items, anyOf = [] } = schema as { properties?: object; items?: unknown; anyOf?: unknown };
  for (const member of Object.values(properties)) checkSchema(tool, member, nodes);
  for (const branch of Array.isArray(anyOf) ? anyOf : [anyOf]) checkSchema(tool, branch, nodes);
  if (items !== undefined) checkSchema(tool, items, nodes);
}
