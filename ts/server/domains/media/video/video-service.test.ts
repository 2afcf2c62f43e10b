/** A model is shown frames and speech of a film, and its statements are cited by their seconds. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { anyName } from '../../../platform/module/use-rules.ts';
import { mediaError } from '../errors.ts';
import { findFfmpeg } from '../programs/ffmpeg.ts';
import type { SpeechService } from '../speech/speech-service.ts';
import { type AskModel, VideoService } from './video-service.ts';

const skip = findFfmpeg() === undefined && 'ffmpeg is not installed';
const heard = {
  text: ' Hello there.',
  begin: 0.5,
  end: 1.5,
  avgLogprob: 0,
  noSpeechProb: 0,
  tokens: [],
  texts: [],
  logprobs: [],
  words: [],
};

function serviceWith(askModel: AskModel, speech: Partial<SpeechService>): VideoService {
  const metrics = { done: () => {}, refused: () => {} };
  return new VideoService({ speech: speech as SpeechService, metrics, maxSeconds: 60, nPlaces: 2, askModel: () => askModel });
}

const caller = { tenant: 'red', subject: undefined, kind: 'anonymous', roles: [], scopes: [], keyId: undefined } as const;

function callOf(wantsTranscript?: boolean) {
  const { signal } = new AbortController();
  const owner = { tenant: 'red', user: undefined, key: undefined };
  const frames = { wanted: { kind: 'count', count: 2 }, width: 32, format: 'jpeg' } as const;
  const speech = { model: '', mayUse: anyName, owner, signal, announce: () => {} };
  return { prompt: 'What happens?', model: undefined, frames, wantsTranscript, speech, caller, signal };
}

t.test('statements are cited by the seconds of frames and of speech', { skip }, async (t) => {
  const path = join(t.testdir({}), 'film.mp4');
  const inputs = ['-f', 'lavfi', '-i', 'color=red:s=64x48:r=10:d=4', '-f', 'lavfi', '-i', 'sine=d=4'];
  execFileSync('ffmpeg', ['-loglevel', 'error', ...inputs, '-c:v', 'mpeg4', '-c:a', 'aac', path]);
  let body: { messages?: { role: string; content: { type: string; text?: string }[] }[] } = {};
  const ask: AskModel = async (_, given) => {
    body = given;
    return { model: 'm', choices: [{ message: { content: 'It is red [2]. Somebody greets [3]. Nothing else [9].' } }] };
  };
  const transcript = { segments: [heard], model: 's', language: 'en', duration: 4, speechSeconds: 1 };
  const service = serviceWith(ask, { transcribe: async () => transcript });
  const analysis = await service.analyze(path, callOf());
  t.strictSame(analysis.citations, [
    { n: 2, kind: 'frame', start_seconds: 3, end_seconds: 3 },
    { n: 3, kind: 'speech', start_seconds: 0.5, end_seconds: 1.5 },
  ]);
  const content = body.messages?.[1]?.content ?? [];
  t.strictSame(
    content.map(({ type }) => type),
    ['image_url', 'image_url', 'text'],
  );
  t.match(
    content[2]?.text,
    /\[1\] frame at 1\.0 s\n\[2\] frame at 3\.0 s\n\[3\] spoken from 0\.5 to 1\.5 s: Hello there\.\n\nWhat happens\?/,
  );

  const deaf = serviceWith(ask, { transcribe: async () => Promise.reject(mediaError('no_speech_model', 'There is none.')) });
  t.equal((await deaf.analyze(path, callOf())).transcript, undefined, 'without a speech model it is looked at alone');
  await t.rejects(deaf.analyze(path, callOf(true)), { code: 'no_speech_model' });
});
