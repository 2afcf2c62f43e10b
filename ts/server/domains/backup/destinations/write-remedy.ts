/** What to do about a folder that cannot be written: most often it is the service's unit that forbids it, not the folder. */

const refusals = new Set(['EROFS', 'EACCES', 'EPERM']);

/** `otherwise`: what to do where neither an owner nor a mount is the cause. */
export function writeRemedy(error: unknown, folder: string, otherwise: string): string {
  if (!refusals.has((error as NodeJS.ErrnoException).code ?? '')) return otherwise;
  return (
    `Make ${folder} belong to the user of the server. Under systemd the server may write into no folder that its unit does not name either: ` +
    `\`sudo systemctl edit svc.service\`, there [Service] and ReadWritePaths=${folder}, then \`sudo systemctl restart svc.service\`.`
  );
}
