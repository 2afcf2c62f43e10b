/**
 * The seed of what a test does at random: `npm test` prints one for a run and gives it to every file, so that what failed can be done again. A
 * file that runs by itself has its own, and prints it.
 */
import { randomInt } from 'node:crypto';
import t from 'tap';
import { SeededRandom } from '../../models/random/seeded-random.ts';

const seed = Number(process.env['SVC_TEST_SEED'] ?? randomInt(2 ** 31));
t.comment(`SVC_TEST_SEED=${seed}`);

/** Of this file. */
export const random = new SeededRandom(seed);
