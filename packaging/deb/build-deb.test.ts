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
    /^Package: svc-minimal$[\s\S]*^Conflicts: svc$\n^Provides: svc \(= 5\.0\.1\)$/m,
  );
  t.notMatch(control(findFlavour('cpu', 'x86_64'), '5.0.1', 1), /Conflicts/);
  t.notMatch(control(findFlavour('minimal', 'aarch64'), '5.0.1', 1), /\n\n/, 'an empty line would end it');
});
