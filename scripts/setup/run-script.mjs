import { SetUpError } from './set-up-error.mjs';

/**
 * Runs a script's body: what the user can act on is printed as it is, anything else with its stack trace; both exit with 1.
 * @param {() => Promise<unknown>} body
 */
export async function runScript(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof SetUpError ? error.message : error);
    process.exitCode = 1;
  }
}
