/** The open conversation stands behind the `#` of the address, so that a reload and the browser's way back find it. */

import { openSharedArtifact } from './artifacts/shown-artifact.ts';
import { focusComposer } from './composer/composer-focus.ts';
import { fetchShared } from './sharing/shared-thread.ts';
import { openConversation } from './thread/open-conversation.ts';
import { beginNew, conversation, failure, shared, showShared } from './thread/shown-thread.ts';

/** `c`: a conversation of one's own. `s`, `a`: one, and an artifact, that somebody shared. */
const PATTERN = /^#([csa])=([A-Za-z0-9_-]{1,64})$/;

export function addressed(): { kind: string; id: string } | undefined {
  const [, kind, id] = PATTERN.exec(location.hash) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

export function navigateTo(id: string | undefined): void {
  const hash = id === undefined ? '' : `#c=${id}`;
  if (location.hash !== hash) history.pushState(undefined, '', `${location.pathname}${hash}`);
  followAddress();
}

export function followAddress(): void {
  const target = addressed();
  const failed = (error: unknown): void => {
    failure.value = error;
  };
  if (target?.kind === 's') followShare(target.id).catch(failed);
  else if (target?.kind !== 'c') beginNew();
  else if (conversation.value?.id !== target.id) openConversation(target.id).catch(failed);
  if (target?.kind === 'a') openSharedArtifact(target.id).catch(failed);
  focusComposer();
}

async function followShare(id: string): Promise<void> {
  if (shared.value?.share === id) return;
  beginNew();
  const thread = await fetchShared(id);
  // The reader may have gone on meanwhile.
  if (addressed()?.id === id) showShared(thread);
}

/** A conversation that has just begun gets its address. */
export function writeAddress(id: string): void {
  if (addressed()?.id !== id) history.replaceState(undefined, '', `${location.pathname}#c=${id}`);
}
