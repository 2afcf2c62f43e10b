/** Settings of the edge module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

/** In the data folder, one folder for each plugin. */
export const PLUGINS_FOLDER = 'plugins';
/** This file of the data folder has the MCP servers that the operator placed on the machine. */
export const PLACED_FILE = 'mcp-servers.json';

export const edgeSettings = {
  'tools.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that web.fetch and web.search may reach: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'mcp.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that MCP servers of tenants may lie on: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'tools.calls_at_once': setting(
    integerSchema(1, 1_000),
    8,
    'Calls of tools that one person or key may have running at the same time.',
  ),
  'tools.approval_hours': setting(integerSchema(1, 720), 24, 'A call that asks may be approved, and then made, for so long.'),
  'tools.run_rounds': setting(
    integerSchema(1, 100),
    8,
    'A model may call tools in so many rounds of one answer; then it answers without.',
  ),
  'tools.run_calls': setting(integerSchema(1, 1_000), 32, 'Calls of tools in one answer.'),
  'tools.run_tokens': setting(integerSchema(1, 2 ** 40), 1_000_000, 'Tokens of prompts and answers in all rounds of one answer.'),
  'tools.run_seconds': setting(
    integerSchema(1, 86_400),
    900,
    'How long the rounds of one answer may take, with approvals that are waited for.',
  ),
  'tools.code_at_once': setting(
    integerSchema(1, 64),
    2,
    'Programs of code.run that the node runs at the same time; further ones wait.',
  ),
  'tools.python_kept': setting(
    integerSchema(0, 64),
    2,
    'Python interpreters that are kept for conversations; each takes about 250 MiB.',
  ),
  'tools.python_dir': setting(
    textSchema,
    '',
    'The folder of the npm package pyodide, with which code.run runs Python. Empty: where it lies in the program’s own node_modules.',
    { isOfMachine: true },
  ),
  'tools.run_cost_micros': setting(
    integerSchema(0, 2 ** 50),
    0,
    'What providers may bill for the rounds of one answer, in millionths of the currency of the prices; 0: no limit.',
  ),
} as const;
