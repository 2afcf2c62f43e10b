/** Opens what a location names. */

import { listOf } from '../../platform/config/setting.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { parseAllowedHost } from '../../platform/network/allowed-host.ts';
import type { BackupFiles } from './destinations/backup-files.ts';
import { FolderFiles } from './destinations/folder-files.ts';
import { type Location, parseLocation } from './destinations/location.ts';
import { S3Files } from './destinations/s3/s3-files.ts';
import { SftpFiles } from './destinations/sftp/sftp-files.ts';
import { backupError } from './errors.ts';

/** What distant destinations need beside their address. */
export interface RemoteAccess {
  readonly s3CredentialsFile: string;
  readonly sshKeyFile: string;
  readonly sshKnownHostsFile: string;
  /** Hosts inside the network that a destination may have which was named while the node ran. */
  readonly allowedHosts: string;
}

/** `isTrusted`: the operator wrote it, in a setting or on the command line. Throws `invalid_destination`. */
export function openFiles(text: string, remote: RemoteAccess, isTrusted: boolean): BackupFiles {
  const location = parseLocation(text);
  const { s3CredentialsFile: credentialsFile, sshKeyFile: keyFile, sshKnownHostsFile: knownHostsFile } = remote;
  switch (location.kind) {
    case 'folder':
      return new FolderFiles(location.folder);
    case 's3':
      return new S3Files({ location, credentialsFile, policy: policyFor(location, remote, isTrusted) });
    case 'sftp':
      return new SftpFiles({ location, keyFile, knownHostsFile, policy: policyFor(location, remote, isTrusted) });
  }
}

function policyFor(
  location: Exclude<Location, { kind: 'folder' }>,
  { allowedHosts }: RemoteAccess,
  isTrusted: boolean,
): AddressPolicy {
  const allowed = listOf(allowedHosts).flatMap((entry) => parseAllowedHost(entry) ?? []);
  return new AddressPolicy({ trusted: isTrusted ? originsOf(location) : [], allowed, refusal });
}

function originsOf(location: Exclude<Location, { kind: 'folder' }>): URL[] {
  if (location.kind === 'sftp') {
    const { host, port } = location;
    return [new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)];
  }
  const { endpoint, bucket, isVirtualHost } = location;
  if (!isVirtualHost) return [endpoint];
  const own = new URL(endpoint);
  own.hostname = `${bucket}.${endpoint.hostname}`;
  return [own];
}

function refusal(sentence: string): DomainError {
  const remedy =
    'Name a host on the internet, or, if that host is yours, have it named in backup.allowed_hosts or in backup.destination.';
  return backupError('invalid_destination', `The destination is refused: ${sentence}.`, remedy);
}
