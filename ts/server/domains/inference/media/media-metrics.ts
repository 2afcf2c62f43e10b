/** The metrics of images and sounds that are decoded. */
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { MediaDecoder } from './media-decoder.ts';

export function observeMedia(registry: MetricsRegistry, decoder: MediaDecoder): void {
  const gauge = (name: string, help: string) => registry.gauge(`svc_inference_media_${name}`, help).with();
  const waiting = gauge('waiting', 'Images and sounds that wait to be decoded.');
  const bytes = gauge('bytes', 'Of those that wait or are being decoded: their files, and the pixels that they will come to.');
  const processes = gauge('processes', 'Processes that decode, each for one tenant.');
  registry.onCollect(() => {
    const { nWaiting, waitingBytes, nProcesses } = decoder.stats();
    waiting.set(nWaiting);
    bytes.set(waitingBytes);
    processes.set(nProcesses);
  });
}
