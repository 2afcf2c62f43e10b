/** What the minimal package leaves out, and how it says so. */
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';

/** Node's own program is larger than this without any of svc, so the sum of the rest is held to it. */
const MOST_BYTES_BESIDE_NODE = 80e6;
/** With Node, just above what it was with every CPU variant, whisper.cpp, logs, memories, devices and voices in it: it may become less, and not more. */
const MOST_BYTES = 166e6;

export async function verifyMinimal(checks: Checks, tree: string): Promise<void> {
  await checks.try('svc-minimal: no pages and no decoders of images', () => {
    expect(!existsSync(join(tree, layout.web)), 'the pages are there');
    const libraries = globSync('{sharp,@img/*}', { cwd: join(tree, layout.packages) });
    expect(libraries.length === 0, libraries.join(', '));
    return undefined;
  });
  await checks.try('svc-minimal: what is installed beside Node', () => {
    const files = globSync('**/*', { cwd: tree }).map((path) => statSync(join(tree, path)));
    const total = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    const node = statSync(join(tree, layout.node)).size;
    expect(total - node <= MOST_BYTES_BESIDE_NODE, `${megabytes(total - node)} MB beside Node`);
    expect(total <= MOST_BYTES, `${megabytes(total)} MB`);
    return `${megabytes(total)} MB, of which Node has ${megabytes(node)} MB`;
  });
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
