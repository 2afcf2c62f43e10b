/** The node's own tools that an answer may call, by the names that models call them. */
import { termsOf, wordsOf } from '../../../platform/text/words.ts';
import type { KnownAddresses } from '../../../platform/tools/known-addresses.ts';
import { type Tool, wireName } from '../../../platform/tools/tool.ts';
import type { ToolRuns, UsableMcpServer } from '../../edge/index.ts';
import { invalid } from '../errors.ts';

/** Definitions beyond these fill the prompt of a small model. */
const MOST_OFFERED = 16;

/** A request lets some of the node's own tools run. */
export interface EdgeToolsCall {
  /** Their names; absent: the caller's, nearest to the question. */
  readonly names?: readonly string[] | undefined;
  /** The tools that a foreign API has words for; where the header X-Svc-Edge-Tools is not sent, these alone. */
  readonly hosted?: HostedTools | undefined;
}

/** Tools of the node that a client asks for in the words of OpenAI or Anthropic. */
export interface HostedTools {
  /** No other tools of the node are offered. */
  readonly isOnly: boolean;
  /** Throws `invalid_request` for what the caller has no tool of. */
  choose(tools: readonly Tool[], servers: readonly UsableMcpServer[]): HostedChoice;
  /** The model must call one of the tools first. */
  readonly isForced: boolean;
  /** The client wants to decide about each call of the tool. */
  asks?(tool: Tool): boolean;
  /** A call of the tool that asks ends the answer, which another request goes on with. */
  suspends?(tool: Tool): boolean;
  readonly mostCalls?: number | undefined;
  /** The calls that the client decided about with the request. */
  readonly decisions?: readonly CallDecision[];
  /** Text of others is in messages that are not shown to the model. */
  readonly isTainted?: boolean;
}

export interface HostedChoice {
  readonly offered: readonly Tool[];
  /** All tools of each MCP server that was named, as its client is told of them. */
  readonly listings: readonly McpListing[];
}

export interface McpListing {
  readonly label: string;
  readonly tools: readonly Tool[];
  /** Why it has none now. */
  readonly error: string | undefined;
}

/** A call that an earlier answer asked about. */
export interface CallDecision {
  /** The id of the request for approval. */
  readonly id: string;
  readonly approval: string;
  readonly run: string;
  readonly isApproved: boolean;
  readonly reason: string | undefined;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
}

/** An approved call that is made before the model goes on. */
export interface ApprovedCall extends Omit<CallDecision, 'tool'> {
  readonly tool: Tool;
}

/** An answer may run tools: what it needs for that. */
export interface AnswerTools {
  readonly runs: ToolRuns;
  /** By the names of the functions that the model sees, which have no dots. */
  readonly offered: ReadonlyMap<string, Tool>;
  /** Text of others came before the answer. */
  readonly isTainted: boolean;
  /** The addresses in the person's own words. */
  readonly addresses: KnownAddresses;
  readonly hosted?: HostedTools | undefined;
  readonly listings: readonly McpListing[];
  readonly approved: readonly ApprovedCall[];
}

interface Choice {
  /** The tools of the caller. */
  readonly tools: readonly Tool[];
  /** The ones that the request names; undefined: the nearest to the question. */
  readonly names: readonly string[] | undefined;
  readonly question: string;
  /** The names of the client's own functions. */
  readonly taken: ReadonlySet<string>;
  readonly hosted: HostedTools | undefined;
  readonly ofHosted: readonly Tool[];
}

/** Throws `invalid_request` for a name that the caller has no tool of, and for a function of the client's that has the name of one. */
export function chooseTools({ tools, names, question, taken, hosted, ofHosted }: Choice): Map<string, Tool> {
  const own = names === undefined ? nearest(tools, question) : names.map((name) => named(tools, name));
  const chosen = [...ofHosted, ...(hosted?.isOnly === true ? [] : own)];
  const offered = new Map(chosen.map((tool) => [wireName(tool.name), tool] as const));
  const twice = [...offered.keys()].find((name) => taken.has(name));
  if (twice === undefined) return offered;
  throw invalid(
    'tools',
    `tools names the function ${twice}, which is a tool of this node; give yours another name, or narrow edge_tools.`,
  );
}

function named(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const sentence = `edge_tools names ${name.slice(0, 100)}, which is no tool that you may use: GET /api/v1/agent/tools lists them.`;
  throw invalid('edge_tools', sentence);
}

/** Those that share most words of their name and description with the question; the order of their names decides between equals. */
function nearest(tools: readonly Tool[], question: string): readonly Tool[] {
  if (tools.length <= MOST_OFFERED) return tools;
  const asked = new Set(terms(question));
  const shared = ({ name, description }: Tool): number =>
    terms(`${name.replaceAll('.', ' ')} ${description}`).filter((term) => asked.has(term)).length;
  const ranked = tools.map((tool) => ({ tool, n: shared(tool) })).toSorted((a, b) => b.n - a.n);
  return ranked.slice(0, MOST_OFFERED).map(({ tool }) => tool);
}

function terms(text: string): string[] {
  return [...new Set([...wordsOf(text)].flatMap((word) => [...termsOf(word)]))];
}
