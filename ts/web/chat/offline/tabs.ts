/** Tabs of one browser tell each other what they change, so that they show the same. */
import type { WholeConversation } from '../thread/message.ts';

export type TabMessage =
  | { kind: 'changed'; conversation: WholeConversation }
  /** Undefined: all of them. */
  | { kind: 'erased'; id: string | undefined };

const channel = new BroadcastChannel('svc.chat');

export function tellTabs(message: TabMessage): void {
  channel.postMessage(message);
}

export function hearTabs(hear: (message: TabMessage) => void): void {
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => hear(data));
}
