/** The files that are made of the tables of options. */
import { readFileSync, writeFileSync } from 'node:fs';
import { llamaServerPage, renderLlamaServerPage } from './llama-server-page.ts';
import { renderNativeTables } from './native-tables.ts';

function optionFiles(): Record<string, string> {
  return { ...renderNativeTables(), [llamaServerPage]: renderLlamaServerPage() };
}

export function staleOptionFiles(): string[] {
  return Object.entries(optionFiles()).flatMap(([path, text]) => (readText(path) === text ? [] : [path]));
}

export function writeOptionFiles(): void {
  for (const [path, text] of Object.entries(optionFiles())) writeFileSync(path, text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
