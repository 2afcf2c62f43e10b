/** The client of the loads of agents, in a process of its own: prints one sample as JSON. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { at } from '../client/summary.ts';
import type { Sample } from '../trial.ts';
import { type AgentJob, MODEL, TOOL } from './agent-load.ts';

const { url, modelUrl, load } = JSON.parse(process.argv[2] ?? '') as AgentJob;
const sample = load.kind === 'mcp-calls' ? await mcpCalls(load.calls) : await toolRounds(load.chats);
process.stdout.write(JSON.stringify(sample));
process.exit(0);

/** A round adds what a chat with one takes longer than one without, less what the model itself takes for its second turn. */
async function toolRounds(n: number): Promise<Sample> {
  const ask = (base: string, withTool: boolean) => async (): Promise<void> => {
    const content = withTool ? 'Use the tool.' : 'Hello.';
    const body = { model: MODEL, messages: [{ role: 'user', content }], ...(withTool && { edge_tools: [TOOL.name] }) };
    const headers = { 'content-type': 'application/json', ...(withTool && { 'x-svc-edge-tools': '1' }) };
    const answer = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.status !== 200 || (withTool && !text.includes('"state":"done"'))) throw new Error(text.slice(0, 500));
  };
  const kinds = { round: ask(url, true), plain: ask(url, false), model: ask(modelUrl, false) };
  const found: Record<keyof typeof kinds, number[]> = { round: [], plain: [], model: [] };
  // In turn, so that what disturbs the machine disturbs all alike.
  for (let i = 0; i < n; i++) {
    for (const [kind, work] of Object.entries(kinds)) {
      const tookMs = await timed(work);
      if (i >= n / 4) found[kind as keyof typeof kinds].push(tookMs);
    }
  }
  const [round, plain, model] = [at(found.round, 0.5), at(found.plain, 0.5), at(found.model, 0.5)];
  return { nChats: found.round.length, plainP50Ms: plain, modelP50Ms: model, addedP50Ms: round - plain - model };
}

async function mcpCalls(n: number): Promise<Sample> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  const call = async (): Promise<void> => {
    const { isError } = await client.callTool({ name: TOOL.wireName, arguments: TOOL.arguments });
    if (isError === true) throw new Error('the tool failed');
  };
  const found: number[] = [];
  for (let i = 0; i < n; i++) {
    const tookMs = await timed(call);
    if (i >= n / 4) found.push(tookMs);
  }
  await client.close();
  return { nCalls: found.length, p50Ms: at(found, 0.5), p99Ms: at(found, 0.99) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
