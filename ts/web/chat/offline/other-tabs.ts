/** Tells tabs of one browser that an answer begins, so that those that show its conversation show it while it is written. */
const CHANNEL = 'svc-answers';
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(CHANNEL);

export function tellOtherTabs(conversationId: string): void {
  channel?.postMessage(conversationId);
}

export function listenToOtherTabs(onAnswer: (conversationId: unknown) => void): void {
  channel?.addEventListener('message', ({ data }) => onAnswer(data));
}
