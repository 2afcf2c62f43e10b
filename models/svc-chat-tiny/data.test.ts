import t from 'tap';
import { findPython, runScript } from '../recipe/python.ts';

const python = await findPython(['jinja2']);
if (!python) t.plan(0, 'needs Python with Jinja2: apt-get install python3-jinja2');
else {
  t.test('the generator keeps its promises (data_test.py)', async () => {
    // unittest exits with 1 and says which promise was broken.
    await runScript(python, 'svc-chat-tiny/data_test.py', []);
  });
}
