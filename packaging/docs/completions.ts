/** Completions of the shells, from the table of commands. */
import { type Command, globalOptions } from '../../ts/cli/command.ts';
import { loadCommands } from '../../ts/cli/commands.ts';
import { writeFile } from '../tree/copy-file.ts';
import { placeIn } from '../tree/layout.ts';

export async function writeCompletions(destination: string): Promise<void> {
  const commands = await loadCommands();
  writeFile(placeIn(destination, 'bashCompletion'), bashCompletion(commands));
  writeFile(placeIn(destination, 'zshCompletion'), zshCompletion(commands));
  writeFile(placeIn(destination, 'fishCompletion'), fishCompletion(commands));
}

const optionsOf = ({ options }: Command) => Object.entries({ ...options, ...globalOptions });
const optionWords = (command: Command) =>
  optionsOf(command)
    .map(([name]) => `--${name}`)
    .join(' ');

/** The words that may follow words that were typed. */
function following(commands: readonly Command[]): [typed: string, next: Set<string>][] {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands)
    for (let i = 0; i < words.length; i += 1) {
      const typed = words.slice(0, i).join(' ');
      next.set(typed, (next.get(typed) ?? new Set()).add(words[i] ?? ''));
    }
  return [...next];
}

/** `invite list` before `invite`, so that the first whose words were typed is the command. */
const longestFirst = (commands: readonly Command[]) => [...commands].sort((a, b) => b.words.length - a.words.length);

/** Branches of a `case` over the words that were typed, as bash and zsh write them. */
function wordBranches(commands: readonly Command[], branch: (candidates: string) => string): string {
  return following(commands)
    .map(([typed, next]) => `    "${typed}") ${branch([...next].join(' '))} ;;`)
    .join('\n');
}

/** The same for options: what follows the command's own words are its arguments. */
function optionBranches(commands: readonly Command[], branch: (candidates: string) => string): string {
  return longestFirst(commands)
    .map((command) => ({ typed: command.words.join(' '), candidates: optionWords(command) }))
    .map(({ typed, candidates }) => `    "${typed}"|"${typed} "*) ${branch(candidates)} ;;`)
    .join('\n');
}

function bashCompletion(commands: readonly Command[]): string {
  const branch = (candidates: string) => `candidates="${candidates}"`;
  return `# bash completion for svc
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} typed=() word candidates=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || typed+=("$word"); done
  if [[ $current == -* ]]; then
    case "\${typed[*]}" in
${optionBranches(commands, branch)}
    esac
  else
    case "\${typed[*]}" in
${wordBranches(commands, branch)}
    *) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -F _svc svc
`;
}

function zshCompletion(commands: readonly Command[]): string {
  const branch = (candidates: string) => `compadd -- ${candidates}`;
  return `#compdef svc
_svc() {
  local -a typed
  typed=(\${\${words[2,CURRENT-1]}:#-*})
  if [[ $PREFIX == -* ]]; then
    case "$typed" in
${optionBranches(commands, branch)}
    esac
  else
    case "$typed" in
${wordBranches(commands, branch)}
    *) _files ;;
    esac
  fi
}
_svc "$@"
`;
}

function fishCompletion(commands: readonly Command[]): string {
  const summaries = new Map(commands.map(({ words, summary }) => [words.join(' '), summary]));
  const candidates = following(commands).flatMap(([typed, next]) =>
    [...next].map((word) => {
      const summary = summaries.get(`${typed} ${word}`.trim());
      const described = summary === undefined ? '' : ` -d ${fishQuoted(summary)}`;
      return `complete -c svc -f -n ${fishQuoted(`__svc_typed ${typed}`.trim())} -a ${word}${described}`;
    }),
  );
  const options = commands.flatMap((command) =>
    optionsOf(command).map(
      ([name, { help }]) =>
        `complete -c svc -n ${fishQuoted(`__svc_runs ${command.words.join(' ')}`)} -l ${name} -d ${fishQuoted(help)}`,
    ),
  );
  return `# fish completion for svc
function __svc_words
  set -l words (commandline -opc)
  set -e words[1]
  string match -v -- '-*' $words
end
# Whether these words were typed, and no more.
function __svc_typed
  set -l words (__svc_words)
  test "$words" = "$argv"
end
# Whether these words were typed, and perhaps arguments.
function __svc_runs
  set -l words (__svc_words)
  string match -q -- "$argv *" "$words "
end
${[...candidates, ...options].join('\n')}
`;
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
