/** Sizes, times and numbers as the reader writes them. */
import { language } from './language.ts';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const digits = power === 0 ? 0 : 1;
  return `${(bytes / 1024 ** power).toLocaleString(language(), { maximumFractionDigits: digits })} ${UNITS[power]}`;
}

export function formatNumber(value: number, maximumFractionDigits = 0): string {
  return value.toLocaleString(language(), { maximumFractionDigits });
}

/** `iso` null: a dash. */
export function formatTime(iso: string | null | undefined): string {
  if (iso == null) return '–';
  return new Date(iso).toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });
}

export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

/** Minutes and seconds of a place in a recording. */
export function formatClock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** The heading of a list under which a moment belongs. */
export function daysAgo(iso: string, now = new Date()): number {
  const dayOf = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((dayOf(now) - dayOf(new Date(iso))) / 86_400_000);
}
