/** The scripts that packages run when they are installed and removed, below a folder of the test and beside a service manager that stands in. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

/** Knows which units are enabled, and writes down what it was asked. */
const systemctl = `
words=''; named=''
echo "systemctl $*" >>"$ROOT/calls"
for word in "$@"; do case $word in --*) ;; *) if [ -z "$words" ]; then words=$word; else named="$named $word"; fi ;; esac; done
case $words in
  is-enabled) [ -e "$ROOT/enabled/\${named# }" ] ;;
  enable) for unit in $named; do : >"$ROOT/enabled/$unit"; done ;;
  disable) for unit in $named; do rm -f "$ROOT/enabled/$unit"; done ;;
esac`;
const wants = 'etc/systemd/system/multi-user.target.wants';

function machine(t: Test) {
  const root = t.testdir({ bin: {}, enabled: {} });
  const programs = { systemctl, getent: '', chown: '' };
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const folder of ['etc/svc/conf.d', wants, 'run/systemd/system', 'var/lib/svc', 'var/cache/svc', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true });
  symlinkSync(join(root, 'bin/systemctl'), join(root, 'usr/bin/systemctl'));
  writeFileSync(join(root, 'etc/svc/svc.toml'), '');
  const run = (script: string, ...args: string[]): string => {
    const text = script.replaceAll(/(?<![\w/.])\/(?=(?:etc|run|var)\/|usr\/bin\/systemctl)/g, `${root}/`);
    const env = { ...process.env, ROOT: root, PATH: `${join(root, 'bin')}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', text, 'script', ...args], { env, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    return stdout;
  };
  const enable = (unit: string): void => {
    writeFileSync(join(root, 'enabled', unit), '');
    if (unit.startsWith('svc@')) symlinkSync('/nowhere', join(root, wants, unit));
  };
  const calls = () => readFileSync(join(root, 'calls'), 'utf8');
  return { root, run, enable, calls, enabled: () => readdirSync(join(root, 'enabled')).sort() };
}

const deb = (name: string): string => readFileSync(join(import.meta.dirname, 'deb', name), 'utf8');
const spec = readFileSync(join(import.meta.dirname, 'rpm/svc.spec'), 'utf8');
const rpm = (name: string): string => new RegExp(`^%${name}\\n([\\s\\S]*?)^%\\w`, 'm').exec(spec)?.[1] ?? '';

t.test('deb: what is removed and installed again runs again, with its instances', (t) => {
  const { run, enabled, enable, root } = machine(t);
  run(deb('postinst'), 'configure', '');
  t.strictSame(enabled(), ['svc.service', 'svc.socket']);
  enable('svc@two.service');
  run(deb('prerm'), 'remove');
  t.strictSame(enabled(), []);
  run(deb('postinst'), 'configure', '5.0.1');
  t.strictSame(enabled(), ['svc.service', 'svc.socket', 'svc@two.service']);
  t.notOk(existsSync(join(root, 'etc/svc/.switched-off')));
  t.end();
});

t.test('deb: an upgrade restarts instances too, and enables nothing that the operator switched off', (t) => {
  const { run, enabled, calls } = machine(t);
  run(deb('prerm'), 'upgrade', '5.0.2');
  run(deb('postinst'), 'configure', '5.0.1');
  t.strictSame(enabled(), []);
  t.match(calls(), 'systemctl try-restart svc.service svc@*.service');
  run(deb('prerm'), 'remove');
  run(deb('postinst'), 'configure', '5.0.1');
  t.strictSame(enabled(), [], 'and neither does an installation after a removal');
  t.end();
});

t.test('deb: a purge deletes the data and keeps the backups, and says where', (t) => {
  const { run, root } = machine(t);
  mkdirSync(join(root, 'var/lib/svc/models'));
  writeFileSync(join(root, 'var/lib/svc/svc.db'), '');
  mkdirSync(join(root, 'var/lib/svc/backups/chunks'), { recursive: true });
  t.match(run(deb('postrm'), 'purge'), /backups in \S*\/var\/lib\/svc\/backups are kept/);
  t.strictSame(readdirSync(join(root, 'var/lib/svc')), ['backups']);
  t.notOk(existsSync(join(root, 'etc/svc')));
  const other = machine(t);
  t.equal(other.run(deb('postrm'), 'purge'), '');
  t.notOk(existsSync(join(other.root, 'var/lib/svc')));
  t.end();
});

t.test('rpm: a removal stops and disables instances too, and an upgrade restarts them', (t) => {
  const { run, enabled, enable, calls } = machine(t);
  for (const unit of ['svc.service', 'svc.socket', 'svc@two.service']) enable(unit);
  run(rpm('preun'), '1');
  t.strictSame(enabled(), ['svc.service', 'svc.socket', 'svc@two.service']);
  run(rpm('postun'), '1');
  t.match(calls(), 'systemctl try-restart svc.service svc@*.service');
  run(rpm('preun'), '0');
  t.strictSame(enabled(), []);
  t.match(calls(), 'systemctl stop svc@*.service');
  t.end();
});
