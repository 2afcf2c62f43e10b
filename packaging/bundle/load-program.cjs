// Loads the program from its code cache, so that nothing is parsed and little is compiled at a start. A cache of another Node is
// ignored by V8: the program then starts as it would without one.
'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const filename = join(__dirname, 'program.cjs');

/**
 * @param {string} [profile] name of the cache
 * @param {string} [name] what the script is called, which becomes a part of caches
 */
exports.compileProgram = (profile, name = filename) =>
  // The bundler writes ASCII alone; V8 keeps such a source in one byte a character.
  new vm.Script(readFileSync(filename, 'latin1'), {
    filename: name,
    cachedData: profile === undefined ? undefined : readCache(profile),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });

/** @param {import('node:vm').Script} script */
exports.runProgram = (script) => {
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname, pathToFileURL(filename).href);
  return module.exports;
};

function readCache(profile) {
  try {
    return readFileSync(join(__dirname, `program.${profile}.cache`));
  } catch {
    return undefined;
  }
}
