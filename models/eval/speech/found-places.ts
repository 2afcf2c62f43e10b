/** Four recorded talks in a knowledge base: questions find the talk and the seconds in which the answer is said. */
import { wav } from '../../../ts/server/domains/inference/media/test-support/sounds.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { type Clip, joined, RATE } from './clips.ts';
import { QUESTIONS, TALKS } from './sentences.ts';

const NAMESPACE = 'talks';
const NEAR_SECONDS = 2;
const REST_SECONDS = 0.8;

interface Place {
  source: string;
  start_seconds?: number;
  end_seconds?: number;
}

/** `speak` gives a clip of each sentence. */
export async function measureFoundPlaces(
  url: string,
  speak: (sentences: readonly string[]) => Promise<Clip[]>,
): Promise<Figure[]> {
  const places = new Map<string, { begin: number; end: number }[]>();
  const clips = await speak(TALKS.flatMap(({ says }) => says));
  for (const { name, says } of TALKS) {
    const own = await joined(clips.splice(0, says.length), REST_SECONDS);
    places.set(`${name}.wav`, own.places);
    await add(url, `${name}.wav`, wav(own.samples, RATE));
  }
  let nFound = 0;
  for (const [query, talk, sentence] of QUESTIONS) {
    const { results } = (await post(url, '/api/v1/vector/search', {
      tenant: 'default',
      namespace: NAMESPACE,
      query,
      top_k: 1,
    })) as { results: Place[] };
    const [first] = results;
    const place = places.get(`${talk}.wav`)?.[sentence];
    const isFound =
      first !== undefined &&
      place !== undefined &&
      first.source === `${talk}.wav` &&
      Math.abs((first.start_seconds ?? Infinity) - place.begin) <= NEAR_SECONDS;
    nFound += Number(isFound);
    if (!isFound)
      console.log(
        `${query} is at ${talk} ${place?.begin.toFixed(1)} s, and was found at ${first?.source} ${first?.start_seconds} s`,
      );
  }
  return [shareFigure(`questions that find the talk and the place within ${NEAR_SECONDS} s`, nFound, QUESTIONS.length, 1)];
}

/** Uploads a recording, and waits until it is indexed. */
async function add(url: string, filename: string, content: Buffer): Promise<void> {
  const begun = (await post(url, '/api/v1/upload/init', { filename, size: content.length, namespace: NAMESPACE })) as {
    upload_id: string;
    chunk_size?: number;
  };
  const size = begun.chunk_size ?? content.length;
  for (let i = 0; i * size < content.length; i++)
    await post(url, '/api/v1/upload/chunk', content.subarray(i * size, (i + 1) * size), {
      'x-upload-id': begun.upload_id,
      'x-chunk-index': String(i),
    });
  const { job_id: job } = (await post(url, '/api/v1/upload/finalize', { upload_id: begun.upload_id })) as { job_id: string };
  await (await fetch(`${url}/api/v1/system/jobs/${job}/events`)).text();
  const ended = (await (await fetch(`${url}/api/v1/system/jobs/${job}`)).json()) as { state: string; error?: object };
  if (ended.state !== 'done') throw new Error(`${filename} was not indexed: ${JSON.stringify(ended.error)}`);
}

async function post(url: string, path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const isBytes = Buffer.isBuffer(body);
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': isBytes ? 'application/octet-stream' : 'application/json', ...headers },
    body: isBytes ? new Uint8Array(body) : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
