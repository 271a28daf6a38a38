import { join } from 'node:path'
import { build } from 'tsdown'
import shared from '../../tsdown.config.ts'
import { builtPath, plain } from './entries.ts'
import { licences } from './licences.ts'

/** Builds one file of a package with what it uses of all that it imports, over what was built of it alone. */
export async function buildWhole(folder: string, path: string, stage: string, root: string): Promise<void> {
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
    plugins: [licences()],
    // Errors are told apart by the names of their classes.
    minify: { compress: true, mangle: { keepNames: { class: true, function: false } }, codegen: true },
  })
}
