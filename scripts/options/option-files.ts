/** The files that are made of the tables of options. */
import { readFileSync, writeFileSync } from 'node:fs';
import { renderNativeTables } from './native-tables.ts';

export function staleOptionFiles(): string[] {
  return Object.entries(renderNativeTables()).flatMap(([path, text]) => (readText(path) === text ? [] : [path]));
}

export function writeOptionFiles(): void {
  for (const [path, text] of Object.entries(renderNativeTables())) writeFileSync(path, text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
