import t from 'tap';
import { compareBinding } from './binding.ts';

const binding = `
  interface RawEngine { submit(job: Job): number; close(): Promise<void> }
  export interface LlamaAddon { startLoad(options: LoadOptions): void }
  export interface ModelInfo { notAMethodOfTheBinding: string }`;

const native = `
  DefineClass(env, "Engine", {InstanceMethod<&Engine::submit>("submit"), InstanceMethod("close", &Engine::close)});
  exports.Set("startLoad", Napi::Function::New<start_load>(env, "startLoad"));`;

t.test('a binding that agrees with its addon has no differences', async (t) => {
  t.strictSame(compareBinding(binding, native), []);
});

t.test('a method that C++ forgot is named', async (t) => {
  t.strictSame(compareBinding(binding, native.replace('"submit"', '"send"')), [
    'submit is declared in the binding and not registered in C++',
    'send is registered in C++ and not declared in the binding',
  ]);
});

t.test('an exported function that the binding does not know is named', async (t) => {
  t.strictSame(compareBinding(binding, `${native} exports.Set("secret", f);`), [
    'secret is registered in C++ and not declared in the binding',
  ]);
});
