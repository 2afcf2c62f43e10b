/** An empty root that an RPM is installed into, and the command that runs what is there. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { emulator } from '../../scripts/setup/arm64.mjs';
import { findProgram } from '../../scripts/setup/tools.mjs';
import { emulate } from '../emulation/emulator.ts';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { layout } from '../tree/layout.ts';
import type { Program } from './installed-server.ts';
import { type UnitLimits, unitLimits } from './unit/unit-limits.ts';

const program = [`/${layout.node}`, '--no-warnings', `/${layout.dist}/svc.cjs`];

export class ScratchRoot {
  readonly folder: string;
  readonly #flavour: Flavour;
  #limits: UnitLimits | undefined;

  constructor(folder: string, flavour: Flavour) {
    this.folder = folder;
    this.#flavour = flavour;
    mkdirSync(folder, { recursive: true });
  }

  path(...rest: string[]): string {
    return join(this.folder, ...rest);
  }

  /** Without scripts: an empty root has no shell. They are run by the Debian package, which has the same ones. */
  rpm(...args: string[]): Promise<string> {
    const architecture = this.isForeign && args.includes('-U') ? ['--ignorearch'] : [];
    return runTool('rpm', ['--root', this.folder, '--dbpath', '/var/lib/rpm', ...architecture, ...args], {
      debianPackage: 'rpm',
    });
  }

  install(...files: string[]): Promise<string> {
    return this.rpm('-U', '--nodeps', '--noscripts', '--nosignature', ...files);
  }

  /** Undefined: it can be run here. */
  whyNotRun(): string | undefined {
    if (this.isForeign) return emulator === undefined ? 'qemu-user-static is not installed' : undefined;
    return findProgram('bwrap') === undefined ? 'bubblewrap is not installed' : undefined;
  }

  /**
   * svc in the root, under what its unit allows. This machine's C library is bound into it, read-only, as the root has none; nothing else of
   * this machine is there. A program of another CPU is run by its emulator, which cannot be confined so: it finds the root by its paths.
   */
  async program(): Promise<Program> {
    mkdirSync(this.path('var/lib/svc'), { recursive: true });
    const path = { PATH: '/usr/bin:/bin' };
    if (this.isForeign) {
      const { command, env } = await emulate(this.folder, `${this.folder}-emulation`);
      const data = { SVC_DATA_DIR: this.path('var/lib/svc') };
      return { command: [...command, '--no-warnings', this.path(layout.dist, 'svc.cjs')], env: { ...path, ...env, ...data } };
    }
    if (!existsSync(this.path('lib'))) symlinkSync('usr/lib', this.path('lib'));
    const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
    for (const folder of [libraries, '/lib64']) mkdirSync(this.path(folder), { recursive: true });
    const unit = this.path(layout.units, 'svc.service');
    const where = { root: this.folder, folder: `${this.folder}-unit`, libraries: [libraries, '/lib64'] };
    this.#limits = await unitLimits(unit, where);
    return { command: [...this.#limits.command, ...program], env: { ...path, LD_LIBRARY_PATH: libraries } };
  }

  /** Which restrictions of its unit the program is under, once there is one. */
  describeLimits(): string {
    if (this.#limits === undefined) return 'under none of the restrictions of its unit';
    return `under ${this.#limits.inForce.join(', ')}; not tried, since no systemd runs here: ${this.#limits.leftToSystemd.join(', ')}`;
  }

  get isForeign(): boolean {
    return this.#flavour.target.arch !== process.arch;
  }
}
