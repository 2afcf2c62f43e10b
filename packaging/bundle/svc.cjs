// The `svc` command of an installed package.
'use strict';
const { compileProgram, runProgram } = require('./load-program.cjs');

const { join } = require('node:path');

const args = process.argv.slice(2);
const isServer = args[0] === 'serve' && !args.includes('--help');
// The database's writer loads while this thread reads the program; see SpareThreads.
const startedThreads = isServer ? { writer: startWriter() } : undefined;
// Each cache holds what one way through the program runs, since reading a cache takes time too.
const script = compileProgram(isServer ? 'serve' : 'command');
runProgram(script).main(args, startedThreads);

function startWriter() {
  const { Worker } = require('node:worker_threads');
  const worker = new Worker(join(__dirname, 'sqlite-writer.cjs'), { name: 'sqlite-writer', execArgv: [] });
  worker.unref();
  // Whoever takes it meets the same fault with the next one, and tells it.
  worker.on('error', () => undefined);
  return worker;
}
