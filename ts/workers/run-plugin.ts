/**
 * A plugin in a process that the server confines (ts/server/native/confined-process.ts). It reads lines of JSON, `{call, tool, args}`, `{ping}` and `{answer, value
 * | error}`, and writes `{pong}`, `{end, value | error}` and what it asks the server for: `{ask, kind, ...}`.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

type Message = Readonly<Record<string, unknown>>;

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly base64: string;
}

interface Host {
  fetch(url: string, init?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Response>;
  readonly storage: {
    get(key: string): Promise<string | undefined>;
    set(key: string, value: string): Promise<void>;
    delete(key: string): Promise<void>;
  };
  log(text: string): void;
}

type PluginTool = (args: unknown, host: Host) => unknown;

const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let nAsked = 0;

function say(message: object): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at, bytes.length - at);
}

function ask(kind: string, about: object): Promise<unknown> {
  nAsked += 1;
  const id = nAsked;
  say({ ask: id, kind, ...about });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const host: Host = {
  fetch: async (url, { method = 'GET', headers = {}, body } = {}) => {
    const answer = (await ask('fetch', { url: String(url), method, headers, body })) as Answered;
    const bytes = answer.base64 === '' ? null : Buffer.from(answer.base64, 'base64');
    return new Response(bytes, { status: answer.status, headers: answer.headers });
  },
  storage: {
    get: async (key) => ((await ask('get', { key })) as string | null) ?? undefined,
    set: async (key, value) => void (await ask('set', { key, value })),
    delete: async (key) => void (await ask('delete', { key })),
  },
  log: (text) => say({ log: String(text) }),
};

async function call(tools: Readonly<Record<string, PluginTool>>, { call: id, tool, args }: Message): Promise<void> {
  try {
    const run = Object.hasOwn(tools, String(tool)) ? tools[String(tool)] : undefined;
    if (run === undefined) throw new Error(`the plugin exports no tool ${String(tool)}`);
    say({ end: id, value: (await run(args, host)) ?? null });
  } catch (error) {
    say({ end: id, error: error instanceof Error ? error.message : String(error) });
  }
}

function take({ answer, value, error }: Message): void {
  const asked = waiting.get(Number(answer));
  waiting.delete(Number(answer));
  if (typeof error === 'string') asked?.reject(new Error(error));
  else asked?.resolve(value);
}

const lines = createInterface({ input: process.stdin });
const { tools } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as { tools: Record<string, PluginTool> };
say({ ready: true });
for await (const line of lines) {
  const message = JSON.parse(line) as Message;
  if ('call' in message) void call(tools ?? {}, message);
  else if ('ping' in message) say({ pong: message['ping'] });
  else take(message);
}
