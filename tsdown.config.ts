import type { UserConfig } from 'tsdown'

/**
 * How every package is built: ESM only, one output file per source file, so that a path relative to
 * `import.meta.url` means the same in `src` and in `dist`. `test/packed` adds the entries of each package.
 */
const shared: UserConfig = {
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  unbundle: true,
  fixedExtension: false,
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
