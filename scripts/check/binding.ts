/**
 * Compares what an addon registers (C++) with what its typed binding declares (TypeScript): a method that only one of them
 * names is found here and not by a user.
 */
import ts from 'typescript';

/** Members of the binding's `Raw*` interfaces and of its `*Addon` interface. */
function declaredMethods(bindingSource: string): Set<string> {
  const file = ts.createSourceFile('binding.ts', bindingSource, ts.ScriptTarget.ESNext);
  const bindings = file.statements.filter(ts.isInterfaceDeclaration).filter(({ name }) => /^Raw[A-Z]|Addon$/.test(name.text));
  return new Set(
    bindings.flatMap(({ members }) => members.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []))),
  );
}

/** Names that the C++ sources give to JS functions: class methods and accessors, and functions set on the exports. */
function registeredMethods(nativeSource: string): Set<string> {
  const patterns = [
    /\bInstance(?:Method|Accessor)\s*(?:<[^>]*>)?\s*\(\s*"(\w+)"/g,
    /\bexports\.Set\(\s*"(\w+)"/g,
    /\bFunction::New\s*(?:<[^>]*>)?\s*\([^"()]*"(\w+)"/g,
  ];
  return new Set(patterns.flatMap((pattern) => [...nativeSource.matchAll(pattern)].flatMap(([, name]) => name ?? [])));
}

export function compareBinding(bindingSource: string, nativeSource: string): string[] {
  const declared = declaredMethods(bindingSource);
  const registered = registeredMethods(nativeSource);
  return [
    ...[...declared]
      .filter((name) => !registered.has(name))
      .map((name) => `${name} is declared in the binding and not registered in C++`),
    ...[...registered]
      .filter((name) => !declared.has(name))
      .map((name) => `${name} is registered in C++ and not declared in the binding`),
  ];
}
