/** Usage, quotas, license and role enforcement as an operator works with them: with `svc`, on a running node. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { signLicense } from '../scripts/license/sign-license.ts';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.setTimeout(300_000);

t.test('an operator reads usage, sets quotas, looks at the license and enforces roles', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, { folder });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const run = (...args: string[]) => runCli([...args, '--json'], { env });
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  const svc = async (...args: string[]): Promise<any> => {
    const { code, stdout, stderr } = await run(...args);
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${code} ${stderr}`);
    return JSON.parse(stdout) as unknown;
  };
  await svc('admin', 'create', 'ann');
  await svc('tenant', 'create', 'acme');
  await svc('user', 'create', 'bob', '--tenant', 'acme', '--role', 'admin');
  const key = await svc('key', 'create', 'ci', '--user', 'bob');
  const bearer = { authorization: `Bearer ${key.api_key}` };
  const chat = () =>
    post(
      `${server.url}/v1/chat/completions`,
      { model: chatModel, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] },
      bearer,
    );

  t.match(await svc('quota', 'set', '--user', 'bob', '--requests-per-month', '1'), { tenant: 'acme', requests_per_month: 1 });
  t.equal((await chat()).status, 200);
  t.match(await chat(), { status: 429, json: { error: { code: 'quota_exceeded', exceeded: { quota: 'requests_per_month' } } } });
  t.match(await svc('quota', 'list'), [{ tenant: 'acme', used: { month: { requests: 1 } } }]);
  await svc('quota', 'set', '--user', 'bob', '--requests-per-month', 'none');
  t.strictSame(await svc('quota', 'list'), []);
  t.equal((await run('quota', 'set', '--user', 'bob')).code, 2);
  t.equal((await run('quota', 'set', '--tokens-per-minute', '0')).code, 2);
  t.match(await svc('usage', '--by', 'key'), { data: [{ tenant: 'acme', id: key.id, requests: 1 }] });
  t.match(await svc('usage', '--by', 'tenant', '--tenant', 'acme'), { data: [{ id: 'acme', requests: 1 }] });

  const shown = await svc('license', 'show');
  t.match(shown, { status: 'evaluation', license_id: null });
  const terms = {
    id: 'lic_1',
    licensee: 'Example GmbH',
    tier: 'team',
    features: ['rag'],
    installation: shown.installation,
    issued_at: '2026-01-01T00:00:00Z',
    valid_from: '2026-01-01T00:00:00Z',
    expires_at: null,
  };
  const forged = join(folder, 'forged.json');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(forged, JSON.stringify(signLicense(terms, { id: 'svc-2026', privateKey })));
  t.match(await run('license', 'verify', forged), { stdout: /license_tampered/ });
  t.not((await run('license', 'verify', forged)).code, 0);
  t.match(await run('license', 'install', forged), { stderr: /signature does not match/ });
  t.equal((await run('license', 'install', join(folder, 'nothing.json'))).code, 4);
  t.equal((await chat()).status, 200, 'inference goes on');

  const load = () => post(`${server.url}/api/v1/inference/models/${chatModel}/load`, {}, bearer);
  t.match(await svc('security', 'enforcement'), { mode: 'stub_allow', tenants: [] });
  t.equal((await load()).status, 200);
  await svc('security', 'enforcement', 'audit');
  t.equal((await load()).status, 200, 'what concerns all tenants passes, and is listed');
  await svc('security', 'enforcement', 'enforce', '--tenant', 'acme');
  t.match(await load(), { status: 403, json: { error: 'tool_call_denied', needed_role: 'superadmin' } });
  const decisions = await svc('security', 'decisions');
  t.match(decisions, [{ tool: 'models.load', outcome: 'denied' }, { outcome: 'allowed' }]);
  await svc('security', 'enforcement', 'node', '--tenant', 'acme');
  await svc('roles', 'security', 'off');
  t.equal((await load()).status, 200, 'without the role nothing is enforced');
  t.equal((await send(`${server.url}/api/v1/security/enforcement`, { headers: bearer })).status, 503);
  t.match(await svc('audit'), [{}], 'the audit log is there without the role');
});
