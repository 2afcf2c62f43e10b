/**
 * The system calls that a unit leaves to its service, as a filter for the kernel (seccomp(2), classic BPF): what a service manager would install for
 * SystemCallFilter=, SystemCallArchitectures=, RestrictAddressFamilies= and RestrictNamespaces=. For x86_64.
 */
import { readFileSync } from 'node:fs';
import { runTool } from '../../run-tool.ts';

const numbersFile = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h';
const AUDIT_ARCH_X86_64 = 0xc000003e;
/** Calls of another kernel interface have this bit. */
const X32_BIT = 0x40000000;
const CLONE_NEW_ANY = 0x7e020000;
const families: Record<string, number> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 };

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
/** Offsets in struct seccomp_data. */
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT] = [0, 4, 16];

const instruction = (code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
};
const load = (offset: number) => instruction(0x20, offset);
const jump = (skipped: number) => instruction(0x05, skipped);
const give = (value: number) => instruction(0x06, value);
const allow = give(0x7fff0000);
const refuse = (error: number) => give(0x00050000 | error);
/** What follows is skipped unless the loaded value is that one, has one of the bits, or is at least as large. */
const ifEqual = (value: number, skipped: number) => instruction(0x15, value, 0, skipped);
const ifAnyBit = (value: number, skipped: number) => instruction(0x45, value, 0, skipped);
const ifAtLeast = (value: number, skipped: number) => instruction(0x35, value, 0, skipped);

/** Bytes of an array of struct sock_filter. `service`: of the unit. Throws where this machine does not know the names. */
export async function callFilter(service: ReadonlyMap<string, readonly string[]>): Promise<Buffer> {
  const allowed = await allowedCalls(service.get('SystemCallFilter') ?? []);
  const numbers = callNumbers();
  const number = (name: string) => numbers.get(name) ?? 0xffff;
  const named = (service.get('RestrictAddressFamilies') ?? []).join(' ').split(/\s+/).filter(Boolean);
  const unknown = named.filter((name) => families[name] === undefined);
  if (unknown.length > 0) throw new Error(`RestrictAddressFamilies names ${unknown.join(', ')}, which this check does not know`);
  const socket = [
    load(FIRST_ARGUMENT),
    ...named.flatMap((name) => [ifEqual(families[name] ?? 0, 1), allow]),
    refuse(EAFNOSUPPORT),
  ];
  const clone = [load(FIRST_ARGUMENT), ifAnyBit(CLONE_NEW_ANY, 1), refuse(EPERM), allow];
  // Its arguments lie where no filter can read them; the C library then takes clone.
  const clone3 = [refuse(ENOSYS)];
  const special: [name: string, part: Buffer[]][] = [
    ['socket', socket],
    ['clone', clone],
    ['clone3', clone3],
    ...['unshare', 'setns'].map((name): [string, Buffer[]] => [name, [refuse(EPERM)]]),
  ];
  const known = [...allowed].filter((name) => numbers.has(name) && !special.some(([each]) => each === name));
  return Buffer.concat([
    ...[load(ARCHITECTURE), ifEqual(AUDIT_ARCH_X86_64, 2), load(NUMBER), jump(1), refuse(EPERM)],
    ...[ifAtLeast(X32_BIT, 1), refuse(EPERM)],
    ...special.flatMap(([name, part]) => [ifEqual(number(name), part.length), ...part]),
    ...known.flatMap((name) => [ifEqual(number(name), 1), allow]),
    refuse(EPERM),
  ]);
}

/** Lines are read in their order: the first says whether what is named is allowed or refused, and a tilde takes away. */
async function allowedCalls(lines: readonly string[]): Promise<Set<string>> {
  const allowed = new Set(await callsOf('@default'));
  if (lines[0] === undefined || lines[0].startsWith('~'))
    throw new Error('SystemCallFilter= of the unit lists no call that is allowed');
  for (const line of lines)
    for (const name of line.replace(/^~/, '').split(/\s+/))
      for (const call of await callsOf(name)) {
        if (line.startsWith('~')) allowed.delete(call);
        else allowed.add(call);
      }
  return allowed;
}

async function callsOf(name: string): Promise<string[]> {
  if (!name.startsWith('@')) return [name];
  const said = await runTool('systemd-analyze', ['syscall-filter', name, '--no-pager'], { debianPackage: 'systemd' });
  const members = said
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return (await Promise.all(members.map(callsOf))).flat();
}

function callNumbers(): Map<string, number> {
  const header = readFileSync(numbersFile, 'utf8');
  return new Map([...header.matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm)].map(([, name = '', value]) => [name, Number(value)]));
}
