/** Loads of agents: chats with rounds of an instant tool, and calls of MCP. */
export type AgentLoad = ToolRounds | McpCalls | DurableSteps;

/** Chats in which a model that answers at once calls one tool, beside chats in which it calls none, and the model alone. */
interface ToolRounds {
  kind: 'tool-rounds';
  chats: number;
}

/** Calls of one tool over one connection, one after the other. */
interface McpCalls {
  kind: 'mcp-calls';
  calls: number;
}

/** Goals, or workflows, of so many steps, begun together. */
interface DurableSteps {
  kind: 'durable-steps';
  goals: number;
  steps: number;
}

export interface StepsJob {
  /** The folder in whose node_modules DBOS lies; undefined: ours is measured. */
  dbosFolder?: string;
  load: DurableSteps;
}

/** The job of a client's process. */
export interface AgentJob {
  url: string;
  /** Empty: there is none. */
  modelUrl: string;
  load: ToolRounds | McpCalls;
}

/** It reads, and finds nothing: what is measured is the way to it. */
export const TOOL = { name: 'conversations.search', wireName: 'conversations_search', arguments: { query: 'lighthouse' } };
export const MODEL = 'bench-agent';
