/** Four recorded talks in a knowledge base: questions find the talk and the seconds in which the answer is said. */
import { wav } from '../../../ts/server/domains/inference/media/test-support/sounds.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { KnowledgeClient } from '../knowledge/knowledge-client.ts';
import { type Clip, joined, RATE } from './clips.ts';
import { QUESTIONS, TALKS } from './sentences.ts';

const NEAR_SECONDS = 2;
const REST_SECONDS = 0.8;

/** `speak` gives a clip of each sentence. */
export async function measureFoundPlaces(
  url: string,
  speak: (sentences: readonly string[]) => Promise<Clip[]>,
): Promise<Figure[]> {
  const client = new KnowledgeClient(url, 'talks');
  const places = new Map<string, { begin: number; end: number }[]>();
  const clips = await speak(TALKS.flatMap(({ says }) => says));
  for (const { name, says } of TALKS) {
    const own = await joined(clips.splice(0, says.length), REST_SECONDS);
    places.set(`${name}.wav`, own.places);
    await client.addFile(`${name}.wav`, wav(own.samples, RATE));
  }
  let nFound = 0;
  for (const [query, talk, sentence] of QUESTIONS) {
    const [first] = await client.places(query, 'hybrid', 1);
    const place = places.get(`${talk}.wav`)?.[sentence];
    const isFound =
      first !== undefined &&
      place !== undefined &&
      first.source === `${talk}.wav` &&
      Math.abs((first.startSeconds ?? Infinity) - place.begin) <= NEAR_SECONDS;
    nFound += Number(isFound);
    if (!isFound)
      console.log(
        `${query} is at ${talk} ${place?.begin.toFixed(1)} s, and was found at ${first?.source} ${first?.startSeconds} s`,
      );
  }
  return [shareFigure(`questions that find the talk and the place within ${NEAR_SECONDS} s`, nFound, QUESTIONS.length, 1)];
}
