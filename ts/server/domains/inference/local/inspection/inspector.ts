/** InspectionResults on model files, one child process at a time for requests and one for background jobs; kept by path, size and modification time, also across restarts. */
import { createHash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { type InspectionPlan, runInspection } from './inspection-process.ts';
import { type InspectionResult, parseInspectionResult } from './inspection-result.ts';

interface StoredResult {
  stamp: string;
  result: InspectionResult;
}

/** Raise it when the child learns to tell more, so that old inspection results are not believed. */
const format = 3;

/** Some programs give a copy the time of its original when it is whole. */
const lookAgainMs = 250;

const gone: InspectionResult = { usable: false, reason: 'The file is gone.' };

/** The queue of an inspection: one that a request waits for does not queue behind those that nobody waits for. */
export type InspectionLane = 'request' | 'background';

type RunInspection = (path: string, plan: InspectionPlan | undefined) => Promise<InspectionResult>;

export class Inspector {
  readonly #kept = new Map<string, StoredResult>();
  readonly #running = new Map<string, Promise<InspectionResult>>();
  readonly #cacheFile: string | undefined;
  readonly #run: RunInspection;
  readonly #quietMs: number;
  #restored: Promise<void> | undefined;
  readonly #lanes: Record<InspectionLane, Promise<unknown>> = { request: Promise.resolve(), background: Promise.resolve() };
  #written: Promise<unknown> = Promise.resolve();

  /** Without a cache file, inspection results last as long as the process. A file that changed less than quietMs ago is left alone. */
  constructor(cacheFile: string | undefined, run: RunInspection = runInspection, quietMs = 3_000) {
    this.#cacheFile = cacheFile;
    this.#run = run;
    this.#quietMs = quietMs;
  }

  /** With a plan, the inspection result tells how much memory the model will take with it. */
  async inspect(path: string, plan?: InspectionPlan, lane: InspectionLane = 'request'): Promise<InspectionResult> {
    const kept = await this.find(path, plan);
    if (kept) return kept;
    await this.#untilQuiet(path);
    const stamp = await stampOf(path, plan);
    return stamp === undefined ? gone : (this.#keptResult(path, stamp) ?? this.#queued(path, stamp, plan, lane));
  }

  /** Returns what is known of the file as it is now; undefined when it has yet to be inspected. */
  async find(path: string, plan?: InspectionPlan): Promise<InspectionResult | undefined> {
    this.#restored ??= this.#restore();
    await this.#restored;
    const stamp = await stampOf(path, plan);
    return stamp === undefined ? gone : this.#keptResult(path, stamp);
  }

  /** Settles when nothing runs and every inspection result is kept. */
  async settle(): Promise<void> {
    await Promise.all(Object.values(this.#lanes));
  }

  /** Names the state of a file that has come to rest; undefined when it is gone. */
  async stampOfQuiet(path: string): Promise<string | undefined> {
    await this.#untilQuiet(path);
    return fileStamp(path);
  }

  #keptResult(path: string, stamp: string): InspectionResult | undefined {
    const kept = this.#kept.get(path);
    return kept?.stamp === stamp ? kept.result : undefined;
  }

  /** A file that is still being copied grows all the time; the time of its last change says so. */
  async #untilQuiet(path: string): Promise<void> {
    for (;;) {
      const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
      const ageMs = Date.now() - (mtimeMs ?? 0);
      // A file from the far future, by a clock that is wrong, would never be old enough. A little is the fraction of a millisecond that
      // the clock leaves out.
      if (Math.abs(ageMs) >= this.#quietMs) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(this.#quietMs - Math.max(0, ageMs), lookAgainMs)));
    }
  }

  /** Takes its turn in the lane, unless the file was inspected before it comes. */
  #queued(path: string, stamp: string, plan: InspectionPlan | undefined, lane: InspectionLane): Promise<InspectionResult> {
    const result = this.#lanes[lane].then(() => this.#keptResult(path, stamp) ?? this.#begin(path, stamp, plan));
    // Whoever asked hears of a failure.
    this.#lanes[lane] = result.then(
      () => this.#written,
      () => {},
    );
    return result;
  }

  /** The other lane may be at the same file. */
  #begin(path: string, stamp: string, plan: InspectionPlan | undefined): Promise<InspectionResult> {
    const key = `${path}\0${stamp}`;
    const known = this.#running.get(key);
    if (known) return known;
    const result = this.#run(path, plan)
      .then((value) => {
        this.#kept.set(path, { stamp, result: value });
        // One after the other: they share the temporary file.
        this.#written = this.#written.then(() => this.#write());
        return value;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, result);
    return result;
  }

  async #restore(): Promise<void> {
    if (!this.#cacheFile) return;
    const text = await readFile(this.#cacheFile, 'utf8').catch(() => '');
    const file = parseObject(text);
    if (file?.['format'] !== format) return;
    for (const [path, kept] of Object.entries((file['files'] ?? {}) as Record<string, Partial<StoredResult> | null>)) {
      const result = parseInspectionResult(JSON.stringify(kept?.result ?? null));
      if (result) this.#kept.set(path, { stamp: String(kept?.stamp), result });
    }
  }

  /** A cache that cannot be written costs an inspection at the next start and nothing else. */
  async #write(): Promise<void> {
    if (!this.#cacheFile) return;
    const lasting = [...this.#kept].filter(([, { result }]) => result.usable || !result.isDeath);
    const text = JSON.stringify({ format, files: Object.fromEntries(lasting) });
    const temporary = `${this.#cacheFile}.${process.pid}.tmp`;
    await writeFile(temporary, text)
      .then(() => rename(temporary, this.#cacheFile as string))
      .catch(() => {});
  }
}

function hashOf(plan: InspectionPlan): string {
  return createHash('sha1').update(JSON.stringify(plan)).digest('base64url');
}

async function stampOf(path: string, plan: InspectionPlan | undefined): Promise<string | undefined> {
  const file = await fileStamp(path);
  return file === undefined || plan === undefined ? file : `${file}:${hashOf(plan)}`;
}

async function fileStamp(path: string): Promise<string | undefined> {
  const { size, mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
  return size === undefined ? undefined : `${size}:${mtimeMs}`;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
