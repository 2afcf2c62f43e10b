/** The tables of README.md that come from code: settings and commands. They stand between markers and are never edited by hand. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadCommands } from '../../ts/cli/commands.ts';
import { environmentName } from '../../ts/server/platform/config/setting.ts';
import { settingsOf } from '../../ts/server/settings.ts';
import type { Outcome } from './check.ts';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function settingsTable(): string {
  const rows = Object.entries(settingsOf()).map(([key, { default: value, help, sections }]) => {
    if (sections !== undefined) return [`\`[${key}."NAME"]\``, '', '', help];
    return [`\`${key}\``, `\`${environmentName(key)}\``, value === '' ? '' : `\`${value}\``, help];
  });
  return table(['Key in svc.toml', 'Environment', 'Default', 'Meaning'], rows);
}

async function commandsTable(): Promise<string> {
  const rows = (await loadCommands()).map(({ words, positionals, summary }) => {
    const names = positionals.map(({ name }) => name);
    return [`\`svc ${[...words, ...names].join(' ')}\``, summary];
  });
  return table(['Command', 'What it does'], rows);
}

/** README.md as it should be. */
export async function renderReadme(text: string): Promise<string> {
  const tables = { settings: settingsTable(), commands: await commandsTable() };
  return Object.entries(tables).reduce((readme, [name, content]) => {
    const pattern = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(\n<!-- /${name} -->)`);
    if (!pattern.test(readme)) throw new Error(`README.md has no markers for ${name}`);
    return readme.replace(pattern, (_, open: string, close: string) => `${open}${content}${close}`);
  }, text);
}

export async function checkReadme(): Promise<Outcome> {
  const text = readFileSync('README.md', 'utf8');
  if ((await renderReadme(text)) === text) return { status: 'passed' };
  return { status: 'failed', output: 'the tables of settings or commands differ from the code' };
}

export async function writeReadme(): Promise<void> {
  writeFileSync('README.md', await renderReadme(readFileSync('README.md', 'utf8')));
}
