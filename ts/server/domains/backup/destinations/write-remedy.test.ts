import t from 'tap';
import { writeRemedy } from './write-remedy.ts';

const failed = (code: string): Error => Object.assign(new Error(code), { code });

t.test('a folder that the unit keeps read-only is told with the drop-in that admits it', (t) => {
  for (const code of ['EROFS', 'EACCES', 'EPERM']) {
    const said = writeRemedy(failed(code), '/mnt/backups/svc', 'make room');
    t.match(said, /systemctl edit svc\.service/, code);
    t.match(said, 'ReadWritePaths=/mnt/backups/svc', code);
  }
  t.equal(writeRemedy(failed('ENOSPC'), '/mnt/backups/svc', 'make room'), 'make room');
  t.end();
});
