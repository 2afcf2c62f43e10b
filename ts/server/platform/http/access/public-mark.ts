/** A reverse proxy's mark on what it passes on from the public network: `X-Svc-Public-Edge: 1`. */

/**
 * It can only tighten: a marked request is treated as one of the public listener, and nothing makes one of that listener internal. A proxy may add its
 * own line to one that the client sent, so one mark among several values is enough.
 */
export function isMarkedPublic(headers: ReadonlyMap<string, string>): boolean {
  const value = headers.get('x-svc-public-edge');
  if (value === undefined || value === '1') return value === '1';
  return value.split(',').some((one) => one.trim() === '1');
}
