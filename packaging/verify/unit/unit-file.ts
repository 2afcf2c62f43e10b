/** What a unit file says, as systemd.unit(5) writes it: a line for each value, and an empty value that forgets those before it. */
import { readFileSync } from 'node:fs';

/** The values of each directive of the section [Service], in their order. */
export function readService(file: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  let section = '';
  for (const line of readFileSync(file, 'utf8')
    .split('\n')
    .map((each) => each.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    section = /^\[(.+)\]$/.exec(line)?.[1] ?? section;
    const [, name, value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (section !== 'Service' || name === undefined) continue;
    values.set(name, value === '' ? [] : [...(values.get(name) ?? []), value]);
  }
  return values;
}
