/** The manual pages, from the same tables as the help and docs/reference. */
import { gzipSync } from 'node:zlib';
import { type Command, globalOptions, type Option, type Options } from '../../ts/cli/command.ts';
import { loadCommands } from '../../ts/cli/commands.ts';
import { exitCodes } from '../../ts/cli/exit-codes.ts';
import { writeFile } from '../tree/copy-file.ts';
import { placeIn } from '../tree/layout.ts';

interface ManPageFacts {
  version: string;
  sourceDateEpoch: number;
}

/** Writes svc(1), and svc-COMMAND(1) for each command. */
export async function writeManPages(destination: string, facts: ManPageFacts): Promise<void> {
  const commands = await loadCommands();
  const write = (name: string, text: string) =>
    // Level and header are fixed, so that the same text is the same bytes.
    writeFile(placeIn(destination, 'man', `${name}.1.gz`), gzipSync(text, { level: 9 }));
  write('svc', overviewPage(commands, facts));
  for (const command of commands) write(`svc-${command.words.join('-')}`, commandPage(command, facts));
}

function overviewPage(commands: readonly Command[], facts: ManPageFacts): string {
  const list = commands.map(({ words, summary }) => item(`svc ${words.join(' ')}`, summary));
  const codes = Object.values(exitCodes).map(({ code, meaning }) => item(String(code), meaning));
  return [
    header('svc', facts),
    section('NAME', 'svc \\- a self\\-hosted AI platform'),
    section('SYNOPSIS', '\\fBsvc\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]'),
    section('COMMANDS', ...list),
    section('OPTIONS OF EVERY COMMAND', ...optionItems(globalOptions)),
    section('EXIT STATUS', ...codes),
    section(
      'FILES',
      item('/etc/svc/svc.toml', 'the configuration'),
      item('/etc/svc/conf.d/*.toml', 'additions to it'),
      item('/var/lib/svc', 'everything that must survive a restart'),
    ),
  ].join('\n');
}

function commandPage({ words, summary, positionals, options, examples }: Command, facts: ManPageFacts): string {
  const name = `svc-${words.join('-')}`;
  const taken = positionals.map(({ name: positional, optional }) => (optional ? `[${positional}]` : positional));
  return [
    header(name, facts),
    section('NAME', `${escaped(name)} \\- ${escaped(summary)}`),
    section('SYNOPSIS', `\\fBsvc ${escaped([...words, ...taken].join(' '))}\\fR [\\fIoptions\\fR]`),
    ...(positionals.length > 0 ? [section('ARGUMENTS', ...positionals.map((each) => item(each.name, each.help)))] : []),
    section('OPTIONS', ...optionItems({ ...options, ...globalOptions })),
    ...(examples.length > 0 ? [section('EXAMPLES', ...examples.map((example) => `.nf\n${escaped(example)}\n.fi`))] : []),
    section('SEE ALSO', '\\fBsvc\\fR(1)'),
  ].join('\n');
}

function header(name: string, { version, sourceDateEpoch }: ManPageFacts): string {
  const date = new Date(sourceDateEpoch * 1000).toISOString().slice(0, 10);
  return `.TH "${escaped(name.toUpperCase())}" 1 "${date}" "svc ${version}" "svc"`;
}

const section = (title: string, ...lines: readonly string[]) => [`.SH ${title}`, ...lines].join('\n');
const item = (term: string, text: string) => `.TP\n\\fB${escaped(term)}\\fR\n${escaped(text)}`;

function optionItems(options: Options): string[] {
  return Object.entries(options).map(([name, option]) => item(usage(name, option), option.help));
}

function usage(name: string, option: Option): string {
  if (option.kind === 'flag') return `--${name}`;
  return option.kind === 'choice' ? `--${name} ${option.choices.join('|')}` : `--${name} ${option.value}`;
}

/** roff reads a backslash, a hyphen and a dot or apostrophe at the start of a line as its own. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}
