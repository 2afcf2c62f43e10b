/** Commands are data: parsing, help and error messages all come from these. */
import type { StartedThreads } from '../server/platform/storage/index.ts';
import type { ExitName } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface OptionBase {
  help: string;
  /** Other spellings, with their hyphens: `-ngl`, `--n-gpu-layers`. */
  aliases?: readonly string[];
}

export type Option =
  | (OptionBase & { kind: 'flag' })
  /** `value` names the value in the help: FILE, HOST:PORT. */
  | (OptionBase & { kind: 'text'; value: string })
  | (OptionBase & { kind: 'texts'; value: string })
  | (OptionBase & { kind: 'integer'; value: string; min?: number; max?: number })
  | (OptionBase & { kind: 'choice'; choices: readonly string[] });

export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { kind: 'flag' }
  ? boolean
  : O extends { kind: 'integer' }
    ? number
    : O extends { kind: 'texts' }
      ? string[]
      : O extends { kind: 'choice'; choices: readonly (infer Choice)[] }
        ? Choice
        : string;

export type Values<O extends Options> = { [K in keyof O]?: ValueOf<O[K]> };

interface Positional {
  name: string;
  help: string;
  optional?: boolean;
  /** The last one may take all that follows. */
  many?: boolean;
}

export interface Invocation<O extends Options = Options> {
  options: Values<O & typeof globalOptions>;
  positionals: string[];
  terminal: Terminal;
  /** Aborts on the first Ctrl-C. */
  signal: AbortSignal;
  env: NodeJS.ProcessEnv;
  /** Threads for a database that whoever loaded the program started before; see SpareThreads. */
  startedThreads?: StartedThreads | undefined;
}

export interface Command {
  /** Words after `svc`. */
  words: readonly string[];
  summary: string;
  positionals: readonly Positional[];
  options: Options;
  examples: readonly string[];
  /** Everything that follows goes to another program unread. */
  passThrough: boolean;
  run(invocation: Invocation): Promise<ExitName>;
}

/** Known to every command. */
export const globalOptions = {
  json: { kind: 'flag', help: 'print JSON (results on standard output, errors on standard error)' },
  config: { kind: 'text', value: 'FILE', help: 'configuration file instead of the usual one' },
  help: { kind: 'flag', aliases: ['-h'], help: 'explain the command' },
} as const satisfies Options;

export interface CommandSpec<O extends Options> {
  words: readonly string[];
  summary: string;
  positionals?: readonly Positional[];
  options?: O;
  examples?: readonly string[];
  passThrough?: boolean;
  run(invocation: Invocation<O>): Promise<ExitName>;
}

/** Checks the command's own code against its option table; the table is then forgotten by the type. */
export function command<const O extends Options>(spec: CommandSpec<O>): Command {
  const { words, summary, positionals = [], options = {}, examples = [], passThrough = false } = spec;
  const run = (invocation: Invocation) => spec.run(invocation as Invocation<O>);
  return { words, summary, positionals, options, examples, passThrough, run };
}
