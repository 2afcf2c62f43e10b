/** Classes of lines that are kept, and in no index, search or tail. */
import { CANARY_CLASS } from '../collection/copy-files.ts';

/** Lines of firewalls about what they let pass: too many, and archived for whoever asks for the files. */
export const ARCHIVED_CLASS = 'firewall_allowed';

export function isIndexed(className: string): boolean {
  return className !== ARCHIVED_CLASS && className !== CANARY_CLASS;
}
