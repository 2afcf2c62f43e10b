/** Links of messages are not followed at once: an address can carry away what the conversation holds. */
import { linkAddress } from '../dialogs.ts';

/** Handles a click anywhere in messages. */
export function interceptLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a[href]');
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  linkAddress.value = link.href;
}
