import t from 'tap';
import { earlier, fit, later, windowAtEnd } from './message-window.ts';

t.test('a window over five thousand messages reaches each of them, and draws few', async (t) => {
  let shown = windowAtEnd(5_000);
  t.equal(shown.end, 5_000);
  const seen = new Set<number>();
  const look = (): void => {
    t.ok(shown.end - shown.first <= 96 && shown.first >= 0 && shown.end <= 5_000);
    for (let at = shown.first; at < shown.end; at++) seen.add(at);
  };
  look();
  while (shown.first > 0) {
    const before = shown;
    shown = earlier(shown);
    t.ok(shown.first < before.first && shown.end > before.first, 'what was at its start stays drawn');
    look();
  }
  t.equal(seen.size, 5_000);
  while (shown.end < 5_000) {
    const before = shown;
    shown = later(shown, 5_000);
    t.ok(shown.end > before.end && shown.first < before.end, 'what was at its end stays drawn');
    look();
  }
});

t.test('a short conversation is drawn whole', async (t) => {
  t.strictSame(windowAtEnd(3), { first: 0, end: 3 });
  t.strictSame(earlier({ first: 0, end: 3 }), { first: 0, end: 3 });
  t.strictSame(later({ first: 0, end: 3 }, 3), { first: 0, end: 3 });
});

t.test('new messages come into a window at the end, and move none that is elsewhere', async (t) => {
  t.strictSame(fit({ first: 10, end: 50 }, 50, 52, true), { first: 10, end: 52 });
  t.strictSame(fit({ first: 10, end: 50 }, 90, 92, false), { first: 10, end: 50 });
  t.strictSame(fit({ first: 0, end: 96 }, 96, 98, true), { first: 58, end: 98 }, 'what is far above goes');
  t.strictSame(fit({ first: 0, end: 96 }, 96, 98, false), { first: 0, end: 98 }, 'unless somebody reads it');
});

t.test('a branch that is shorter is shown at its end', async (t) => {
  t.strictSame(fit({ first: 80, end: 100 }, 100, 12, true), { first: 0, end: 12 });
  t.strictSame(fit({ first: 10, end: 50 }, 100, 30, false), { first: 0, end: 30 });
});
