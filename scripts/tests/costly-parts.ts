/**
 * The ARM64 addon and the packages are compiled, made and installed for minutes. CI leaves them out while nothing that they are made of has
 * changed since it was green, seven times of eight. `node scripts/tests/costly-parts.ts due` tells whether a run must have them, `green` that
 * one passed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, checkout } from '../setup/paths.mjs';
import { listFiles } from '../setup/stamps.mjs';

const inputs = ['native', 'packaging', 'scripts/setup', 'CMakeLists.txt', 'CMakePresets.json', 'package-lock.json', '.ci/run'];
const isMade = (path: string) => path.startsWith(join('packaging', 'out'));
const timesLeftOut = 7;
/** The exit code: any other one, that of a fault too, lets the run have them. */
const leftOut = 3;

interface Green {
  hash: string;
  /** Runs since then that left them out. */
  nLeftOut: number;
}

/** A hash of contents: a clone has other times. */
function hashOf(root: string): string {
  const hash = createHash('sha256');
  for (const path of inputs.flatMap((input) => listFiles(root, input)).filter((path) => !isMade(path)))
    hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Why a run leaves them out, or undefined where it must have them. `place`: the file that says what was green. */
export function whyLeftOut(root: string, place: string): string | undefined {
  const green = read(place);
  if (green?.hash !== hashOf(root) || green.nLeftOut >= timesLeftOut) return undefined;
  return `nothing that they are made of changed since they passed; left out ${green.nLeftOut + 1} of ${timesLeftOut} times`;
}

/** After a run that passed. */
export function recordGreen(root: string, place: string): void {
  const green = read(place);
  const nLeftOut = whyLeftOut(root, place) === undefined ? 0 : (green?.nLeftOut ?? 0) + 1;
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, JSON.stringify({ hash: hashOf(root), nLeftOut } satisfies Green));
}

function read(place: string): Green | undefined {
  try {
    return JSON.parse(readFileSync(place, 'utf8')) as Green;
  } catch {
    // The first run on this machine.
    return undefined;
  }
}

if (realpathSync(process.argv[1] ?? '.') === import.meta.filename) {
  const place = join(cacheFolder(), 'costly-parts.json');
  if (process.argv[2] === 'green') recordGreen(checkout, place);
  else {
    const why = whyLeftOut(checkout, place);
    if (why !== undefined) console.log(`The ARM64 addon and the packages are left out: ${why}`);
    process.exitCode = why === undefined ? 0 : leftOut;
  }
}
