/**
 * The restrictions of a unit on a machine without a service manager: those that bubblewrap can set up for the program in a root, and the names of
 * those that are left to systemd.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { callFilter } from './call-filter.ts';
import { readService } from './unit-file.ts';

/** By what each is set up below; a directive that is in neither list has to be put into one. */
const inForce = [
  ...['User', 'Group', 'PrivateUsers', 'AmbientCapabilities', 'CapabilityBoundingSet', 'NoNewPrivileges'],
  ...['PrivateDevices', 'PrivateTmp', 'ProtectSystem', 'ProtectHome', 'StateDirectory', 'CacheDirectory', 'WorkingDirectory'],
  ...['SystemCallFilter', 'SystemCallArchitectures', 'SystemCallErrorNumber', 'RestrictAddressFamilies', 'RestrictNamespaces'],
];
const leftToSystemd = [
  ...['DevicePolicy', 'LockPersonality', 'ProtectClock', 'ProtectControlGroups', 'ProtectHostname', 'ProtectKernelLogs'],
  ...['ProtectKernelModules', 'ProtectKernelTunables', 'ProtectProc', 'RemoveIPC', 'RestrictRealtime', 'RestrictSUIDSGID'],
  ...[
    'LimitNOFILE',
    'UMask',
    'StateDirectoryMode',
    'CacheDirectoryMode',
    'ConfigurationDirectory',
    'ConfigurationDirectoryMode',
    'LoadCredential',
  ],
];
/** How it is started and watched, which restricts nothing. */
const noRestriction = [
  ...[
    'Type',
    'ExecStart',
    'Restart',
    'RestartPreventExitStatus',
    'RestartSec',
    'TimeoutStartSec',
    'TimeoutStopSec',
    'WatchdogSec',
    'NotifyAccess',
    'EnvironmentFile',
  ],
];
/** Any; the user that the package makes has one of the system's. */
const USER = '990';

export interface UnitLimits {
  /** Before the program: enters the root under the restrictions. */
  command: string[];
  /** Names of directives. */
  inForce: string[];
  leftToSystemd: string[];
}

/** `folder`: where the filter of system calls may lie. `libraries`: of this machine, read-only, since the root has no C library. */
export async function unitLimits(
  unit: string,
  { root, folder, libraries }: { root: string; folder: string; libraries: readonly string[] },
): Promise<UnitLimits> {
  const service = readService(unit);
  const named = [...service.keys()];
  const unknown = named.filter((name) => ![...inForce, ...leftToSystemd, ...noRestriction].includes(name));
  if (unknown.length > 0) throw new Error(`nobody says whether ${unknown.join(', ')} of the unit can be tried`);
  const filter = join(folder, 'system-calls.bpf');
  mkdirSync(dirname(filter), { recursive: true });
  writeFileSync(filter, await callFilter(service));
  const writable = ['/var/lib/svc', '/var/cache/svc'];
  // The root is read-only once it is entered.
  for (const path of [...writable, '/dev', '/proc', '/tmp']) mkdirSync(join(root, path), { recursive: true });
  const mounts = [
    ...['--ro-bind', root, '/'],
    ...libraries.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', join(root, path), path]),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
  ];
  const privileges = ['--unshare-user', '--unshare-pid', '--uid', USER, '--gid', USER, '--cap-drop', 'ALL', '--die-with-parent'];
  const entered = ['bwrap', '--seccomp', '9', ...mounts, ...privileges, '--chdir', '/var/lib/svc', '--'];
  return {
    // bubblewrap reads the filter from an open file.
    command: ['/bin/sh', '-c', 'filter=$1; shift; exec "$@" 9<"$filter"', 'sh', filter, ...entered],
    inForce: inForce.filter((name) => named.includes(name)),
    leftToSystemd: leftToSystemd.filter((name) => named.includes(name)),
  };
}
