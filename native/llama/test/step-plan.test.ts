/** What a step's batch holds, by a table of states (step_plan_test.cpp says how they are written). */
import t from 'tap';
import { linesOf, noReferences } from './reference.ts';

const planOf = async (state: string) => (await linesOf('step-plan-test', state.split(' ').filter(Boolean)))[0];

t.test('the rows of a step follow from the state of those that could go on', { skip: noReferences() }, async (t) => {
  const table: [string, string, string][] = [
    ['nobody', '', 'nothing'],
    ['all that decode get a row, in the order of their sequences', '2=decode 0=decode 1=decode', '0:1 1:1 2:1'],
    ['and their drafts', '0=decode+3 1=decode', '0:4 1:1'],
    ['no more than the batch has rows for', 'batch=2 0=decode 1=decode 2=decode', '0:1 1:1'],
    ['a prompt alone gets a physical batch', '0=5000', '0:512'],
    ['what is left of it', '0=100', '0:100'],
    ['beside streams whole tiles, and one token that goes with these', '0=decode 1=5000', '0:1 1:193'],
    ['in unified KV buffer, tiles with their rows', 'unified 0=decode 1=5000', '0:1 1:191'],
    ['drafts take the place of prompt tokens', '0=decode+64 1=5000', '0:65 1:129'],
    ['the shortest prompt first', '0=5000 1=100', '0:64 1:100'],
    ['a gap is closed by rows for nobody', '0=decode 3=decode', '0:1 1:pad 2:pad 3:1'],
    ['unless these would cost more than a pass', 'open 0=decode 3=decode', '0:1 3:1'],
    ['or the batch has no rows left', 'batch=3 0=decode 3=decode', '0:1 3:1'],
    ['gaps are closed from below', 'batch=4 0=decode 2=decode 4=decode', '0:1 1:pad 2:1 4:1'],
    ['below the first and above the last there is no gap', '2=decode', '2:1'],
    ['one set of adapters in a step: the one that waited longest', '0=decode@a/5 1=decode@b/3 2=decode@a/5', '1:1'],
    ['of equals, the one that began first', '0=decode@a/3 1=decode@b/3', '0:1'],
    ['prompts with other adapters wait, too', '0=decode@a/3 1=100@b/4 2=100@a/3', '0:1 1:pad 2:100'],
    ['one that an evaluation failed with is alone', '0=decode 1=decode! 2=100', '1:1'],
    ['of several, the first, whoever has the turn', '0=decode@a/1 1=decode@b/9! 2=decode@b/9!', '1:1'],
    ['a suspected prompt goes on as if it were alone', '0=decode 1=5000!', '1:512'],
    ['an image is evaluated by itself', '0=decode 1=image', 'image 1'],
    ['between two images, streams get a step', 'was_image 0=decode 1=image', '0:1'],
    ['where there are none, the next image', 'was_image 0=image 1=image', 'image 0'],
    ['an image of other adapters waits', '0=decode@a/1 1=image@b/2', '0:1'],
    ['an image waits while another is suspected', '0=decode! 1=image', '0:1'],
  ];
  for (const [situation, state, expected] of table) t.equal(await planOf(state), expected, situation);
});
