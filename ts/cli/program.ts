/** Finds the command, runs it, and turns every failure into a sentence and an exit code. */
import { findCommand, parseCommand, unknownCommand } from './arguments.ts';
import { asCliError } from './cli-error.ts';
import type { Invocation } from './command.ts';
import { record } from './commands/help.ts';
import { commands } from './commands.ts';
import { type ExitName, exitCodes } from './exit-codes.ts';
import { commandHelp, overview } from './help.ts';
import { Terminal } from './terminal.ts';

/** The whole program; sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  // A reader that went away (svc models list | head) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok.code);
    throw error;
  });
  const end = args.indexOf('--');
  const json = args.slice(0, end < 0 ? args.length : end).includes('--json');
  const terminal = new Terminal({ json, out: process.stdout, err: process.stderr });
  try {
    process.exitCode = exitCodes[await run(args, terminal)].code;
  } catch (error) {
    const failure = asCliError(error);
    terminal.error(failure);
    process.exitCode = exitCodes[failure.exit].code;
  }
}

async function run(args: readonly string[], terminal: Terminal): Promise<ExitName> {
  if (args[0] === '--version' || args[0] === '-V') return run(['version', ...args.slice(1)], terminal);
  const { command, rest, words } = findCommand(args, commands);
  if (!command && words.length === 0) {
    terminal.result({ commands: commands.map(record), exit_codes: exitCodes }, overview(commands));
    return 'ok';
  }
  if (!command && args.includes('--help')) return run(['help', ...words, ...(terminal.json ? ['--json'] : [])], terminal);
  if (!command) throw unknownCommand(words, commands);
  const { options, positionals } = parseCommand(command, rest);
  if (options['help'] === true) {
    terminal.result(record(command), commandHelp(command));
    return 'ok';
  }
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const invocation: Invocation = { options, positionals, terminal, signal: interruption.signal, env: process.env };
  return command.run(invocation);
}
