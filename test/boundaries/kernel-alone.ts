import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { REPOSITORY } from './sources.ts'

/**
 * Copies the kernel and the errors, and nothing else of core, beside tapable, and runs `script` there
 * under this Node. `kernel` is the address of the kernel's index. Answers what the script printed.
 */
export async function runKernelAlone(script: string, root = REPOSITORY): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-alone-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(
      realpathSync(join(REPOSITORY, 'node_modules/tapable')),
      join(folder, 'node_modules/tapable'),
      'junction',
    )
    for (const path of globSync(['errors.ts', 'kernel/**/*.ts'], { cwd: join(root, 'core/src') })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      cpSync(join(root, 'core/src', path), join(folder, path))
    }
    const source = `import * as kernel from './kernel/index.ts'\n${script}`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { cwd: folder },
    )
    return stdout.trim()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
