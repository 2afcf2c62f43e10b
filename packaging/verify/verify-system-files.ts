/** What the package gives to the system: units, users and folders, the firewall, completions, manual pages. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runTool } from '../run-tool.ts';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';
import { verifyCompletions } from './verify-completions.ts';

const HIGHEST_EXPOSURE = 2;

export async function verifySystemFiles(checks: Checks, tree: string): Promise<void> {
  for (const unit of ['svc.service', 'svc@.service']) {
    await checks.try(`${unit}: exposure below 2.0`, async () => {
      const args = ['security', '--offline=true', '--no-pager', join(tree, layout.units, unit)];
      const said = await runTool('systemd-analyze', args, { debianPackage: 'systemd' });
      const exposure = Number(/Overall exposure level[^:]*: ([\d.]+)/.exec(said)?.[1]);
      expect(exposure < HIGHEST_EXPOSURE, `it is ${exposure}`);
      return `${exposure}`;
    });
  }
  await verifyCompletions(checks, tree);
  await checks.try('every command has its manual page', () => {
    const pages = globSync('*.1.gz', { cwd: join(tree, layout.man) });
    const broken = pages.filter(
      (page) =>
        !gunzipSync(readFileSync(join(tree, layout.man, page)))
          .toString()
          .startsWith('.TH '),
    );
    expect(pages.length > 20 && broken.length === 0, `${pages.length} pages, broken: ${broken.join(', ')}`);
    return `${pages.length} pages`;
  });
  await checks.try('sysusers.d makes the user and the group', async () => {
    const root = mkdtempSync(join(tmpdir(), 'svc-sysusers-'));
    mkdirSync(join(root, 'etc'));
    await runTool('systemd-sysusers', [`--root=${root}`, join(tree, layout.sysusers)], { debianPackage: 'systemd' });
    const read = (file: string) => readFileSync(join(root, 'etc', file), 'utf8');
    expect(/^svc:x:\d+:\d+:[^:]*:\/var\/lib\/svc:\/usr\/sbin\/nologin$/m.test(read('passwd')), read('passwd'));
    expect(/^svc:x:\d+:$/m.test(read('group')), read('group'));
    rmSync(root, { recursive: true });
    return undefined;
  });
  await checks.try('every line of tmpfiles.d is one that systemd reads', async () => {
    const args = ['--create', '--dry-run', '--prefix=/nowhere', join(tree, layout.tmpfiles)];
    const lines = readFileSync(join(tree, layout.tmpfiles), 'utf8').trim().split('\n');
    const wrong = lines.filter((line) => !/^d \/(var|etc)\/\S+ 0[0-7]{3} (svc|root) (svc|root) -$/.test(line));
    expect(wrong.length === 0, wrong.join('; '));
    // Releases before 256 know no --dry-run; a prefix that nothing has is the same to them.
    await runTool(
      'systemd-tmpfiles',
      args.filter((arg) => arg !== '--dry-run'),
      { debianPackage: 'systemd' },
    );
    return `${lines.length} folders`;
  });
  await checks.try('the service of the firewall opens the public port and no other', () => {
    const ports = [...readFileSync(join(tree, layout.firewall), 'utf8').matchAll(/<port protocol="(\w+)" port="(\d+)"\/>/g)];
    expect(
      ports.length === 1 && ports[0]?.[1] === 'tcp' && ports[0]?.[2] === '443',
      `it opens ${ports.map(([all]) => all).join(' ')}`,
    );
    return undefined;
  });
}
