/** Reads a command line against the command table. */
import { parseArgs } from 'node:util';
import { closestName } from '../server/platform/text/closest-name.ts';
import { decodedTextFault } from '../server/platform/text/given-text.ts';
import { usageError } from './cli-error.ts';
import { type Command, globalOptions, type Invocation, type Option, type Options } from './command.ts';

type OptionValue = string | number | boolean | string[];

interface ParsedCommand {
  options: Invocation['options'] & Record<string, OptionValue>;
  positionals: string[];
}

/** Finds the command by its words; options that every command knows may stand before them. */
export function findCommand<C extends Pick<Command, 'words'>>(
  args: readonly string[],
  commands: readonly C[],
): { command: C | undefined; rest: string[]; words: string[] } {
  const leading: string[] = [];
  let first = 0;
  while (args[first]?.startsWith('-') && args[first] !== '--') {
    const takesValue = args[first] === '--config';
    leading.push(...args.slice(first, first + (takesValue ? 2 : 1)));
    first += takesValue ? 2 : 1;
  }
  const rest = args.slice(first);
  const matches = commands.filter(({ words }) => words.every((word, index) => rest[index] === word));
  const [command] = matches.sort((a, b) => b.words.length - a.words.length);
  const length = command?.words.length ?? 0;
  return {
    command,
    rest: [...leading, ...rest.slice(length)],
    words: command ? [...command.words] : rest.filter((word) => !word.startsWith('-')),
  };
}

/** Throws CliError usage, with a suggestion where one is near. */
export function parseCommand(command: Command, args: readonly string[]): ParsedCommand {
  requireTexts(args);
  if (command.passThrough) return { options: {}, positionals: [...args] };
  const options: Options = { ...globalOptions, ...command.options };
  const name = command.words.join(' ');
  const { tokens } = parseArgs({
    args: args.length > 0 ? expandAliases(args, options) : [],
    options: Object.fromEntries(
      Object.entries(options).map(([key, { kind }]) => [
        key,
        { type: kind === 'flag' ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values: Record<string, OptionValue> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option || !Object.hasOwn(options, token.name)) throw unknownOption(token.rawName, name, options);
    add(values, token.name, readValue(option, token, name), option);
  }
  if (values['help'] !== true) checkPositionals(command, positionals);
  return { options: values as ParsedCommand['options'], positionals };
}

/** The runtime has put U+FFFD in the place of bytes that are no UTF-8, so what the shell sent is lost. */
function requireTexts(args: readonly string[]): void {
  args.forEach((arg, index) => {
    const fault = decodedTextFault(arg);
    if (fault !== undefined) throw usageError(`argument ${index + 1} ${fault}`, 'see that the terminal and the script use UTF-8');
  });
}

/** llama-server's spellings, so that its command lines work here: `-ngl 99` and `--ctx-size=4096`. */
function expandAliases(args: readonly string[], options: Options): string[] {
  const names = new Map(
    Object.entries(options).flatMap(([name, { aliases = [] }]) => aliases.map((alias) => [alias, name] as const)),
  );
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    const [word = '', ...value] = arg.split('=');
    const name = end >= 0 && index > end ? undefined : names.get(word);
    return name === undefined ? arg : [`--${name}`, ...value].join('=');
  });
}

type OptionToken = { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

function readValue(option: Option, { rawName, value, inlineValue }: OptionToken, command: string): string | number | boolean {
  const help = `see \`svc ${command} --help\``;
  if (option.kind === 'flag') {
    if (value !== undefined) throw usageError(`${rawName} takes no value`, help);
    return true;
  }
  if (value === undefined || value === '' || (!inlineValue && value.startsWith('--')))
    throw usageError(`${rawName} needs a value`, help);
  if (option.kind === 'choice' && !option.choices.includes(value)) {
    const near = closestName(value, option.choices);
    throw usageError(
      `${rawName} is "${value}"${near ? ` (did you mean ${near}?)` : ''}`,
      `give one of: ${option.choices.join(', ')}`,
    );
  }
  return option.kind === 'integer' ? readInteger(option, rawName, value) : value;
}

function readInteger(
  { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number },
  rawName: string,
  value: string,
): number {
  const number = Number(value);
  if (/^-?\d+$/.test(value) && number >= min && number <= max) return number;
  const bounds = [min > Number.MIN_SAFE_INTEGER && `from ${min}`, max < Number.MAX_SAFE_INTEGER && `to ${max}`]
    .filter(Boolean)
    .join(' ');
  throw usageError(`${rawName} is "${value}"`, `give a whole number${bounds && ` ${bounds}`}`);
}

function add(values: Record<string, OptionValue>, name: string, value: string | number | boolean, option: Option): void {
  if (option.kind === 'texts') values[name] = [...((values[name] as string[] | undefined) ?? []), String(value)];
  else values[name] = value;
}

function unknownOption(rawName: string, command: string, options: Options): Error {
  const names = Object.keys(options);
  const near = closestName(rawName.replace(/^-+/, ''), names);
  const question = near ? `; did you mean --${near}?` : '';
  return usageError(`unknown option ${rawName}${question}`, `see \`svc ${command} --help\``);
}

function checkPositionals({ words, positionals }: Command, given: readonly string[]): void {
  const remedy = `see \`svc ${words.join(' ')} --help\``;
  const missing = positionals.filter(({ optional }) => !optional)[given.length];
  if (missing) throw usageError(`${missing.name} is missing (${missing.help})`, remedy);
  const takesMany = positionals.at(-1)?.many === true;
  if (!takesMany && given.length > positionals.length)
    throw usageError(`"${given[positionals.length]}" is one word too many`, remedy);
}

export function unknownCommand(words: readonly string[], commands: readonly Pick<Command, 'words'>[]): Error {
  const [first = '', second] = words;
  const group = commands.filter(({ words }) => words.length > 1 && words[0] === first);
  if (group.length > 0) {
    const names = group.map(({ words }) => words[1] ?? '');
    const near = second === undefined ? undefined : closestName(second, names);
    const message =
      second === undefined
        ? `svc ${first} needs one more word`
        : `unknown command "${first} ${second}"${near ? `; did you mean ${first} ${near}?` : ''}`;
    return usageError(message, `one of: ${names.join(', ')}`);
  }
  const near = closestName(first, [...new Set(commands.map(({ words }) => words[0] ?? ''))]);
  return usageError(`unknown command "${first}"${near ? `; did you mean ${near}?` : ''}`, 'run `svc help` for all commands');
}
