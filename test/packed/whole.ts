import { join } from 'node:path'
import { build, type UserConfig } from 'tsdown'
import shared from '../../tsdown.config.ts'
import { builtPath, plain } from './entries.ts'
import { licences } from './licences.ts'

/** A file of a package in `folder`, and the files of it that are built in instead of modules. */
export interface WholeFile {
  readonly folder: string
  readonly path: string
  readonly instead: Readonly<Record<string, string>>
}

/** Builds one file of a package with what it uses of all that it imports, over what was built of it alone. */
export async function buildWhole(
  { folder, path, instead }: WholeFile,
  stage: string,
  root: string,
): Promise<void> {
  const built = builtPath(plain(path))
  await build({
    ...shared,
    config: false,
    cwd: folder,
    entry: { [built.replace(/^dist\//, '').replace(/\.js$/, '')]: join(folder, path) },
    outDir: join(stage, 'dist'),
    tsconfig: join(root, 'tsconfig.json'),
    unbundle: false,
    deps: { alwaysBundle: () => true, onlyBundle: false },
    treeshake: { moduleSideEffects: false },
    plugins: [replaced(folder, instead), licences()],
    // Errors are told apart by the names of their classes.
    minify: { compress: true, mangle: { keepNames: { class: true, function: false } }, codegen: true },
  })
}

function replaced(folder: string, instead: WholeFile['instead']): NonNullable<UserConfig['plugins']> {
  return {
    name: 'replaced',
    resolveId(module) {
      const path = instead[module]
      return path === undefined ? undefined : join(folder, path)
    },
  }
}
