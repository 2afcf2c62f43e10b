/** Where everything lies on a machine that svc is installed on. */
import { join } from 'node:path';

const program = 'usr/lib64/svc';

export const layout = {
  program,
  command: 'usr/bin/svc',
  dist: `${program}/dist`,
  native: `${program}/lib`,
  packages: `${program}/node_modules`,
  node: `${program}/bin/node`,
  models: `${program}/models`,
  /** Where the server looks for the pages, in a checkout too. */
  web: `${program}/build/web`,
  manifest: `${program}/package.json`,
  config: 'etc/svc/svc.toml',
  configAdditions: 'etc/svc/conf.d',
  credentials: 'etc/svc/credentials',
  units: 'usr/lib/systemd/system',
  sysusers: 'usr/lib/sysusers.d/svc.conf',
  tmpfiles: 'usr/lib/tmpfiles.d/svc.conf',
  firewall: 'usr/lib/firewalld/services/svc.xml',
  docs: 'usr/share/doc/svc',
  licenses: 'usr/share/licenses/svc',
  gpuLicenses: 'usr/share/licenses/svc-cuda',
  man: 'usr/share/man/man1',
  bashCompletion: 'usr/share/bash-completion/completions/svc',
  zshCompletion: 'usr/share/zsh/site-functions/_svc',
  fishCompletion: 'usr/share/fish/vendor_completions.d/svc.fish',
} as const;

export type Place = keyof typeof layout;

export function placeIn(root: string, place: Place, ...rest: string[]): string {
  return join(root, layout[place], ...rest);
}
