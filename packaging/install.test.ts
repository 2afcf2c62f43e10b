/** The installer on each system that the interface names, by what such systems say of themselves. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const script = join(import.meta.dirname, 'install.sh');
const folder = t.testdir();
const x86 = 'flags\t\t: fpu sse2 avx avx2 fma';
const arm = 'Features\t: fp asimd asimddp';

interface Machine {
  id: string;
  like?: string;
  release: string;
  name: string;
  machine?: string;
  cpu?: string;
  memoryKib?: number;
  /** Programs that stand in for those of the system, as scripts. */
  programs?: Record<string, string>;
}

function check(machine: Machine, ...options: string[]) {
  return run(machine, '--check', ...options);
}

function run(
  {
    id,
    like,
    release,
    name,
    machine = 'x86_64',
    cpu = machine === 'x86_64' ? x86 : arm,
    memoryKib = 8_000_000,
    programs = {},
  }: Machine,
  ...options: string[]
) {
  const file = (suffix: string, text: string) => {
    const path = join(folder, suffix);
    writeFileSync(path, text);
    return path;
  };
  const lines = [
    `NAME="${name}"`,
    `ID=${id}`,
    ...(like === undefined ? [] : [`ID_LIKE="${like}"`]),
    `VERSION_ID="${release}"`,
    `PRETTY_NAME="${name}"`,
  ];
  rmSync(join(folder, 'bin'), { recursive: true, force: true });
  for (const [program, text] of Object.entries(programs)) {
    mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'bin', program), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    SVC_INSTALL_REPOSITORY_FOLDER: folder,
    SVC_INSTALL_OS_RELEASE: file('os-release', `${lines.join('\n')}\n`),
    SVC_INSTALL_CPUINFO: file('cpuinfo', `${cpu}\n`),
    SVC_INSTALL_MEMINFO: file('meminfo', `MemTotal:       ${memoryKib} kB\n`),
    SVC_INSTALL_MACHINE: machine,
    SVC_INSTALL_DATA_FOLDER: folder,
    SVC_INSTALL_PORT: '1',
  };
  return spawnSync('sh', [script, ...options], { env, cwd: folder, encoding: 'utf8' });
}

const fedora = (release: string): Machine => ({ id: 'fedora', release, name: `Fedora Linux ${release} (Server Edition)` });

t.test('supported systems', (t) => {
  for (const release of ['43', '44'])
    for (const machine of ['x86_64', 'aarch64']) {
      const { status, stdout, stderr } = check({ ...fedora(release), machine });
      t.equal(status, 0, `${release} on ${machine}: ${stderr}`);
      t.match(stdout, `Fedora Linux ${release} (Server Edition) on ${machine}`);
      t.equal(stderr, '');
    }
  t.equal(check(fedora('43'), '--gpu').status, 0);
  t.end();
});

const refused: (Machine & { options?: string[] })[] = [
  fedora('42'),
  fedora('45'),
  { ...fedora('43'), machine: 'i686' },
  { ...fedora('44'), options: ['--gpu'] },
  { ...fedora('43'), machine: 'aarch64', options: ['--gpu'] },
  { id: 'rhel', like: 'fedora', release: '9.6', name: 'Red Hat Enterprise Linux 9.6 (Plow)' },
  { id: 'rocky', like: 'rhel centos fedora', release: '9.5', name: 'Rocky Linux 9.5 (Blue Onyx)' },
  { id: 'almalinux', like: 'rhel centos fedora', release: '10.0', name: 'AlmaLinux 10.0 (Purple Lion)' },
  { id: 'centos', like: 'rhel fedora', release: '10', name: 'CentOS Stream 10 (Coughlan)' },
  { id: 'ol', like: 'fedora rhel', release: '9.4', name: 'Oracle Linux Server 9.4' },
  { id: 'debian', release: '12', name: 'Debian GNU/Linux 12 (bookworm)' },
  { id: 'ubuntu', like: 'debian', release: '24.04', name: 'Ubuntu 24.04 LTS' },
];

