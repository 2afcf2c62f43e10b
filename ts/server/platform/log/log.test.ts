import fc from 'fast-check';
import t from 'tap';
import type { LineSink } from './line-sink.ts';
import { Log, type LogOptions } from './log.ts';

function open(options: Partial<LogOptions> = {}): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const sink: LineSink = { write: (line) => lines.push(line), flush: () => undefined };
  return { log: new Log({ level: 'info', format: 'json', sink, ...options }), lines };
}

t.test('a line is one JSON object with time, level, message and fields', (t) => {
  const { log, lines } = open();
  log.child({ module: 'm' }).warn('hello', { n: 1, none: undefined, big: 1n });
  t.match(JSON.parse(lines[0] ?? ''), { level: 'warn', message: 'hello', module: 'm', n: 1, big: '1' });
  t.match(lines[0], /^\{"time":"\d{4}-\d\d-\d\dT[^"]*Z"/);
  t.end();
});

t.test('lines below the level are not written', (t) => {
  const { log, lines } = open({ level: 'warn' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  t.strictSame(lines.length, 2);
  t.end();
});

t.test('secrets are masked by name and by look, at any depth', (t) => {
  const { log, lines } = open();
  log.info('used Bearer abcdefghijklmnop', {
    authorization: 'Basic abc',
    headers: {
      'X-API-Key': 'secret-1',
      cookie: 'secret-2',
      nested: [{ password: 'secret-3', client_secret: 'secret-4', id_token: 'secret-5', code_verifier: 'secret-6' }],
    },
    text: 'curl -H "Authorization: Bearer abcdefghijklmnop" sk-abcdefghijklmn svci_abcdefghijklmn',
    error: new Error('sent sk-abcdefghijklmn'),
  });
  t.notMatch(lines[0], /Basic abc|secret-\d|abcdefgh/);
  t.match(lines[0], /\[redacted\]/);
  t.end();
});

t.test('errors are unfolded with their cause; cycles end', (t) => {
  const { log, lines } = open();
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  log.error('failed', { error: new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'EIO' }) }), cycle });
  t.match(JSON.parse(lines[0] ?? ''), { error: { message: 'outer', stack: /outer/, cause: { message: 'inner', code: 'EIO' } } });
  t.match(lines[0], /\[deep\]/);
  t.end();
});

t.test('no message or field can forge a line, in either format', (t) => {
  for (const format of ['json', 'text'] as const) {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, value) => {
        const { log, lines } = open({ format });
        log.info(message, { value });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        return lines.length === 1 && !/[\u0000-\u0009\u000b-\u001a\u001c-\u001f]|\n./.test(lines[0] ?? '');
      }),
    );
  }
  t.end();
});
