/** The metrics of the module. */
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { SpeechModels } from './speech-models.ts';

export interface MediaMetrics {
  done(audioSeconds: number, wallSeconds: number): void;
  refused(code: string): void;
}

export function mediaMetrics(registry: MetricsRegistry, models: SpeechModels): MediaMetrics {
  const jobs = registry.counter('svc_media_jobs_total', 'Recordings that became text.').with();
  const seconds = registry.counter('svc_media_audio_seconds_total', 'Seconds of sound in them.').with();
  const factor = registry.gauge('svc_media_real_time_factor', 'Seconds that the last recording took for each of its own.').with();
  const refusals = registry.counter('svc_media_refusals_total', 'Recordings that became no text, by reason.', ['reason']);
  const waiting = registry.gauge('svc_media_waiting', 'Recordings that wait for a state of a model.').with();
  const slice = registry.gauge('svc_media_slice_seconds', 'The longest time that a speech model held the cores at once.').with();
  registry.onCollect(() => {
    const { nWaiting, longestSliceMs } = models.stats();
    waiting.set(nWaiting);
    slice.set(longestSliceMs / 1000);
  });
  return {
    done: (audioSeconds, wallSeconds) => {
      jobs.add(1);
      seconds.add(audioSeconds);
      if (audioSeconds > 0) factor.set(wallSeconds / audioSeconds);
    },
    refused: (reason) => refusals.with({ reason }).add(1),
  };
}
