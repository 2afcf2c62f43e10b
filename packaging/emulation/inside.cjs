// Required by a Node that runs in an emulator. It loads a library that this system's C library is too old for from a copy that asks for
// less, and starts its child processes in the emulator as well: the kernel cannot run them. The launcher that confines them is for
// another kernel interface than the emulator has, so they are started without it.
'use strict';
const childProcess = require('node:child_process');
const { basename } = require('node:path');

const [emulator, ...emulatorOptions] = JSON.parse(process.env.EMULATOR_COMMAND ?? '[]');
const replacements = JSON.parse(process.env.EMULATED_LIBRARIES ?? '{}');

const { dlopen } = process;
process.dlopen = (module, filename, ...rest) => dlopen(module, replacements[basename(filename)] ?? filename, ...rest);

const { spawn } = childProcess;
childProcess.spawn = (file, args = [], options = {}) => {
  // An emulated child takes ten times as long.
  const timeout = options.timeout === undefined ? {} : { timeout: options.timeout * 10 };
  const program = basename(file) === 'svc_confine' ? args.slice(args.indexOf('--') + 1) : [file, ...args];
  return spawn(emulator, [...emulatorOptions, ...program], { ...options, ...timeout });
};
