/**
 * The Agents SDK and the package `openai`, unmodified, approve and deny calls of an MCP server of the node by Responses. A scripted provider plays
 * the model. SVC_CLIENTS_MODULES names the folder that the packages lie in; each case is a line of JSON in SVC_CLIENTS_RESULTS.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { post } from '../http.ts';
import { serveFixture } from '../mcp-fixture/serve.ts';
import { openAiDialect } from '../providers/openai.ts';
import { BILLED, ProviderServer } from '../providers/provider-server.ts';

const { SVC_CLIENTS_URL: url = '', SVC_CLIENTS_RESULTS: results = '', SVC_CLIENTS_MODULES: folder = '' } = process.env;
const only = process.env['SVC_CLIENTS_ONLY'] ?? '';
const { resolve } = createRequire(join(folder, 'package.json'));
// biome-ignore lint/suspicious/noExplicitAny: packages that this checkout does not have
const load = async (name: string): Promise<any> => await import(pathToFileURL(resolve(name)).href);

interface Message {
  role: string;
  content?: string | null;
}

const MODEL = 'agent-model';
const TOOL = 'test_simple_text';
const SAID = 'This is a simple text response for testing.';
const fixture = await serveFixture();
const provider = new ProviderServer(openAiDialect);
await provider.start();
provider.models = [MODEL];
provider.say = ({ messages }: { messages: Message[] }) => {
  const result = messages.findLast(({ role }) => role === 'tool')?.content;
  if (result !== undefined) return { texts: [`It says: ${result}`], tokens: BILLED };
  const call = { id: 'call_1', name: `mcp_suite_${TOOL}`, arguments: '{}' };
  return { texts: [], calls: [call], finish: 'tool_calls', tokens: BILLED };
};
const backend = {
  id: 'agents',
  kind: 'openai',
  base_url: `${provider.origin}/v1`,
  key: 'sk-test',
  model_filter: { include: [MODEL] },
};
for (const [path, body] of [
  ['/api/v1/cloud/backends', backend],
  ['/api/v1/tools/mcp-servers', { label: 'suite', url: fixture.url, auth: { type: 'none' } }],
] as const) {
  const { status, text, json } = await post(url + path, body);
  assert.equal(status, 201, text);
  if (path.endsWith('mcp-servers')) await post(`${url}${path}/suite/approve`, { hash: json?.['hash'] });
}
while (!(await (await fetch(`${url}/v1/models`)).text()).includes(MODEL)) await new Promise((done) => setTimeout(done, 50));

async function attempt(client: string, name: string, work: () => Promise<void>): Promise<void> {
  if (!`${client}: ${name}`.includes(only)) return;
  const failure = await work().then(
    () => null,
    (error: Error) => String(error.message).slice(0, 500),
  );
  appendFileSync(results, `${JSON.stringify({ client, case: name, failure, pending: null })}\n`);
}

const { default: OpenAI } = await load('openai');
const { Agent, Runner, hostedMcpTool, setDefaultOpenAIClient, setTracingDisabled } = await load('@openai/agents');
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
setDefaultOpenAIClient(openai);
setTracingDisabled(true);

for (const isApproved of [true, false]) {
  const word = isApproved ? 'approves' : 'denies';
  await attempt('openai, Responses', `${word} a call of an MCP server`, async () => {
    const tools = [{ type: 'mcp', server_label: 'suite', server_url: fixture.url, allowed_tools: [TOOL] }];
    const first = await openai.responses.create({ model: MODEL, input: 'Use it.', tools });
    const asked = first.output.find(({ type }: { type: string }) => type === 'mcp_approval_request');
    assert.equal(asked.name, TOOL);
    const input = [{ type: 'mcp_approval_response', approval_request_id: asked.id, approve: isApproved }];
    const second = await openai.responses.create({ model: MODEL, previous_response_id: first.id, input, tools });
    const call = second.output.find(({ type }: { type: string }) => type === 'mcp_call');
    assert.equal(call?.output, isApproved ? SAID : undefined);
    assert.match(second.output_text, isApproved ? /simple text response/ : /denied the call/);
  });
  for (const isStreamed of [false, true]) {
    await attempt('OpenAI Agents SDK', `${word} a call of an MCP server${isStreamed ? ' in a stream' : ''}`, async () => {
      const tools = [
        hostedMcpTool({
          serverLabel: 'suite',
          serverUrl: fixture.url,
          allowedTools: { toolNames: [TOOL] },
          requireApproval: 'always',
        }),
      ];
      const agent = new Agent({ name: 'Keeper', instructions: 'Use the tools.', model: MODEL, tools });
      const runner = new Runner({ tracingDisabled: true });
      // biome-ignore lint/suspicious/noExplicitAny: the state of a run is the package's own
      const run = async (input: unknown): Promise<any> => {
        const result = await runner.run(agent, input, { stream: isStreamed });
        if (isStreamed) {
          for await (const _ of result);
          await result.completed;
        }
        return result;
      };
      const asking = await run('Use it.');
      assert.equal(asking.interruptions.length, 1);
      const [interruption] = asking.interruptions;
      if (isApproved) asking.state.approve(interruption);
      else asking.state.reject(interruption);
      const ended = await run(asking.state);
      assert.match(String(ended.finalOutput), isApproved ? /simple text response/ : /denied the call/);
    });
  }
}
provider.stop();
await fixture.stop();
process.exit(0);
