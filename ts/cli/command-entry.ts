/** A command before its code is loaded: `svc version` reads one small file, and not every command's. */
import type { Command } from './command.ts';

export interface CommandEntry {
  /** Words after `svc`. */
  words: readonly string[];
  load(): Promise<Command>;
}

/** The commands of one file, which exports a `Command` for each of these names ("models pull"). */
export function commandsOf(file: () => Promise<object>, ...names: readonly string[]): CommandEntry[] {
  return names.map((name) => ({
    words: name.split(' '),
    load: async () => {
      const found = Object.values(await file()).find((value) => isCommand(value) && value.words.join(' ') === name);
      if (found === undefined) throw new Error(`no file exports the command ${name}`);
      return found as Command;
    },
  }));
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Command>).words);
}
