import t from 'tap';
import { launch } from './launch.ts';

t.test('a server is started by the words that emulate a machine', async (t) => {
  t.teardown(() => delete process.env['SVC_BENCH_LAUNCH']);
  t.strictSame(launch('server', ['--port', '1']), { program: 'server', args: ['--port', '1'] });
  process.env['SVC_BENCH_LAUNCH'] = '["taskset","-c","0"]';
  t.strictSame(launch('server', ['--port', '1']), { program: 'taskset', args: ['-c', '0', 'server', '--port', '1'] });
});
