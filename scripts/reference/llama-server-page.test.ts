import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { INSTALL_ROOT } from '../../ts/server/product.ts';
import { loadNodeConfig } from '../../ts/server/settings.ts';
import { readPins, sourceFolder } from '../setup/sources.mjs';
import { flagsOfServer, listedFlags, llamaServerPage } from './llama-server-page.ts';

const pin = readPins()['llama.cpp'];
if (!pin) throw new Error('native/sources.json has no llama.cpp');
const argumentsFile = join(sourceFolder(pin), 'common/arg.cpp');

t.test(
  'every option of the pinned llama-server has one row',
  { skip: existsSync(argumentsFile) ? false : 'llama.cpp is not fetched' },
  async (t) => {
    const upstream = new Set(flagsOfServer(readFileSync(argumentsFile, 'utf8')));
    const listed = listedFlags();
    t.ok(upstream.size > 300, `${upstream.size} flags were found`);
    t.strictSame([...upstream].filter((flag) => !listed.includes(flag)).sort(), [], 'without a row');
    t.strictSame(
      listed.filter((flag, index) => listed.indexOf(flag) !== index),
      [],
      'with two',
    );
    t.strictSame(listed.filter((flag) => !upstream.has(flag)).sort(), [], 'of another version');
  },
);

t.test('options of other programs are left out', async (t) => {
  const source = `add_opt(common_arg( {"-a", "--all"}, {"--no-all"}, "x")); add_opt(common_arg({"--tts"}, "y").set_examples({LLAMA_EXAMPLE_TTS}));
    add_opt(common_arg({"--host"}, "z").set_examples({LLAMA_EXAMPLE_TTS, LLAMA_EXAMPLE_SERVER}));`;
  t.strictSame(flagsOfServer(source), ['-a', '--all', '--no-all', '--host']);
});

t.test('the page names what is ours', async (t) => {
  const page = llamaServerPage();
  t.match(page, '| `-c` `--ctx-size` | `inference.ctx` |');
  t.match(page, '| `--dry-base` | `dry_base` of the request |');
});

t.test('every setting that it names is one', async (t) => {
  const { values } = loadNodeConfig({ root: INSTALL_ROOT, environment: {} });
  const named = [...llamaServerPage().matchAll(/`((?:inference|http|models|public_tls|edge|log)\.[a-z_.]+)`/g)];
  t.ok(named.length > 30);
  t.strictSame(
    named.map(([, key = '']) => key).filter((key) => !(key in values)),
    [],
  );
});
