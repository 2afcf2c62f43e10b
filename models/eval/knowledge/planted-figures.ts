/** Facts planted on known pages: whether the page is found, whether citations name it, and whether what nobody planted is refused. */
import { type Figure, shareFigure } from '../figure.ts';
import type { KnowledgeClient, Place } from './knowledge-client.ts';
import { plant } from './planted-facts.ts';
import { toFile } from './planted-files.ts';

const PAGE_GOAL = 0.95;
const CITATION_GOAL = 1;
const REFUSAL_GOAL = 0.9;
const PLACES = 12;
const FIRST = 4;
/** Each so-manieth question is answered by the model. */
const CHAT_STRIDE = 2;

/** `onWrong` hears of each answer whose citations are not all right. */
export async function measurePlanted(
  client: KnowledgeClient,
  seed: number,
  onWrong: (line: string) => void = () => {},
): Promise<Figure[]> {
  const { documents, unanswerable } = plant(PLACES, seed);
  const asked: { question: string; literalQuestion: string; wanted: Place }[] = [];
  for (const [i, document] of documents.entries()) {
    const { name, bytes, pages } = toFile(document, i);
    await client.addFile(name, bytes);
    asked.push(
      ...document.pages.map(({ question, literalQuestion }, at) => ({
        question,
        literalQuestion,
        wanted: { source: name, page: pages[at] },
      })),
    );
  }
  let [nFound, nFoundByTerms, nCited, nRight, nAnswered] = [0, 0, 0, 0, 0];
  for (const [i, { question, literalQuestion, wanted }] of asked.entries()) {
    if ((await client.places(question, 'hybrid', FIRST)).some((place) => isSame(place, wanted))) nFound += 1;
    if ((await client.places(question, 'lexical', FIRST)).some((place) => isSame(place, wanted))) nFoundByTerms += 1;
    if (i % CHAT_STRIDE !== 0) continue;
    // Half of the chats ask in the words of the page, since the shipped model knows few others.
    const said = i % (2 * CHAT_STRIDE) === 0 ? question : literalQuestion;
    const { text, citations } = await client.ask(said);
    const right = citations.filter((place) => isSame(place, wanted));
    nCited += citations.length;
    nRight += right.length;
    if (right.length > 0) nAnswered += 1;
    if (right.length < citations.length) onWrong(JSON.stringify({ asked: said, wanted, text, citations }));
  }
  const refused: boolean[] = [];
  for (const { question } of unanswerable) refused.push(!(await client.isAnswerable(question)));
  const nRefused = (isKnown: boolean) => refused.filter((is, i) => is && unanswerable[i]?.isOfKnownPlace === isKnown).length;
  const nOfKnown = unanswerable.filter(({ isOfKnownPlace }) => isOfKnownPlace).length;
  const nChats = Math.ceil(asked.length / CHAT_STRIDE);
  return [
    shareFigure(`planted: right page in the first ${FIRST}, terms alone (BM25)`, nFoundByTerms, asked.length),
    shareFigure(`planted: right page in the first ${FIRST}, hybrid`, nFound, asked.length, PAGE_GOAL),
    shareFigure('planted: citations with the right document and page', nRight, nCited, CITATION_GOAL),
    shareFigure('planted: answers with a right citation', nAnswered, nChats),
    shareFigure('planted: unanswerable, of unknown places, refused', nRefused(false), unanswerable.length - nOfKnown),
    shareFigure('planted: unanswerable, of known places, refused', nRefused(true), nOfKnown),
    shareFigure('planted: unanswerable, refused', nRefused(true) + nRefused(false), unanswerable.length, REFUSAL_GOAL),
  ];
}

function isSame(found: Place, wanted: Place): boolean {
  return found.source === wanted.source && found.page === wanted.page;
}
