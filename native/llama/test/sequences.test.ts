/**
 * Which sequences are given out (sequences_test.cpp): running ones lie side by side, as every gap is a pass more in each step, a
 * sequence that was copied holds its own cells, and a state that is saved while others evaluate is that of the saved tokens.
 */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { linesOf, noReferences } from './reference.ts';

t.test('sequences that run lie side by side', { skip: noReferences() }, async (t) => {
  const lines = await linesOf('sequences-test', [nativeFolder(), await randomModel({}), await randomModel({ arch: 'gemma3' })]);
  t.strictSame(lines, [
    'cached prefixes everywhere: 0 1 2',
    'which is saved next: 0 1',
    'a saved one that leaves a gap: 1',
    'an empty one beyond a cached prefix: 0 2',
    'an empty one beyond a cached prefix: 0 1',
    'gaps that are filled: none, a shallow one, a deep one: 1 1 0',
    'a source that goes to another tenant has been copied: 1',
    'a copy can be saved: 1',
    'a save beside nothing is whole: 1',
    'a save beside the next turn is whole: 1',
    'a save beside another tenant is whole: 1',
  ]);
});