t.test('other systems are refused with exit code 2, by name', (t) => {
  for (const { options = [], ...machine } of refused) {
    const { status, stderr } = check(machine, ...options);
    t.equal(status, 2, machine.name);
    t.match(stderr, machine.name);
  }
  t.end();
});

t.test('a CPU without the instructions for local models is warned of', (t) => {
  const old = check({ ...fedora('43'), cpu: 'flags\t\t: fpu sse2 avx' });
  t.equal(old.status, 0);
  t.match(old.stderr, /no AVX2: local models are unavailable/);
  const pi4 = check({ ...fedora('43'), machine: 'aarch64', cpu: 'Features\t: fp asimd evtstrm crc32 cpuid' });
  t.equal(pi4.status, 0);
  t.match(pi4.stderr, /Raspberry Pi 4/);
  t.end();
});

t.test('too little memory is refused with the figure', (t) => {
  const { status, stderr } = check({ ...fedora('43'), memoryKib: 500_000 });
  t.equal(status, 1);
  t.match(stderr, /488 MiB of memory, and svc needs 1024/);
  t.end();
});

t.test('os-release is read and never run', (t) => {
  const { status, stderr } = check({ id: '$(touch /tmp/owned)', release: '`id`', name: '$(id)' });
  t.equal(status, 2);
  t.match(stderr, '$(id)');
  t.end();
});

t.test('what is no option is told', (t) => {
  t.match(check(fedora('43'), '--nonsense'), { status: 1, stderr: /--nonsense is no option/ });
  t.end();
});

t.test('too little room on the disk is refused with the figure', (t) => {
  const df = 'echo Filesystem; echo "/dev/x 9 9 512000 9% /var/lib"';
  const { status, stderr } = check({ ...fedora('43'), programs: { df } });
  t.equal(status, 1);
  t.match(stderr, /has 500 MiB free, and svc needs 1024: make room/);
  t.end();
});

t.test('a port that another program has is refused, and one that svc itself has is not', (t) => {
  const ss = 'echo "LISTEN 0 511 127.0.0.1:1 0.0.0.0:*"';
  const taken = check({ ...fedora('43'), programs: { ss, systemctl: 'exit 3' } });
  t.equal(taken.status, 1);
  t.match(taken.stderr, /another program listens on port 1: stop it/);
  t.equal(check({ ...fedora('43'), programs: { ss, systemctl: 'exit 0' } }).status, 0);
  t.equal(check({ ...fedora('43'), programs: { ss: 'exit 0', systemctl: 'exit 3' } }).status, 0);
  t.end();
});

/** Programs that write down how they were called. */
function recorders(checksig = 'digests signatures OK') {
  const log = join(folder, 'calls');
  rmSync(log, { force: true });
  const record = `echo "$(basename "$0") $*" >>${log}`;
  return {
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    programs: {
      id: 'echo 0',
      ss: 'exit 0',
      dnf: record,
      systemctl: `[ "$1" = is-active ] && exit 3; ${record}`,
      rpm: `${record}; [ "$1" = --checksig ] && echo "$2: ${checksig}"; exit 0`,
    },
  };
}

t.test('a signed package is checked, installed and started, and the next three commands are printed', (t) => {
  const { calls, programs } = recorders();
  writeFileSync(join(folder, 'svc.rpm'), '');
  const { status, stdout, stderr } = run({ ...fedora('43'), programs }, '--package', 'svc.rpm', '--key', 'packages.asc');
  t.equal(status, 0, stderr);
  t.strictSame(calls(), [
    `rpm --import ${join(folder, 'packages.asc')}`,
    'rpm --checksig svc.rpm',
    'dnf install -y svc.rpm',
    'systemctl enable --now svc.socket svc.service',
  ]);
  const next = stdout.slice(stdout.indexOf('Next:')).trim().split('\n').slice(1);
  t.match(next, [
    /curl http:\/\/127\.0\.0\.1:1\/v1\/models/,
    /sudo -u svc svc doctor/,
    /sudo -u svc svc admin create NAME --key/,
  ]);
  t.equal(next.length, 3);
  t.end();
});

