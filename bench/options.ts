/** The bench's command line. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A suite's name, or a result file to be shown. */
  subject: string;
  rival: string | undefined;
  /** Folder of another checkout, which takes the rivals' place. */
  before: string | undefined;
  /** Added to llama-server's command line. */
  rivalFlags: readonly string[];
  trials: readonly string[] | undefined;
  model: string | undefined;
  /** Gigabytes, of the suites that make their data. */
  sizeGb: number | undefined;
  nThreads: number;
  nRounds: number;
  isQuick: boolean;
  hasReport: boolean;
  hasSummary: boolean;
  isJson: boolean;
}

/** A command line that cannot be understood; its message is a sentence that says why. */
export class UsageError extends Error {}

/** Undefined when help was asked for. Throws UsageError. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { positionals, values } = parse([...args]);
  if (values.help) return undefined;
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" is one word too many: one suite at a time`);
  return {
    subject: positionals[0] ?? '',
    rival: values.rival,
    before: values.before,
    rivalFlags: values['rival-flags'].split(' ').filter(Boolean),
    trials: values.trial,
    model: values.model,
    sizeGb: values.size === undefined ? undefined : count('--size', values.size),
    nThreads: count('--threads', values.threads),
    nRounds: count('--rounds', values.rounds ?? (values.quick ? '1' : '3')),
    isQuick: values.quick,
    hasReport: values.report,
    hasSummary: values.summary,
    isJson: values.json,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args: withRivalFlags(args),
      allowPositionals: true,
      options: {
        rival: { type: 'string' },
        before: { type: 'string' },
        'rival-flags': { type: 'string', default: '' },
        trial: { type: 'string', multiple: true },
        model: { type: 'string' },
        size: { type: 'string' },
        threads: { type: 'string', default: String(availableParallelism()) },
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        report: { type: 'boolean', default: false },
        summary: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The rival's flags begin with a dash, as options do: they are one argument with the option's name. */
function withRivalFlags(args: readonly string[]): string[] {
  const at = args.indexOf('--rival-flags');
  const flags = args[at + 1];
  return at < 0 || flags === undefined ? [...args] : [...args.slice(0, at), `--rival-flags=${flags}`, ...args.slice(at + 2)];
}

function count(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new UsageError(`${option} is "${text}": give a whole number from 1`);
  return number;
}

/** @param suites names and what each asks, a line each. */
export function helpText(suites: Readonly<Record<string, string>>): string {
  const lines = Object.entries(suites).map(([name, question]) => `  ${name.padEnd(11)} ${question}`);
  return `usage: npm run bench -- SUITE [options], or: svc bench SUITE [options]
       npm run bench -- RESULTS.json --report --summary

Measures ours and a rival in turn, and writes every sample to bench/results/.

${lines.join('\n')}

  --trial NAME    only this trial; may be given several times
  --rival NAME    another rival than the trials name, or none; llama-server includes its router
  --before FOLDER beside another checkout of svc, which is built, instead of a rival: no figure that a goal bounds may be worse
  --rival-flags F flags for llama-server beside ours, in one word: "-ub 256 --prio 2"
  --model NAME    a GGUF file, or a random shape: tiny, mid, q05
  --size GB       data of the suite standby (default 10)
  --threads N     compute threads of both sides (default: as many as there are cores)
  --rounds N      rounds, ours and the rival in turn (default 3)
  --quick         smaller loads, the tiny model, one round: for a first look
  --report        write an HTML page with plots beside the results; with a result file, only that
  --machine-matrix  with serving: a short form of it on each machine that this one can look like (CPU variants, shares of the
                  cores' time, one core, a busy neighbour); --machine NAME for one of them, may be given several times
  --summary       write what is said of each goal, without the samples, to SUITE-MODEL.summary.json (web.summary.json); only of a whole suite beside
                  its own rivals and of a commit; with a result file, only that
  --json          print the results as JSON instead of lines
  --help          this text

Exit code: 0 all goals held, 1 some missed or not measured (without --rival none), 2 the command line is wrong,
3 the run failed, 130 and 143 a signal ended it.`;
}
