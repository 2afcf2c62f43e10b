import t from 'tap';
import { compareDoor } from './door.ts';

const door = `
  interface RawEngine { submit(job: Job): number; close(): Promise<void> }
  export interface LlamaAddon { startLoad(options: LoadOptions): void }
  export interface ModelInfo { notAMethodOfTheDoor: string }`;

const native = `
  DefineClass(env, "Engine", {InstanceMethod<&Engine::submit>("submit"), InstanceMethod("close", &Engine::close)});
  exports.Set("startLoad", Napi::Function::New<start_load>(env, "startLoad"));`;

t.test('a door that agrees with its addon has no differences', async (t) => {
  t.strictSame(compareDoor(door, native), []);
});

t.test('a method that C++ forgot is named', async (t) => {
  t.strictSame(compareDoor(door, native.replace('"submit"', '"send"')), [
    'submit is declared in the door and not registered in C++',
    'send is registered in C++ and not declared in the door',
  ]);
});

t.test('an exported function that the door does not know is named', async (t) => {
  t.strictSame(compareDoor(door, `${native} exports.Set("secret", f);`), [
    'secret is registered in C++ and not declared in the door',
  ]);
});
