/** Runs each text function of the server on its worst texts, and finds those whose time grows faster than the text. */
import { findGrowth } from './growth.ts';
import { type TextFunction, textFunctions } from './text-functions.ts';
import { worstTexts } from './worst-texts.ts';

interface TextFinding {
  readonly name: string;
  /** One line each: the text and its times. */
  readonly faults: readonly string[];
}

/** For a text of 1 MiB, ten times what the slowest takes; of shorter ones proportionally less, but no less than the least. */
const LIMIT_MS = { onLoop: 4_000, inThread: 20_000, least: 1_000 };
const MIB = 1024 * 1024;

/** @param length the longest text, in UTF-16 code units. */
export async function* textFindings(length: number): AsyncGenerator<TextFinding> {
  for (const each of textFunctions) yield { name: each.name, faults: await faultsOf(each, length) };
}

async function faultsOf(each: TextFunction, length: number): Promise<string[]> {
  const faults: string[] = [];
  const longest = longestOf(each, length);
  const share = longest / MIB;
  const limitMs = Math.max(LIMIT_MS.least, share * (each.isInThread === true ? LIMIT_MS.inThread : LIMIT_MS.onLoop));
  for (const [name, make] of worstTexts) {
    const fault = await findGrowth((n) => timeOf(each, make(n)), longest, limitMs);
    if (fault !== undefined) faults.push(`${name}: ${fault}`);
  }
  return faults;
}

/** Prints each function with what was found, and returns how many have a fault. */
export async function printTextFindings(length: number): Promise<number> {
  let nFaulty = 0;
  for await (const { name, faults } of textFindings(length)) {
    console.log(faults.length === 0 ? `ok      ${name}` : `FAULTY  ${name}\n          ${faults.join('\n          ')}`);
    if (faults.length > 0) nFaulty += 1;
  }
  return nFaulty;
}

function longestOf({ most = Number.POSITIVE_INFINITY }: TextFunction, length: number): number {
  return Math.min(most, length);
}

/** A refusal is an answer as another; an error of JavaScript's own is a defect. */
async function timeOf({ run }: TextFunction, text: string): Promise<number> {
  const startedAt = performance.now();
  try {
    await run(text);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) throw error;
  }
  return performance.now() - startedAt;
}
