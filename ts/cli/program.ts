/** Finds the command, runs it, and turns every failure into a sentence and an exit code. */
import { Refusal } from '../client/refusal.ts';
import type { StartedThreads } from '../server/platform/storage/index.ts';
import { findCommand, parseCommand, unknownCommand } from './arguments.ts';
import { CliError, refusedError } from './cli-error.ts';
import { commands } from './commands.ts';
import { type ExitName, exitCodes } from './exit-codes.ts';
import { commandHelp, commandRecord } from './help.ts';
import { Terminal } from './terminal.ts';

/** The whole program; sets the exit code of the process. */
export async function main(args: readonly string[], startedThreads?: StartedThreads): Promise<void> {
  // A reader that went away (svc models list | head) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok.code);
    throw error;
  });
  const end = args.indexOf('--');
  const json = args.slice(0, end < 0 ? args.length : end).includes('--json');
  const terminal = new Terminal({ json, out: process.stdout, err: process.stderr });
  try {
    process.exitCode = exitCodes[await run(args, terminal, startedThreads)].code;
  } catch (error) {
    const failure = await explain(error);
    terminal.error(failure);
    process.exitCode = exitCodes[failure.exit].code;
  }
}

async function run(args: readonly string[], terminal: Terminal, startedThreads?: StartedThreads): Promise<ExitName> {
  if (args[0] === '--version' || args[0] === '-V') return run(['version', ...args.slice(1)], terminal);
  const { command: entry, rest, words } = findCommand(args, commands);
  if (!entry && words.length === 0) return run(['help', ...(terminal.json ? ['--json'] : [])], terminal);
  if (!entry && args.includes('--help')) return run(['help', ...words, ...(terminal.json ? ['--json'] : [])], terminal);
  if (!entry) throw unknownCommand(words, commands);
  const command = await entry.load();
  const { options, positionals } = parseCommand(command, rest);
  if (options['help'] === true) {
    terminal.result(commandRecord(command), commandHelp(command));
    return 'ok';
  }
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const { signal } = interruption;
  return command.run({ options, positionals, terminal, signal, env: process.env, startedThreads });
}

/** What explains other failures knows the errors of every module, and is loaded for one of them alone. */
async function explain(error: unknown): Promise<CliError> {
  if (error instanceof CliError) return error;
  if (error instanceof Refusal) return refusedError(error);
  return (await import('./as-cli-error.ts')).asCliError(error);
}
