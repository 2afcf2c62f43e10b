import { findCommand, unknownCommand } from '../arguments.ts';
import { type Command, command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { commandHelp, commandRecord, overview } from '../help.ts';

/** Takes the table as a function: help is itself part of it. */
export const helpCommand = (loadCommands: () => Promise<readonly Command[]>) =>
  command({
    words: ['help'],
    summary: 'Explain svc or one command',
    positionals: [{ name: 'COMMAND', help: 'command to explain', optional: true, many: true }],
    examples: ['svc help models pull'],
    async run({ positionals, terminal }) {
      const commands = await loadCommands();
      if (positionals.length === 0) {
        terminal.result({ commands: commands.map(commandRecord), exit_codes: exitCodes }, overview(commands));
        return 'ok';
      }
      const { command: found } = findCommand(positionals, commands);
      const group = commands.filter(({ words }) => words[0] === positionals[0]);
      if (!found && positionals.length === 1 && group.length > 0) {
        terminal.result(
          { commands: group.map(commandRecord) },
          group.map(({ words, summary }) => `svc ${words.join(' ').padEnd(16)}  ${summary}`).join('\n'),
        );
        return 'ok';
      }
      if (!found) throw unknownCommand(positionals, commands);
      terminal.result(commandRecord(found), commandHelp(found));
      return 'ok';
    },
  });
