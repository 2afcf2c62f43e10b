import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { findNode } from '../../ts/cli/node-runtime.mjs';
import { checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';
import { listFiles, readStamp, writeStamp } from './stamps.mjs';

const source = join('ts', 'web');
const client = join('ts', 'client');
const buildRoot = join(checkout, 'build');
const target = join(buildRoot, 'web');
const stamp = join(buildRoot, 'web.stamp');
/** What is worth compressing; the server compresses nothing smaller either. */
const compressible = /\.(js|css|html|svg|json)$/;
const minCompressedBytes = 1024;

/**
 * Builds the pages into build/web, compressed as well. Nothing is built while the sources and the locked packages are as they were.
 * @returns {import('./steps.mjs').Step}
 */
export function webStep() {
  return {
    title: 'Building the pages',
    isDone: async () => existsSync(join(target, 'chat.html')) && (await readStamp(stamp)) === contentOf(checkout),
    run: async () => {
      // Read first: an edit during the build must count as not built.
      const before = contentOf(checkout);
      await buildPages();
      await writeStamp(stamp, before);
    },
  };
}

/**
 * A hash of the pages' sources and of the packages that they are built with: of contents, since a clone has other times.
 * @param {string} root
 */
export function contentOf(root) {
  const hash = createHash('sha256');
  const files = [source, client].flatMap((folder) => listFiles(root, folder)).filter((path) => !path.endsWith('.test.ts'));
  for (const path of [...files, 'package-lock.json', 'tsconfig.json'])
    hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Into a folder of its own first, so that a server that runs never sees half of it. */
async function buildPages() {
  await mkdir(buildRoot, { recursive: true });
  const draft = await mkdtemp(join(buildRoot, 'web-draft-'));
  try {
    const vite = join(checkout, 'node_modules', 'vite', 'bin', 'vite.js');
    const config = join(checkout, source, 'vite.config.ts');
    await runCommand(
      findNode() ?? process.execPath,
      [vite, 'build', '--config', config, '--outDir', draft, '--logLevel', 'warn'],
      {
        cwd: checkout,
      },
    );
    await compressFolder(draft);
    // A draft is its maker's alone; the server may run as somebody else.
    await chmod(draft, 0o755);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @param {string} folder */
async function compressFolder(folder) {
  const names = await readdir(folder, { recursive: true });
  await Promise.all(names.filter((name) => compressible.test(name)).map((name) => compressFile(join(folder, name))));
}

/** @param {string} path */
async function compressFile(path) {
  const plain = await readFile(path);
  if (plain.length < minCompressedBytes) return;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(plain));
  await writeFile(`${path}.gz`, await promisify(gzip)(plain, { level: 9 }));
}
