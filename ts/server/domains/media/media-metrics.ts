/** The metrics of the module. */
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { SpeechModels } from './speech/speech-models.ts';

export interface MediaMetrics {
  /** Work is done; `audioSeconds` are those of the recording that was heard, or of the speech that was made. */
  done(kind: 'transcription' | 'speech' | 'video', amounts: { audioSeconds: number; wallSeconds: number }): void;
  refused(code: string): void;
}

export function mediaMetrics(registry: MetricsRegistry, models: SpeechModels): MediaMetrics {
  const jobs = registry.counter('svc_media_jobs_total', 'Recordings, texts and films that were worked on, by kind.', ['kind']);
  const seconds = registry.counter('svc_media_audio_seconds_total', 'Seconds of sound in them, by kind.', ['kind']);
  const factor = registry.gauge('svc_media_real_time_factor', 'Seconds that the last one took for each of its own.', ['kind']);
  const refusals = registry.counter('svc_media_refusals_total', 'Work that was refused or failed, by reason.', ['reason']);
  const waiting = registry.gauge('svc_media_waiting', 'Recordings that wait for a state of a model.').with();
  const slice = registry.gauge('svc_media_slice_seconds', 'The longest time that a speech model held the cores at once.').with();
  registry.onCollect(() => {
    const { nWaiting, longestSliceMs } = models.stats();
    waiting.set(nWaiting);
    slice.set(longestSliceMs / 1000);
  });
  return {
    done: (kind, { audioSeconds, wallSeconds }) => {
      jobs.with({ kind }).add(1);
      seconds.with({ kind }).add(audioSeconds);
      if (audioSeconds > 0) factor.with({ kind }).set(wallSeconds / audioSeconds);
    },
    refused: (reason) => refusals.with({ reason }).add(1),
  };
}
