/** Scripting in each frame, from what Chromium's tracing records of the page's main thread. */
export interface TraceEvent {
  name: string;
  /** Phase: X has a duration. */
  ph: string;
  /** Microseconds. */
  ts: number;
  dur?: number;
  /** Of them, those in which the thread had a core: what others on the machine do does not count. */
  tdur?: number;
  pid: number;
  tid: number;
}

const SCRIPTING = new Set([
  ...['FunctionCall', 'EvaluateScript', 'RunMicrotasks', 'TimerFire', 'FireAnimationFrame', 'EventDispatch', 'V8.GCScavenger'],
  ...['MinorGC', 'MajorGC', 'v8.compile'],
]);
const FRAME = 'BeginMainThreadFrame';

/** Milliseconds of scripting by frame, of the thread that draws the most frames; nested events count once. */
export function scriptingByFrame(events: readonly TraceEvent[]): number[] {
  const thread = busiestThread(events);
  const own = events.filter((event) => keyOf(event) === thread).sort((a, b) => a.ts - b.ts);
  const frames = own.filter(({ name }) => name === FRAME).map(({ ts }) => ts);
  const sums = frames.map(() => 0);
  let coveredUntil = 0;
  let index = -1;
  for (const { name, ph, ts, dur = 0, tdur = dur } of own) {
    // Events of one thread are nested or apart.
    if (ph !== 'X' || !SCRIPTING.has(name) || ts < coveredUntil) continue;
    coveredUntil = ts + dur;
    while (index + 1 < frames.length && (frames[index + 1] ?? 0) <= ts) index++;
    // What runs between two frames delays the second one.
    if (index >= 0) sums[index] = (sums[index] ?? 0) + tdur / 1000;
  }
  return sums.slice(0, -1);
}

function busiestThread(events: readonly TraceEvent[]): string | undefined {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.name === FRAME) counts.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function keyOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}
