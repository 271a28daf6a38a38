import { builtPath, isSource, plain } from './entries.ts'
import type { Plan } from './entries.ts'
import type { Exports, Manifest } from './workspaces.ts'

/** The manifest of the staged copy: what pointed at `src` points at `dist`, except what pi itself loads. */
export function stagedManifest(manifest: Manifest, plan: Plan): Manifest {
  const { scripts: _scripts, devDependencies: _dev, builtWhole: _whole, ...published } = manifest
  if (plan.entries.length === 0) return published
  const kept = (manifest.files ?? []).filter((file) => plain(file) !== 'src')
  const thin = plan.copied.some((path) => path.startsWith('src/')) ? ['src'] : []
  return {
    ...published,
    ...(manifest.bin === undefined ? {} : { bin: builtBin(manifest.bin) }),
    ...(manifest.exports === undefined ? {} : { exports: builtExports(manifest.exports) }),
    ...(rootSource(manifest.exports) ? { types: `./${typesOf(rootSource(manifest.exports)!)}` } : {}),
    files: ['dist', ...thin, ...kept],
  }
}

function builtExports(target: Exports): Exports {
  if (typeof target === 'object') {
    return Object.fromEntries(Object.entries(target).map(([key, value]) => [key, builtExports(value)]))
  }
  if (!isSource(target)) return target
  return { types: `./${typesOf(target)}`, default: `./${builtPath(plain(target))}` }
}

function builtBin(bin: NonNullable<Manifest['bin']>): NonNullable<Manifest['bin']> {
  const built = (path: string) => (isSource(path) ? `./${builtPath(plain(path))}` : path)
  if (typeof bin === 'string') return built(bin)
  return Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, built(path)]))
}

function rootSource(exports: Exports | undefined): string | undefined {
  const root = typeof exports === 'object' ? exports['.'] : exports
  return typeof root === 'string' && isSource(root) ? root : undefined
}

function typesOf(source: string): string {
  return builtPath(plain(source)).replace(/\.js$/, '.d.ts')
}
