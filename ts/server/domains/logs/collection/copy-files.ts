/** The files of one copy: one for each class and hour of reception, as rsyslog writes it or, once the hour is over, packed. */
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

export interface HourFile {
  /** `CLASS/YYYY-MM-DDTHH`, which sorts by time within a class. */
  id: string;
  className: string;
  /** `YYYY-MM-DDTHH`, in UTC. */
  hour: string;
  path: string;
  isPacked: boolean;
  sizeBytes: number;
  writtenMs: number;
}

const NAME = /^([a-z][a-z0-9_]{0,31})\/(\d{4}-\d\d-\d\dT\d\d)\.jsonl(\.zst)?$/;
const HOUR_MS = 3_600_000;

/** The class of lines that the service sends itself through each listener. */
export const CANARY_CLASS = 'canary';

export const PACKED = '.jsonl.zst';
export const OPEN = '.jsonl';

/** Throws where the folder cannot be read. */
export async function listHourFiles(copy: string): Promise<HourFile[]> {
  const files: HourFile[] = [];
  for (const name of await readdir(copy, { recursive: true })) {
    const [, className, hour = '', packed] = NAME.exec(name) ?? [];
    if (className === undefined) continue;
    const path = join(copy, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile())
      files.push({
        id: `${className}/${hour}`,
        className,
        hour,
        path,
        isPacked: packed !== undefined,
        sizeBytes: found.size,
        writtenMs: found.mtimeMs,
      });
  }
  return files.sort((a, b) => (a.hour + a.id < b.hour + b.id ? -1 : 1));
}

/** Unix milliseconds. */
export function endOfHour(hour: string): number {
  return Date.parse(`${hour}:00:00Z`) + HOUR_MS;
}

export async function freeBytesOf(copy: string): Promise<number> {
  const { bavail, bsize } = await statfs(copy);
  return bavail * bsize;
}

interface Bounds {
  days: number;
  bytes: number;
  /** So much stays free on the disk. */
  reserveBytes: number;
}

const DAY_MS = 24 * HOUR_MS;

/** Removes the oldest hours of a copy that its bounds do not allow; the open hour stays. False: the disk is too full all the same. */
export async function retain(copy: string, { days, bytes, reserveBytes }: Bounds, now: number): Promise<boolean> {
  let files = await listHourFiles(copy);
  const isOver = (): boolean => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > bytes;
  const isFull = async (): Promise<boolean> => (await freeBytesOf(copy)) < reserveBytes;
  for (;;) {
    const [oldest] = files.filter(({ hour }) => endOfHour(hour) <= now);
    const isOld = oldest !== undefined && endOfHour(oldest.hour) < now - days * DAY_MS;
    const isTight = await isFull();
    if (oldest === undefined || !(isOld || isOver() || isTight)) return !isTight;
    await rm(oldest.path, { force: true });
    files = files.filter((file) => file !== oldest);
  }
}
