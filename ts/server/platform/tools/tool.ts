/**
 * Tools are data, as routes are: a module lists what models and callers may have done through it. How a tool is run is no member of it: the
 * executor of the module `edge` is the only one that may ask `runTool`, which a check enforces.
 */
import { createHash } from 'node:crypto';
import type { Static, TSchema } from 'typebox';
import type { DomainError } from '../errors/domain-error.ts';
import type { Principal } from '../http/principal.ts';
import type { ModuleName } from '../module/module-names.ts';
import type { SchemaFault } from '../schema/schema-check.ts';
import { canonicalJson } from './canonical-json.ts';
import type { KnownAddresses } from './known-addresses.ts';

/** `read` changes nothing, `write` changes what the node has, `external` reaches other servers, `destructive` cannot be undone. */
export const TOOL_EFFECTS = ['read', 'write', 'external', 'destructive'] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** `own`: whoever makes the call has it approved. `second_person`: another person decides. */
export type OwnRule = 'own' | 'second_person';

/** A rule of what a call is about, such as a device: it holds for calls that a person makes as well. */
export interface AskingRule {
  readonly rule: OwnRule;
  /** A hash of what the call is about: an approval holds while it is the same. */
  readonly subject: string;
}

interface ToolDefinition {
  /** `area.action`, as role enforcement and policies name it. */
  readonly name: string;
  /** For the model, and for whoever decides about a call. */
  readonly description: string;
  /** The JSON schema of its arguments. */
  readonly input: TSchema;
  readonly effect: ToolEffect;
  /** The scope that a caller's credential needs for the same thing over HTTP. */
  readonly scope: string;
  /** A call may take so long at most. */
  readonly maxSeconds: number;
  /** Its results hold text that others may have written; a function says whether those of a call with these arguments do. */
  readonly isUntrusted: boolean | ((args: unknown) => boolean);
  /** The address of another server that a call with these arguments reaches: a model goes unasked only to those that its run knows. */
  readonly reaches?: (args: unknown) => string | undefined;
  /** Members of the arguments that name what a call is about, for the audit log. */
  readonly about?: readonly string[];
  /**
   * The rule of what a call is about. Undefined: it has none, or the call is refused anyway. A call by the module's own route is made as soon as it is
   * approved.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own schema says what its arguments are
  readonly asks?: (call: Pick<ToolCall<any>, 'caller' | 'isOwnRoute' | 'arguments'>) => Promise<AskingRule | undefined>;
  /** Takes the place of the check of arguments by the schema, where another server wrote it. */
  readonly findFault?: (args: unknown) => Promise<SchemaFault | undefined>;
  /** The ids of the artifacts that a call made, by its result; absent: it makes none. */
  readonly made?: (result: unknown) => readonly string[];
  /** In metrics, whose names are bounded; by default its own. */
  readonly metricName?: string;
}

/** A call asks the person for whom it is made, and waits for the answer. */
export interface ToolQuestion {
  readonly message: string;
  /** A JSON schema of an object whose members are plain values. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** `decline`: the person does not want to say. `cancel`: nobody answered. */
export type ToolAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

export type AskPerson = (question: ToolQuestion) => Promise<ToolAnswer>;

export interface ToolCall<A = unknown> {
  readonly caller: Principal;
  readonly arguments: A;
  /** The conversation that the call is made for; undefined: none. */
  readonly conversation: string | undefined;
  /** The addresses that the run knows, to which a call adds what it finds; undefined: the caller itself makes the call. */
  readonly addresses: KnownAddresses | undefined;
  /** The module's own route makes it, for a person; else it may be a model's. */
  readonly isOwnRoute: boolean;
  /** The rule of `asks` under which it was approved; undefined: none. */
  readonly approved: OwnRule | undefined;
  /** Asks the person; undefined: nobody is there. */
  readonly ask?: AskPerson | undefined;
}

/** Returns a JSON value. Throws a DomainError for what the caller can correct. */
type Run = (call: ToolCall, signal: AbortSignal) => Promise<unknown>;

/** Only `defineTool` makes one. */
export interface Tool extends ToolDefinition {
  /** The hash of what a caller agrees to: name, description, schema and effect, in hexadecimal. */
  readonly definitionHash: string;
}

/** A tool with the module that has it. */
export interface ListedTool {
  readonly tool: Tool;
  readonly module: ModuleName;
  readonly isRunning: boolean;
  /** Why it cannot be called, where its module runs all the same. */
  readonly reason?: string;
  /** The error that a call is refused with then; absent: that it is unavailable, with the reason. */
  readonly refusal?: DomainError;
  /** The server that brought it; absent: it is built in. */
  readonly source?: string;
  /** Absent: ready or unavailable, as `isRunning` says. */
  readonly state?: 'ready' | 'changed' | 'unavailable' | 'disabled' | 'name_collision';
}

interface ToolSpec<S extends TSchema> extends ToolDefinition {
  readonly input: S;
  run(call: ToolCall<Static<S>>, signal: AbortSignal): Promise<unknown>;
}

/** Other servers name their tools as they like. */
const NAME = /^[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_-]+)+$/;
const runs = new WeakMap<Tool, Run>();

export function defineTool<const S extends TSchema>({ run, ...definition }: ToolSpec<S>): Tool {
  const { name, description, input, effect } = definition;
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a tool: write area.action`);
  const definitionHash = hashOf({ name, description, input, effect });
  const tool: Tool = Object.freeze({ ...definition, definitionHash });
  runs.set(tool, run as Run);
  return tool;
}

/** Only the executor may call it: whoever else did would go past every check. */
export function runTool(tool: Tool, call: ToolCall, signal: AbortSignal): Promise<unknown> {
  const run = runs.get(tool);
  if (run === undefined) throw new TypeError(`${tool.name} was not made by defineTool`);
  return run(call, signal);
}

/** Whether the result of a call with these arguments holds text that others may have written. */
export function returnsUntrusted({ isUntrusted }: Tool, args: unknown): boolean {
  return typeof isUntrusted === 'function' ? isUntrusted(args) : isUntrusted;
}

/** Models and MCP have no dots in names. */
export function wireName(name: string): string {
  return name.replaceAll('.', '_');
}

/** SHA-256 of the value's canonical JSON, in hexadecimal. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
