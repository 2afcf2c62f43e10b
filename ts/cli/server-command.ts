/** Commands of a running server as data: the route that is asked, what it is given, and what is shown of the answer. */
import type { Answer, CallOptions, RouteName } from '../client/client.ts';
import { allRows, type ListPage } from '../client/list-pages.ts';
import { type Command, type CommandSpec, command, type Invocation, type Options } from './command.ts';
import type { ExitName } from './exit-codes.ts';
import { type Columns, tableOf } from './format.ts';
import { clientOptions, openClient, type ServerClient } from './server-client.ts';

/** An invocation with the client of the server that it names. */
export interface Served<O extends Options = Options> extends Invocation<O & typeof clientOptions> {
  client: ServerClient;
}

interface ServerCommandSpec<O extends Options> extends Omit<CommandSpec<O>, 'run'> {
  run(invocation: Served<O>): Promise<ExitName>;
}

/** A command that talks to a server in a way of its own. */
export function serverCommand<const O extends Options = Record<never, never>>(spec: ServerCommandSpec<O>): Command {
  const options = { ...clientOptions, ...spec.options } as O & typeof clientOptions;
  return command({ ...spec, options, run: (invocation) => spec.run({ ...invocation, client: openClient(invocation) }) });
}

type Given<O extends Options, R extends RouteName> = (invocation: Served<O>) => CallOptions<R> | Promise<CallOptions<R>>;

interface RouteCommandSpec<O extends Options, R extends RouteName> extends Omit<CommandSpec<O>, 'run'> {
  route: R;
}

/** Parameters, query and body of the request; a route that needs none of them may do without. */
type GivenPart<O extends Options, R extends RouteName> =
  Record<never, never> extends CallOptions<R> ? { given?: Given<O, R> } : { given: Given<O, R> };

interface RequestSpec<O extends Options, R extends RouteName> extends RouteCommandSpec<O, R> {
  /** What people read. */
  text(answer: Answer<R>, invocation: Served<O>): string;
  /** What `--json` prints, where it is not the answer. */
  record?(answer: Answer<R>, invocation: Served<O>): unknown;
  exit?(answer: Answer<R>): ExitName;
}

/** A command that is one request. */
export function requestCommand<const O extends Options = Record<never, never>, R extends RouteName = RouteName>(
  spec: RequestSpec<O, R> & GivenPart<O, R>,
): Command {
  const { route, given, text, record = (answer: Answer<R>): unknown => answer, exit = () => 'ok' as const } = spec;
  const run = async (invocation: Served<O>) => {
    const answer = await ask(invocation, route, await given?.(invocation));
    invocation.terminal.result(record(answer, invocation), text(answer, invocation));
    return exit(answer);
  };
  return serverCommand({ ...spec, run });
}

/** The rows of an answer that is a list: its only member that is one. */
type RowOf<A> = { [K in keyof A]-?: A[K] extends readonly (infer Row)[] ? Row : never }[keyof A];

interface ListSpec<O extends Options, R extends RouteName> extends RouteCommandSpec<O, R> {
  columns: Columns<RowOf<Answer<R>>>;
  /** Every page is read, not the first alone. */
  isWhole?: boolean;
  /** What people read where there are no rows. */
  empty?: string;
}

/** A command that shows a list as a table, and its rows as JSON. */
export function listCommand<const O extends Options = Record<never, never>, R extends RouteName = RouteName>(
  spec: ListSpec<O, R> & GivenPart<O, R>,
): Command {
  const { route, given, columns, isWhole = false, empty } = spec;
  const run = async (invocation: Served<O>) => {
    const options = await given?.(invocation);
    const rows = isWhole ? await readPages(invocation, route, options) : rowsOf<R>(await ask(invocation, route, options));
    invocation.terminal.result(rows, rows.length === 0 && empty !== undefined ? empty : tableOf(columns, rows));
    return 'ok' as const;
  };
  return serverCommand({ ...spec, run });
}

/** The members are those of the route's own options, which the compiler does not follow through a name that it does not know. */
function ask<R extends RouteName>({ client }: Pick<Served, 'client'>, route: R, options: object = {}): Promise<Answer<R>> {
  return client.call(route, options as never);
}

function rowsOf<R extends RouteName>(answer: Answer<R>): RowOf<Answer<R>>[] {
  return Object.values(answer ?? {}).find((member) => Array.isArray(member)) as RowOf<Answer<R>>[];
}

async function readPages<R extends RouteName>(invocation: Pick<Served, 'client'>, route: R, options: object = {}) {
  const { query }: { query?: object } = options;
  const load = async (page: object) => {
    const answer = await ask(invocation, route, { ...options, query: { ...query, ...page } });
    return { ...(answer as Pick<ListPage<unknown>, 'next'>), data: rowsOf<R>(answer) };
  };
  return await allRows(load);
}
