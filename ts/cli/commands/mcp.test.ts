import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cliSetting } from '../cli-setting.ts';

t.setTimeout(120_000);

t.test('a program that is an MCP server is placed on the machine with what it may read and change', async (t) => {
  const { root, run } = cliSetting(t);
  const [script, docs] = [join(root, 'server.js'), join(root, 'docs')];
  writeFileSync(script, '#!/usr/bin/env node\n', { mode: 0o755 });
  mkdirSync(docs);
  const file = join(root, 'data', 'mcp-servers.json');
  const add = (label: string, line: string, ...more: string[]) => run(['mcp', 'add', label, '--command', line, ...more]);
  t.match(await add('files', script), { code: 2, stderr: /is a script/ });
  t.match(await add('files', `node ${script}`, '--write', join(root, 'none')), { code: 2, stderr: /is not there/ });
  t.notOk(existsSync(file), 'what is refused is not placed');
  t.equal((await add('files', `node ${script} ${docs}`, '--read', script, '--write', docs)).code, 0);
  t.equal((await add('files', `node ${script}`, '--tenant', 'blue', '--network')).code, 0);
  const own = {
    tenant: 'default',
    label: 'files',
    command: [process.execPath, script, docs],
    read: [script],
    write: [docs],
    network: false,
  };
  const blue = { tenant: 'blue', label: 'files', command: [process.execPath, script], read: [], write: [], network: true };
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), [own, blue]);
  t.equal((await run(['mcp', 'rm', 'files', '--placed'])).code, 0);
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), [blue]);
  t.match(await run(['mcp', 'rm', 'files', '--placed']), { code: 2, stderr: /no program files of the tenant default/ });
});
