/**
 * A frame of an origin of its own, which nothing else has: what runs in it reaches neither the page, its cookies nor any network. The
 * page sends it a document; the policy of /sandbox holds for that document too.
 */

interface SandboxFrame {
  readonly element: HTMLIFrameElement;
  /** Ends what runs in it. */
  close(): void;
}

const MIN_HEIGHT = 120;
const MAX_HEIGHT = 900;

/** `html`: a whole document. One that sends `{height}` gets so many pixels. */
export function openSandbox(title: string, html: string | Promise<string>): SandboxFrame {
  const element = document.createElement('iframe');
  element.title = title;
  element.className = 'sandbox';
  element.setAttribute('sandbox', 'allow-scripts');
  element.referrerPolicy = 'no-referrer';
  element.src = '/sandbox';
  const onMessage = ({ source, data }: MessageEvent<unknown>): void => {
    if (source === null || source !== element.contentWindow) return;
    if (data === 'svc.sandbox.ready') void send(element, html);
    const height = (data as { height?: unknown } | null)?.height;
    if (typeof height === 'number' && Number.isFinite(height))
      element.style.height = `${Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(height)))}px`;
  };
  addEventListener('message', onMessage);
  return {
    element,
    close: () => {
      removeEventListener('message', onMessage);
      element.remove();
    },
  };
}

/** Its origin has no name that a message could be addressed to. */
async function send(element: HTMLIFrameElement, html: string | Promise<string>): Promise<void> {
  element.contentWindow?.postMessage({ html: await html }, '*');
}
