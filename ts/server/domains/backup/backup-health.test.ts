import t from 'tap';
import { BackupHealth } from './backup-health.ts';

const HOUR_MS = 3_600_000;
const codes = (health: BackupHealth, now: number) => health.report(now).reasons.map(({ code }) => code);

t.test('a backup of the schedule that does not come is told once it is late', async (t) => {
  const health = new BackupHealth();
  health.scheduled(5000 * HOUR_MS, 500);
  t.strictSame(codes(health, 10 * HOUR_MS), [], 'it is not due yet');
  health.scheduled(1000, 500);
  t.strictSame(codes(health, 1000 + HOUR_MS), []);
  t.strictSame(codes(health, 1000 + 3 * HOUR_MS), ['backup_late']);
  // With no backup at all, each look finds it due now.
  health.scheduled(4 * HOUR_MS, 4 * HOUR_MS);
  t.strictSame(codes(health, 4 * HOUR_MS), ['backup_late']);
  health.made();
  t.strictSame(codes(health, 5 * HOUR_MS), []);
  health.scheduled(1000, 2000);
  health.scheduled(undefined, 3000);
  t.strictSame(codes(health, 5 * HOUR_MS), [], 'there is no schedule any more');
});

t.test('a failure is told until a backup is made', async (t) => {
  const health = new BackupHealth();
  health.failed('destination_unusable');
  t.match(health.report(0).reasons, [{ code: 'backup_failed', detail: /destination_unusable/ }]);
  health.failed(undefined);
  t.strictSame(codes(health, 0), ['backup_failed']);
  health.made();
  t.strictSame(codes(health, 0), []);
});
