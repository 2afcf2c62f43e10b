/** What can be told of the macOS package without a Mac: its scripts are read by a shell, its property lists are whole. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import t from 'tap';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');

t.test('every script is one that a shell reads', async (t) => {
  const scripts = [...globSync('*.sh', { cwd: import.meta.dirname }), 'postinstall'];
  t.equal(scripts.length, 4);
  for (const script of scripts) {
    t.doesNotThrow(() => execFileSync('sh', ['-n', join(import.meta.dirname, script)]), script);
    t.match(read(script), /^#!\/bin\/sh\n/, script);
  }
});

t.test('every property list closes what it opens, and has a value for each key', async (t) => {
  for (const file of globSync('*.plist', { cwd: import.meta.dirname })) {
    const open: string[] = [];
    const children: string[] = [];
    const parser = new Parser(
      {
        onopentagname: (name) => {
          if (open.at(-1) === 'dict') children.push(name);
          open.push(name);
        },
        onclosetag: (name, isImplied) => {
          t.notOk(isImplied && !['true', 'false'].includes(name), `${file}: ${name} is closed`);
          t.equal(open.pop(), name, file);
        },
      },
      { xmlMode: true },
    );
    parser.end(read(file));
    t.strictSame(open, [], file);
    t.equal(children.filter((name) => name === 'key').length * 2, children.length, file);
  }
});

t.test('the service starts what the package installs, as the user that it makes', async (t) => {
  const plist = read('svc.plist');
  t.match(plist, '<string>/usr/local/bin/svc</string>');
  t.match(plist, /<key>UserName<\/key>\s*<string>_svc<\/string>/);
  t.match(read('postinstall'), 'dscl . -create /Users/_svc');
  t.match(read('postinstall'), '/Library/LaunchDaemons/svc.plist');
  t.match(read('svc.sh'), 'exec /usr/local/lib/svc/bin/node');
});
