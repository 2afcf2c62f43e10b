import { runTool } from '../run-tool.ts';
import { gpg, type SigningKey } from './signing-key.ts';

/** Puts a signature into an RPM. Its payload and header stay as they were. */
export async function signRpm(file: string, { name, home }: SigningKey): Promise<void> {
  const macros = { _gpg_name: name, __gpg: '/usr/bin/gpg', ...(home !== undefined && { _gpg_path: home }) };
  const defines = Object.entries(macros).flatMap(([macro, value]) => ['--define', `${macro} ${value}`]);
  await runTool('rpmsign', [...defines, '--addsign', file], { debianPackage: 'rpm' });
}

/** Writes FILE.asc. */
export async function signFile(file: string, key: SigningKey): Promise<void> {
  await gpg(key, '--yes', '--local-user', key.name, '--armor', '--detach-sign', '--output', `${file}.asc`, file);
}
