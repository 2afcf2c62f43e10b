/** A storage whose modules' reads and writes are noted, to compare what two requests cost. */
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';

export type StorageOperation = 'read' | 'write';

export function countedStorage(storage: Storage, operations: StorageOperation[]): Storage {
  const access = <Tables>(): StorageAccess<Tables> => {
    const inner = storage.access<Tables>();
    return {
      dialect: inner.dialect,
      read: (scope, run) => {
        operations.push('read');
        return inner.read(scope, run);
      },
      write: (scope, run) => {
        operations.push('write');
        return inner.write(scope, run);
      },
      writeUnit: (scope, build) => {
        operations.push('write');
        return inner.writeUnit(scope, build);
      },
    };
  };
  return new Proxy(storage, {
    get: (target, key) => {
      if (key === 'access') return access;
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
