/** `npm run hostile`: what one request could do to everybody else, each finding by what it was found in. */
import { printTextFindings } from './text-findings.ts';

const nFaulty = await printTextFindings(1024 * 1024);
console.log(nFaulty === 0 ? 'No function has a fault.' : `${nFaulty} functions have a fault.`);
process.exitCode = nFaulty === 0 ? 0 : 1;
