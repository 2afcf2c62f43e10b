/** A commented svc.toml: every setting with its meaning and default, ready to be edited. */
import { stringify } from 'smol-toml';
import type { Setting, SettingsSpec } from './setting.ts';

type Row = [string, Setting];

/** TOML that sets nothing until a line's comment sign is taken away. */
export function exampleConfig(spec: SettingsSpec): string {
  const [plain, sectioned] = [false, true].map((has) =>
    Object.entries(spec).filter(([, { sections }]) => (sections !== undefined) === has),
  ) as [Row[], Row[]];
  const tables = Map.groupBy(plain, ([key]) => tableOf(key));
  const parts = [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([table, rows]) => part(table, rows));
  parts.push(...sectioned.map(sectionExample));
  return `# Configuration of svc. A line without its # changes a setting; SVC_ variables win over this file.\n\n${parts.join('\n')}`;
}

function tableOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')));
}

function part(table: string, rows: readonly (readonly [string, Setting])[]): string {
  const lines = rows.map(([key, { help, default: value }]) => {
    const name = key.slice(table === '' ? 0 : table.length + 1);
    return `# ${help}\n# ${stringify({ [name]: value }).trim()}\n`;
  });
  return `${table === '' ? '' : `[${table}]\n`}${lines.join('\n')}`;
}

/** Behind everything else: what follows it would be its own. */
function sectionExample([key, { help, sections = {} }]: Row): string {
  const names = Object.keys(sections);
  const [[name, { default: value }] = ['', { default: '' }]] = Object.entries(sections);
  return `# ${help}\n# Its members: ${names.join(', ')}\n# [${key}."NAME"]\n#   ${stringify({ [name]: value }).trim()}\n`;
}
