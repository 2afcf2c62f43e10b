import t from 'tap';
import { findProxy } from './proxy-environment.ts';

const found = (address: string, environment: NodeJS.ProcessEnv) => findProxy(new URL(address), environment)?.href;

t.test('each scheme has its variable, small letters come first, and a bare host is an http proxy', async (t) => {
  const environment = { HTTPS_PROXY: 'http://one:3128', HTTP_PROXY: 'two:3128', https_proxy: 'https://three' };
  t.equal(found('https://a.example', environment), 'https://three/');
  t.equal(found('http://a.example', environment), 'http://two:3128/');
  t.equal(found('https://a.example', { HTTP_PROXY: 'two:3128' }), undefined);
  t.equal(found('https://a.example', { HTTPS_PROXY: 'one', https_proxy: '' }), undefined, 'an empty variable is none');
});

t.test('this machine is called without a proxy', async (t) => {
  for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]'])
    t.equal(found(`http://${host}:8080`, { HTTP_PROXY: 'two' }), undefined, host);
});

t.test('NO_PROXY lists names with what is below them, addresses, blocks and ports', async (t) => {
  const isDirect = (address: string, list: string) => found(address, { HTTPS_PROXY: 'p', NO_PROXY: list }) === undefined;
  t.ok(isDirect('https://a.example', '*'));
  for (const list of ['lan', '.lan', '*.lan', 'x, LAN', 'x lan', 'lan:443']) t.ok(isDirect('https://db.lan', list), list);
  for (const list of ['', 'an', 'db.lan.example', 'lan:444', '10.0.0.0/8']) t.notOk(isDirect('https://db.lan', list), list);
  t.ok(isDirect('https://10.1.2.3', '10.0.0.0/8'));
  t.ok(isDirect('https://[fd00::5]', 'fd00::/8'));
  t.ok(isDirect('https://[fd00::5]:8443', '[fd00::5]:8443'));
  t.ok(isDirect('https://10.1.2.3', '10.1.2.3'));
  t.notOk(isDirect('https://11.1.2.3', '10.0.0.0/8,1.2.3,10.0.0.0/99,fd00::/8'));
});

t.test('what names no http proxy is an error that does not show its password', async (t) => {
  for (const text of ['socks5://u:secret@p', 'http://'])
    t.throws(() => found('https://a.example', { HTTPS_PROXY: text }), {
      failure: 'proxy_failed',
      message: /^HTTPS_PROXY names no/,
    });
});
