import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../test/test-support/iterations.ts';
import { findCommand, parseCommand, unknownCommand } from './arguments.ts';
import { CliError } from './cli-error.ts';
import { overridesOf, type ServeValues } from './commands/serve-options.ts';
import { commands as entries, loadCommands } from './commands.ts';
import { commandHelp, overview } from './help.ts';

const commands = await loadCommands();

const get = (...words: string[]) => {
  const { command, rest } = findCommand(words, commands);
  if (!command) throw unknownCommand(words, commands);
  return parseCommand(command, rest);
};

t.test('options before and after the command, inline and apart', async (t) => {
  t.strictSame(get('--json', 'models', 'pull', 'x', '--name=y', '--force'), {
    options: { json: true, name: 'y', force: true },
    positionals: ['x'],
  });
  t.strictSame(get('--config', 'c.toml', 'config').options, { config: 'c.toml' });
  t.strictSame(get('models', 'rm', '--', '--json').positionals, ['--json'], 'everything after -- is a word');
});

t.test('llama-server’s command line means the same', async (t) => {
  const { options } = get(
    'serve',
    '-m',
    'x.gguf',
    '-c',
    '4096',
    '-np',
    '4',
    '-t',
    '2',
    '-ngl',
    '-1',
    '-b',
    '512',
    '-ub',
    '256',
    '-fa',
    'on',
    '-ctk',
    'q8_0',
    '--ctx-size=8192',
  );
  t.strictSame(overridesOf(options as ServeValues, { host: '127.0.0.1', port: 8880 }), {
    default_model: 'x.gguf',
    'inference.parallel': 4,
    'inference.ctx': 8192,
    'inference.threads': 2,
    'inference.gpu_layers': -1,
    'inference.batch': 512,
    'inference.ubatch': 256,
    'inference.flash_attention': 'on',
    'inference.cache_type_k': 'q8_0',
  });
});

t.test('host and port complete the configured listener', async (t) => {
  t.strictSame(overridesOf({ port: 0 }, { host: '::1', port: 8880 }), { listen: '[::1]:0' });
  t.strictSame(overridesOf({ host: '0.0.0.0' }, { host: '127.0.0.1', port: 8880 }), { listen: '0.0.0.0:8880' });
});

t.test('mistakes are named, with what was probably meant', async (t) => {
  const mistakes: [words: string[], message: RegExp, remedy?: RegExp][] = [
    [['serve', '--treads', '4'], /unknown option --treads; did you mean --threads\?/],
    [['serve', '--threads'], /--threads needs a value/],
    [['serve', '--threads', '--json'], /--threads needs a value/],
    [['serve', '--threads', 'four'], /--threads is "four"/, /whole number from 0/],
    [['serve', '--gpu-layers', '-2'], /--gpu-layers is "-2"/],
    [['serve', '--port', '65536'], /--port is "65536"/, /from 0 to 65535/],
    [['serve', '--flash-attention', 'onn'], /did you mean on\?/, /auto, on, off/],
    [['serve', '--json=yes'], /--json takes no value/],
    [['models', 'pull'], /MODEL is missing/],
    [['models', 'show', 'a', 'b'], /"b" is one word too many/],
    [['models', 'remove'], /unknown command "models remove"/, /list, pull, import, show, verify, rm/],
    [['models', 'pul'], /did you mean models pull\?/],
    [['models'], /needs one more word/],
    [['stauts'], /did you mean status\?/],
    [['serve', '--constructor', 'x'], /unknown option --constructor/],
    [['serve', '--__proto__', 'x'], /unknown option/],
  ];
  for (const [words, message, remedy] of mistakes) {
    t.throws(() => get(...words), { exit: 'usage', message, ...(remedy && { remedy }) }, words.join(' '));
  }
});

t.test('any command line parses or is a usage error', async (t) => {
  const word = fc.oneof(
    fc.constantFrom('serve', 'models', 'pull', 'chat', '--json', '--threads', '-np', '--', '--help', '-m', '='),
    fc.string({ maxLength: 8 }),
  );
  let parsed = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      try {
        get(...words);
        parsed++;
      } catch (error) {
        if (!(error instanceof CliError) || error.exit !== 'usage') throw error;
      }
    }),
    { numRuns: iterations(1_500, 20_000) },
  );
  t.ok(parsed > 0, `${parsed} parsed`);
});

t.test('the table is sound and every page is complete', async (t) => {
  t.strictSame(
    entries.map(({ words }) => words),
    commands.map(({ words }) => words),
  );
  const names = commands.map(({ words }) => words.join(' '));
  t.equal(new Set(names).size, names.length);
  for (const command of commands) {
    const page = commandHelp(command);
    for (const option of Object.keys(command.options)) t.match(page, `--${option}`);
    const aliases = Object.values(command.options).flatMap(({ aliases = [] }) => aliases);
    t.equal(new Set(aliases).size, aliases.length, `${command.words.join(' ')}: aliases are unique`);
    t.match(overview(commands), command.words.join(' '));
  }
});

t.test('what is no text is refused before anything is done with it', async (t) => {
  for (const word of ['a\uFFFD', 'a\0', '\ud800'])
    t.throws(() => get('models', 'pull', word), { message: /argument 1 holds/ }, word);
});
