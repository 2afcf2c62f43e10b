import t from 'tap';
import { scriptingByFrame, type TraceEvent } from './trace.ts';

const event = (name: string, ts: number, dur = 0, tid = 1): TraceEvent => ({ name, ph: 'X', ts, dur, pid: 1, tid });

t.test('scripting is summed by frame, nested events once, and the last frame is left out', async (t) => {
  const events = [
    event('BeginMainThreadFrame', 0),
    event('FunctionCall', 100, 2_000),
    event('RunMicrotasks', 200, 1_000),
    event('RunMicrotasks', 2_150, 1_000),
    event('BeginMainThreadFrame', 16_000),
    event('BeginMainThreadFrame', 32_000),
    event('FunctionCall', 32_100, 9_000),
  ];
  t.strictSame(scriptingByFrame(events), [3, 0]);
});

t.test('only the thread that draws counts', async (t) => {
  const events = [
    event('BeginMainThreadFrame', 0),
    event('FunctionCall', 10, 500, 2),
    event('Layout', 20, 700),
    event('BeginMainThreadFrame', 16_000),
  ];
  t.strictSame(scriptingByFrame(events), [0]);
  t.strictSame(scriptingByFrame([]), []);
});
