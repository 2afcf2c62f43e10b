/** The completions, each asked by its own shell for words and for options of a command. */
import { join } from 'node:path';
import { findProgram } from '../../scripts/setup/tools.mjs';
import { runTool } from '../run-tool.ts';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';

interface Shell {
  name: string;
  file: string;
  /** Of a program that prints a candidate a line, with the file and the words of the line as arguments; the last one is being typed. */
  args: readonly string[];
}

const shells: readonly Shell[] = [
  {
    name: 'bash',
    file: layout.bashCompletion,
    args: ['-c', `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf "%s\\n" "\${COMPREPLY[@]}"`],
  },
  {
    name: 'zsh',
    file: layout.zshCompletion,
    // Outside of its line editor, what the editor would give and take is given and taken here.
    args: [
      '-f',
      '-c',
      `compadd() { shift; print -rl -- \${(M)@:#$PREFIX*} }; words=("$@"); CURRENT=$#; PREFIX=$words[$#]; file=$0; set --; . $file`,
    ],
  },
  {
    name: 'fish',
    file: layout.fishCompletion,
    args: [
      '--no-config',
      '-c',
      'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string replace -r "\\t.*" ""; true',
    ],
  },
];

/** What is typed, and what is then offered, among others or alone. */
const lines: readonly { typed: readonly string[]; offered: readonly string[]; isAll?: boolean }[] = [
  { typed: ['svc', ''], offered: ['serve', 'backup', 'invite', 'version'] },
  { typed: ['svc', 'ba'], offered: ['backend', 'backup'], isAll: true },
  { typed: ['svc', 'backup', ''], offered: ['create', 'list', 'show', 'verify', 'restore', 'destination'], isAll: true },
  { typed: ['svc', 'backup', 'restore', '--f'], offered: ['--from', '--force'], isAll: true },
  { typed: ['svc', 'user', 'create', 'bob', '--ro'], offered: ['--role'], isAll: true },
];

export async function verifyCompletions(checks: Checks, tree: string): Promise<void> {
  for (const { name, file, args } of shells) {
    const what = `${name} completes words and options of svc`;
    if (findProgram(name) === undefined) checks.skip(what, `${name} is not installed`);
    else
      await checks.try(what, async () => {
        await runTool(name, ['-n', join(tree, file)], { debianPackage: name });
        for (const { typed, offered, isAll = false } of lines) {
          const said = (await runTool(name, [...args, join(tree, file), ...typed], { debianPackage: name })).trim().split('\n');
          const isRight = offered.every((word) => said.includes(word)) && (!isAll || said.length === offered.length);
          expect(isRight, `"${typed.join(' ')}" is offered ${said.join(' ')}`);
        }
        return `${lines.length} lines`;
      });
  }
}
