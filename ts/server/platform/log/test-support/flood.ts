/** Writes more log lines to standard error than a sink may hold, says on standard output that it did, and ends when it reads a byte. */
import { FileDescriptorSink } from '../line-sink.ts';

const nLines = 200_000;
const sink = new FileDescriptorSink(2);
process.once('exit', () => sink.flush());
for (let i = 0; i < nLines; i++) sink.write(`{"line":${i},"text":"é${'x'.repeat(40)}"}\n`);
process.stdout.write(`${JSON.stringify({ nLines })}\n`);
process.stdin.once('data', () => process.exit(0));
