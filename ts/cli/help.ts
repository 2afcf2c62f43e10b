import { type Command, globalOptions, type Option, type Options } from './command.ts';
import { exitCodes } from './exit-codes.ts';

/** The page of one command. */
export function commandHelp({ words, summary, positionals, options, examples }: Command): string {
  const own = Object.keys(options).length > 0 ? ['', 'Options:', ...optionLines(options)] : [];
  const samples = examples.length > 0 ? ['', 'Examples:', ...examples.map((example) => `  ${example}`)] : [];
  const usage = ['svc', ...words, ...positionals.map(positionalUsage), '[options]'].join(' ');
  const described = positionals.map(({ name, help }) => `  ${name.padEnd(24)}  ${help}`);
  const common = ['', 'Options of every command:', ...optionLines(globalOptions)];
  return [
    summary,
    '',
    `Usage: ${usage}`,
    ...(described.length > 0 ? ['', ...described] : []),
    ...own,
    ...common,
    ...samples,
  ].join('\n');
}

/** The page of `svc help`. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ words }) => words.join(' ').length));
  const list = commands.map(({ words, summary }) => `  ${words.join(' ').padEnd(width)}  ${summary}`);
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`);
  return [
    'svc: a self-hosted AI platform',
    ...['', 'Usage: svc COMMAND [options]', '', 'Commands:', ...list],
    ...['', 'Options of every command:', ...optionLines(globalOptions)],
    ...['', 'Exit codes:', ...codes],
    ...['', 'svc help COMMAND (or svc COMMAND --help) explains one command.'],
  ].join('\n');
}

/** What `--json` prints of a command. */
export function commandRecord({ words, summary, positionals, options, examples }: Command): Record<string, unknown> {
  return { command: words.join(' '), summary, positionals, options, examples };
}

function positionalUsage({ name, optional, many }: { name: string; optional?: boolean; many?: boolean }): string {
  const shown = many ? `${name}...` : name;
  return optional ? `[${shown}]` : shown;
}

function optionLines(options: Options): string[] {
  return Object.entries(options).map(
    ([name, option]) => `  ${optionUsage(name, option).padEnd(24)}  ${option.help}${aliasNote(option)}`,
  );
}

function optionUsage(name: string, option: Option): string {
  if (option.kind === 'flag') return `--${name}`;
  return option.kind === 'choice' ? `--${name} ${option.choices.join('|')}` : `--${name} ${option.value}`;
}

function aliasNote({ aliases = [] }: Option): string {
  return aliases.length > 0 ? ` (also ${aliases.join(', ')})` : '';
}
