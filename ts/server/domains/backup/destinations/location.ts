/** Where backups go, as an operator writes it: a folder, `s3://BUCKET/PREFIX?...` or `sftp://USER@HOST/FOLDER`. */

import { isAbsolute } from 'node:path';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { backupError } from '../errors.ts';

interface FolderLocation {
  readonly kind: 'folder';
  readonly folder: string;
}

export interface S3Location {
  readonly kind: 's3';
  readonly bucket: string;
  /** Without slashes around it; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** Of the service: scheme, host and port. */
  readonly endpoint: URL;
  /** Whether the bucket is part of the host's name, as Amazon wants it, or of the path. */
  readonly isVirtualHost: boolean;
}

export interface SftpLocation {
  readonly kind: 'sftp';
  readonly user: string;
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Absolute, on that server. */
  readonly folder: string;
}

export type Location = FolderLocation | S3Location | SftpLocation;

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:.]{2,45}\])$/;
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._ -]{0,127}$/;

/** Throws `invalid_destination` with what is wrong; never quotes what may be a password. */
export function parseLocation(text: string): Location {
  if (text.includes('\0') || text.length > 4096) throw refused('The destination is too long, or has a NUL character.');
  if (isAbsolute(text)) return { kind: 'folder', folder: text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 's3:' && url.protocol !== 'sftp:'))
    throw refused('The destination is no absolute path and no address.');
  if (url.password !== '') throw refused('The address holds a password, which belongs into a file.');
  // Reading the address has already walked those steps.
  if (/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(text)) throw refused('The address has a step . or .. in it.');
  if (url.hash !== '') throw refused('The address has a part behind #.');
  return url.protocol === 's3:' ? s3Location(url) : sftpLocation(url, text);
}

function s3Location(url: URL): S3Location {
  const unknown = [...url.searchParams.keys()].find((key) => !['endpoint', 'region', 'style'].includes(key));
  if (unknown !== undefined) throw refused('Behind ? an address of S3 has endpoint, region and style alone.');
  if (url.username !== '' || url.port !== '')
    throw refused('The address of S3 has a bucket where a host would stand, and no more.');
  const bucket = url.hostname;
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const named = url.searchParams.get('endpoint');
  const style = url.searchParams.get('style') ?? (named === null ? 'host' : 'path');
  if (!BUCKET.test(bucket) || bucket.includes('..')) throw refused('The bucket has a name that no bucket can have.');
  if (!REGION.test(region)) throw refused('The region is none.');
  if (style !== 'host' && style !== 'path') throw refused('style is host or path.');
  const endpoint = endpointOf(named ?? `https://s3.${region}.amazonaws.com`);
  return { kind: 's3', bucket, prefix: segmentsOf(url.pathname).join('/'), region, endpoint, isVirtualHost: style === 'host' };
}

function endpointOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol))
    throw refused('endpoint is no address such as https://s3.example:9000.');
  return url;
}

function sftpLocation(url: URL, text: string): SftpLocation {
  if (url.search !== '' || text.includes('?')) throw refused('The address of SFTP has a part behind ?.');
  const { hostname: host } = url;
  const user = decoded(url.username);
  if (!USER.test(user)) throw refused('The address of SFTP needs a user: sftp://USER@HOST/FOLDER.');
  if (!HOST.test(host) || host.includes('..')) throw refused('The host is none.');
  const segments = segmentsOf(url.pathname);
  if (segments.length === 0) throw refused('The address of SFTP needs a folder: sftp://USER@HOST/FOLDER.');
  return {
    kind: 'sftp',
    user,
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 22),
    folder: `/${segments.join('/')}`,
  };
}

function segmentsOf(path: string): string[] {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);
  if (segments.length > 32 || segments.some((segment) => !SEGMENT.test(segment)))
    throw refused('The folder of the address has a name with other than letters, digits, spaces, dots, hyphens and underscores.');
  return segments;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function refused(sentence: string): DomainError {
  return backupError(
    'invalid_destination',
    sentence,
    'Name an absolute path that the user of the server can write to, s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, or sftp://USER@HOST/FOLDER.',
  );
}
