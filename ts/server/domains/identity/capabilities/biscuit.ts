/**
 * The Biscuit library: WebAssembly of 2 MB, loaded with the first token that a node makes or is shown. Its entry file imports the WebAssembly as an
 * ECMAScript module, which Node has as an experiment only and warns of, so the parts are put together here.
 */
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

type Biscuits = typeof import('@biscuit-auth/biscuit-wasm');

/** What wasm-bindgen generates beside the classes. */
interface Glue extends Biscuits {
  __wbg_set_wasm(exports: object): void;
}

/** Node has it, and the language's own library does not declare it. */
interface WebAssemblyApi {
  Module: { new (bytes: Uint8Array): object; imports(module: object): { module: string }[] };
  instantiate(module: object, imports: object): Promise<{ exports: Record<string, unknown> }>;
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi };

let loading: Promise<Biscuits> | undefined;

export function loadBiscuit(): Promise<Biscuits> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Biscuits> {
  const manifest = findPackageJSON('@biscuit-auth/biscuit-wasm', import.meta.url);
  if (manifest === undefined) throw new Error('the package @biscuit-auth/biscuit-wasm is not installed');
  // A path and no URL: in a bundle this import is a require(), which knows no URLs.
  const part = (name: string) => join(dirname(manifest), 'module', name);
  const module = new WebAssembly.Module(await readFile(part('biscuit_bg.wasm')));
  const names = new Set(WebAssembly.Module.imports(module).map(({ module: name }) => name));
  const imports = Object.fromEntries(
    await Promise.all([...names].map(async (name) => [name, await import(part(name))] as const)),
  );
  const glue = (await import(part('biscuit_bg.js'))) as Glue;
  const { exports } = await WebAssembly.instantiate(module, imports);
  glue.__wbg_set_wasm(exports);
  withoutGreeting(exports['__wbindgen_start'] as () => void);
  warmUp(glue);
  return glue;
}

/** The first evaluation compiles the library's code, which can take longer than a token's evaluation may. */
function warmUp({ AuthorizerBuilder }: Biscuits): void {
  const builder = new AuthorizerBuilder();
  builder.addCode('scope("a"); time(2026-01-01T00:00:00Z); check if scope($s), ["a"].contains($s); allow if true;');
  const authorizer = builder.buildUnauthenticated();
  authorizer.authorizeWithLimits({ max_facts: 64, max_iterations: 16, max_time_micro: 60_000_000 });
  authorizer.free();
}

/** The library greets on the console when it starts; the server's output is for its log alone. */
function withoutGreeting(start: () => void): void {
  const { log } = console;
  console.log = () => undefined;
  try {
    start();
  } finally {
    console.log = log;
  }
}
