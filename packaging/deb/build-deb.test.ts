import t from 'tap';
import { findFlavour } from '../flavour.ts';
import { control } from './build-deb.ts';

t.test('the package asks for the C library that its program needs', async (t) => {
  t.match(control(findFlavour('cpu', 'x86_64'), '5.0.1', 1), /^Depends: libc6 \(>= 2\.36\),/m);
  t.match(control(findFlavour('cpu', 'aarch64'), '5.0.1', 1), /^Depends: libc6 \(>= 2\.38\),/m);
  t.match(control(findFlavour('cpu', 'x86_64'), '5.0.1', 1), /^Recommends: .*openssh-client$/m);
});

t.test('the minimal package takes the place of svc', async (t) => {
  t.match(
    control(findFlavour('minimal', 'aarch64'), '5.0.1', 1),
    /^Package: svc-minimal$[\s\S]*^Conflicts: svc$\n^Provides: svc \(= 5\.0\.1\), svc-engine \(= .+\)$/m,
  );
  t.notMatch(control(findFlavour('cpu', 'x86_64'), '5.0.1', 1), /Conflicts/);
  t.notMatch(control(findFlavour('minimal', 'aarch64'), '5.0.1', 1), /\n\n/, 'an empty line would end it');
});

t.test('the GPU package asks for an svc of the same engine and for the driver', async (t) => {
  const engine = /^Provides: (svc-engine \(= [^)]+\))$/m.exec(control(findFlavour('cpu', 'x86_64'), '5.0.1', 1))?.[1] ?? 'none';
  const text = control(findFlavour('cuda', 'x86_64'), '5.0.2', 1);
  t.ok(text.includes(`Depends: ${engine}, libcuda1 | libcuda.so.1,`), text);
  t.notMatch(text, /\n\n|Conflicts/);
});