t.test('a package without a good signature is not installed, unless the operator says so', (t) => {
  for (const said of ['digests OK', 'digests SIGNATURES NOT OK']) {
    const { calls, programs } = recorders(said);
    const { status, stderr } = run({ ...fedora('43'), programs }, '--package', 'svc.rpm');
    t.equal(status, 1);
    t.match(stderr, /has no good signature: give the publisher's --key, or --allow-unsigned/);
    t.notOk(calls().some((call) => call.startsWith('dnf')));
  }
  const { calls, programs } = recorders('digests OK');
  t.equal(run({ ...fedora('43'), programs }, '--package', 'svc.rpm', '--allow-unsigned').status, 0);
  t.strictSame(calls()[0], 'dnf install -y --nogpgcheck svc.rpm');
  t.end();
});

t.test('a good signature is one in whatever language the operator has', (t) => {
  const { calls, programs } = recorders();
  const rpm = `[ "$1" = --checksig ] || exit 0
if [ "\${LC_ALL:-}" = C ]; then echo "$2: digests signatures OK"; else echo "$2: Zusammenfassungen Signaturen OK"; fi`;
  writeFileSync(join(folder, 'svc.rpm'), '');
  const machine = { ...fedora('43'), programs: { ...programs, rpm } };
  const { status, stderr } = run(machine, '--package', 'svc.rpm');
  t.equal(status, 0, stderr);
  t.ok(calls().includes('dnf install -y svc.rpm'));
  t.end();
});

t.test('the GPU package is installed with svc, or asked for', (t) => {
  const { calls, programs } = recorders();
  writeFileSync(join(folder, 'svc-cuda.rpm'), '');
  const machine = { ...fedora('43'), programs };
  t.match(run(machine, '--gpu', '--package', 'svc.rpm'), { status: 1, stderr: /name the GPU package too/ });
  t.strictSame(calls(), []);
  t.equal(run(machine, '--gpu', '--package', 'svc.rpm', '--package', 'svc-cuda.rpm').status, 0);
  t.ok(calls().includes('dnf install -y svc.rpm svc-cuda.rpm'), calls().join('; '));
  t.end();
});

t.test('a repository is written down with its key, and must be https', (t) => {
  const { calls, programs } = recorders();
  writeFileSync(join(folder, 'packages.asc'), '');
  const machine = { ...fedora('43'), programs };
  t.match(run(machine, '--repository', 'http://packages.example'), { status: 1, stderr: /must be an https address/ });
  t.match(run(machine, '--repository', 'https://a.example\nx=1'), { status: 1, stderr: /has a blank in it/ });
  t.match(run(machine), { status: 1, stderr: /name what to install/ });
  t.strictSame(calls(), []);
  t.equal(run(machine, '--repository', 'https://packages.example', '--key', 'packages.asc', '--gpu').status, 0);
  const lines = readFileSync(join(folder, 'svc.repo'), 'utf8').trim().split('\n');
  t.strictSame(lines.slice(0, 3), ['[svc]', 'name=svc', 'baseurl=https://packages.example']);
  t.ok(lines.includes('gpgcheck=1') && lines.includes('repo_gpgcheck=1'));
  t.ok(lines.includes(`gpgkey=file://${join(folder, 'packages.asc')}`));
  t.strictSame(calls()[0], 'dnf install -y svc svc-cuda');
  t.end();
});

t.test("the page's commands of the installer are those that it takes", (t) => {
  const page = readFileSync(join(import.meta.dirname, '../docs/install/package.md'), 'utf8');
  const lines = [...page.matchAll(/^sudo sh (?:packaging\/)?install\.sh (.*?)\s*(?:#.*)?$/gm)].map(([, words = '']) => words);
  t.equal(lines.length, 2);
  for (const words of lines) {
    const { calls, programs } = recorders(words.includes('--key') ? undefined : 'digests OK');
    const file = /--package (\S+)/.exec(words)?.[1] ?? '';
    writeFileSync(join(folder, file), '');
    t.equal(run({ ...fedora('44'), programs }, ...words.split(' ')).status, 0, words);
    t.ok(
      calls().some((call) => call.startsWith('dnf install') && call.endsWith(file)),
      calls().join('; '),
    );
  }
  t.end();
});
