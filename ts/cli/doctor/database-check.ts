import { databaseOptions } from '../../server/database.ts';
import { modules } from '../../server/modules.ts';
import { createStorage, StorageError } from '../../server/platform/storage/index.ts';
import { broken, type Check, ok, warning } from './check.ts';

/** Before an upgrade it says what the next start will change, and afterwards that this was done. Changes nothing itself. */
export const databaseCheck: Check = {
  name: 'database',
  async run({ config }) {
    const options = databaseOptions(config.values, modules);
    try {
      const storage = createStorage(options);
      const damage = await storage.findDamage();
      if (damage !== undefined) return broken(damage.message, damage.remedy);
      const { pending, backupPath } = await storage.planMigrations();
      const all = options.modules.reduce((sum, { migrations }) => sum + migrations.length, 0);
      if (pending.length === 0)
        return ok(
          `the schema is that of this version (${all} migrations)${storage.file === undefined ? '' : ', and the file is whole'}`,
        );
      if (pending.length === all) return ok('none yet; the first start makes it');
      const names = pending.map(({ module, id, name }) => `${module} ${id} (${name})`).join(', ');
      const kept = backupPath === undefined ? 'back the database up before' : `it is copied to ${backupPath} before`;
      const finding = `${pending.length} changes of the schema are pending: ${names}`;
      return warning(
        finding,
        `start the server, or run \`svc migrate\`; ${kept}, and an older version cannot read it afterwards`,
      );
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return broken(error.message, error.remedy);
    }
  },
};
