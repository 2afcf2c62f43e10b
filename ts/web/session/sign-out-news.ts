/** Tells the other tabs of the browser that the reader has signed out, so that none goes on showing what was theirs. */
const channel = new BroadcastChannel('svc.session');

export function tellSignOut(): void {
  channel.postMessage('left');
}

export function hearSignOut(hear: () => void): void {
  channel.addEventListener('message', hear);
}
