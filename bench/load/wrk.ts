/** Drives wrk, the load generator that says least about itself: one thread, a fixed number of connections. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { WrkLoad } from './load.ts';

/** Throws one line that names the packages when wrk is missing. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['--version']).error)
    throw new Error('wrk is missing: install it with apt-get install wrk (Debian) or dnf install wrk (Fedora)');
}

export async function runWrk(url: string, { connections, seconds, body }: WrkLoad): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-wrk-'));
  const script = join(folder, 'request.lua');
  writeFileSync(script, wrkScript(body));
  try {
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url];
    return readWrkOutput(await runProgram('wrk', args));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The script sets the request and prints the figures as JSON, in units that do not change with their size. */
function wrkScript(body: string | undefined): string {
  const request =
    body === undefined
      ? ''
      : `wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\nwrk.body = [==[${body}]==]\n`;
  return `${request}
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"socketErrors":%d,"statusErrors":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
`;
}

function readWrkOutput(stdout: string): Sample {
  const line = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result:\n${stdout}`);
  const { requests, micros, p50, p99, socketErrors, statusErrors } = JSON.parse(line) as Record<string, number>;
  return {
    requestsPerSecond: (requests ?? 0) / ((micros ?? 0) / 1e6),
    latencyP50Ms: (p50 ?? 0) / 1e3,
    latencyP99Ms: (p99 ?? 0) / 1e3,
    socketErrors: socketErrors ?? 0,
    statusErrors: statusErrors ?? 0,
  };
}
