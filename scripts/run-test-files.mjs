// node scripts/run-test-files.mjs SECONDS FILE...: runs test files, two at a time, and prints TAP. SECONDS is the limit of one file.
//
// `tap run` would load hooks of its own into every test and into every program that a test starts, which takes several times as
// long as most tests themselves. Nothing here needs them: Node runs TypeScript, and coverage has no gate.
import { t } from 'tap';

const [seconds, ...files] = process.argv.slice(2);
const timeoutMs = Number(seconds) * 1000;
const nAtOnce = 2;

// Tap puts a hook into NODE_OPTIONS of what it starts: the tests get what we got.
const options = process.env.NODE_OPTIONS;
const ownOptions = options === undefined ? ['-u', 'NODE_OPTIONS'] : [`NODE_OPTIONS=${options}`];

t.setTimeout(0);
t.jobs = nAtOnce;
// The limit of the subtests in a file is that of the file.
const env = { ...process.env, TAP_TIMEOUT: String(seconds) };
for (const file of files)
  t.spawn('env', [...ownOptions, process.execPath, file], { env, timeout: timeoutMs, buffered: true, at: null, stack: '' }, file);
