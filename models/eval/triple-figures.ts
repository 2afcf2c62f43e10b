import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '../recipe/python.ts';
import { type EmbeddingClient, embedTexts } from './embedding-client.ts';
import { type Figure, shareFigure } from './figure.ts';
import { cosine } from './ranking.ts';

/** A text, another form of it, and a text that only looks alike. */
interface Triple {
  text: string;
  near: string;
  far: string;
}

/** In what share of the held-out triples the other form is nearer than the other text. */
export async function measureTriples(client: EmbeddingClient, python: string, count: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-eval-'));
  try {
    await runScript(python, 'svc-embed-tiny/evaluation.py', [folder, '--count', String(count)]);
    const figures = [];
    for (const file of readdirSync(folder).toSorted()) {
      const triples = readTriples(join(folder, file));
      const name = file.replace('.jsonl', '').replace('-', ', ');
      figures.push(shareFigure(`nearer: ${name}`, await countRight(client, triples), triples.length));
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readTriples(path: string): Triple[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Triple);
}

async function countRight(client: EmbeddingClient, triples: readonly Triple[]): Promise<number> {
  const vectors = await embedTexts(
    client,
    triples.flatMap(({ text, near, far }) => [text, near, far]),
  );
  const empty = new Float32Array();
  return triples.filter((_, i) => {
    const [text = empty, near = empty, far = empty] = vectors.slice(3 * i, 3 * i + 3);
    return cosine(text, near) > cosine(text, far);
  }).length;
}
