import type { UserConfig } from 'tsdown'

/**
 * How every package is built: ESM only. Of a program, one output file per source file, so that a path relative to
 * `import.meta.url` means the same in `src` and in `dist`; of a library, one file per entry and per import that comes
 * later, since each file costs time and memory. `test/packed` adds the entries of each package, and tells them apart.
 */
const shared: UserConfig = {
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  fixedExtension: false,
  // What the documentation comments say is in the declarations; in the code they would only take memory.
  outputOptions: { comments: { jsdoc: false } },
  // Modules imported for their effect stay, although the manifests say `"sideEffects": false`.
  treeshake: { moduleSideEffects: true },
  // One run of the compiler writes the declarations of all packages: `test/packed/types.ts`.
  dts: false,
  deps: { neverBundle: (id, importer) => importer !== undefined && !/^[./]|^[a-zA-Z]:[\\/]/.test(id) },
  logLevel: 'warn',
  report: false,
  clean: false,
}

export default shared
