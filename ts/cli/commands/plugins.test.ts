import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cliSetting } from '../cli-setting.ts';

t.test('a plugin is placed whole, replaced only by --force, and what is none is refused', async (t) => {
  const { root, run } = cliSetting(t);
  const from = join(root, 'weather');
  mkdirSync(from);
  const manifest = (version: string) => {
    const tool = { name: 'today', description: 'Says how the weather is.', input: { type: 'object' }, effect: 'read' };
    const about = { id: 'weather', name: 'Weather', version, license: 'MIT', entry: 'main.mjs', tools: [tool] };
    writeFileSync(join(from, 'plugin.json'), JSON.stringify(about));
  };
  manifest('1.0.0');
  t.match(await run(['plugin', 'add', from]), { code: 2, stderr: /main\.mjs is missing/ });
  writeFileSync(join(from, 'main.mjs'), 'export const tools = { today: () => "fair" };');
  const target = join(root, 'data', 'plugins', 'weather');
  t.match((await run(['plugin', 'add', from, '--json'])).json(), { id: 'weather', version: '1.0.0', path: target });
  manifest('2.0.0');
  t.match(await run(['plugin', 'add', from]), { code: 1, stderr: /is there already/ });
  t.equal((await run(['plugin', 'add', from, '--force'])).code, 0);
  t.match(readFileSync(join(target, 'plugin.json'), 'utf8'), '2.0.0');
  t.strictSame(readdirSync(join(root, 'data', 'plugins')), ['weather'], 'no copy is left');
  t.notOk(existsSync(join(target, 'weather')));
});
