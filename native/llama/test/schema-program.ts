/** JSON Schemas through the reader of the server, and what its result lets the engine's grammar take and write. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { SchemaReader, type Stated } from '../../../ts/server/domains/completions/compat/json-schema.ts';
import type { Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { referenceProgram } from './reference.ts';

const vocabulary = join(await vocabularyFolder(), 'ggml-vocab-llama-spm.gguf');

interface Case {
  schema: unknown;
  /** JSON texts that the grammar may take. */
  texts?: readonly string[];
}

type Decided = { refused: string } | { accepts: boolean[]; written: string[] };

/** Runs all schemas through one program, in their order. */
export async function decide(cases: readonly Case[], nTexts: number, seed = 7): Promise<Decided[]> {
  const program = await referenceProgram('schema-reference');
  const child = execFile(program, [nativeFolder(), vocabulary, String(seed), String(nTexts)], { maxBuffer: 1 << 30 });
  const stdout: string[] = [];
  child.stdout?.on('data', (text: string) => stdout.push(text));
  const ended = new Promise<void>((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`schema-reference ended with ${code}`))));
  });
  for (const { schema, texts = [] } of cases) child.stdin?.write(`${[JSON.stringify(schema), ...texts].join('\x01')}\0`);
  child.stdin?.end();
  await ended;
  return stdout
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (!line.startsWith('accepts ')) return { refused: line };
      const [, bits = '', written = '[]'] = /^accepts ([01]*) (.*)$/.exec(line) ?? [];
      return { accepts: [...bits].map((bit) => bit === '1'), written: JSON.parse(written) as string[] };
    });
}

/** What the engine is to follow, or the keyword that a strict schema is refused for. */
export function follow(
  schema: unknown,
  more: Partial<Stated> = {},
): { followed: Members } | { keyword: string; message: string } {
  try {
    return { followed: new SchemaReader().read(asObject(schema), { param: 'schema', isStrict: true, ...more }) };
  } catch (error) {
    const { extra, code, message } = error as { extra?: { keyword?: string }; code?: string; message: string };
    if (code !== 'schema_not_supported' && code !== 'invalid_grammar') throw error;
    return { keyword: extra?.keyword ?? code, message };
  }
}

/** A request's schema is an object; true and false stand inside it. */
export function asObject(schema: unknown): Members {
  return typeof schema === 'boolean' ? { allOf: [schema] } : (schema as Members);
}
