import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withLock, writeAtomically } from '@tapline/core'

/**
 * Stores a token in pi's credential store, `<agent dir>/auth.json`, and answers the file's path. pi reads a stored key
 * as a command or with variables in it, so what begins either is written so that it stands for itself.
 */
export async function storeInPi(agentDir: string, ref: string, token: string): Promise<string> {
  const key = token.replaceAll('$', '$$$$').replace(/^!/, '$!')
  const path = pathOf(agentDir)
  await withLock(path, () => {
    const entries = entriesOf(path) ?? {}
    // `__proto__` would set what it names.
    Object.defineProperty(entries, ref, {
      value: { type: 'api_key', key },
      enumerable: true,
      configurable: true,
      writable: true,
    })
    writeAtomically(path, `${JSON.stringify(entries, undefined, 2)}\n`)
  })
  return path
}

/** Removes an entry of pi's credential store; answers whether there was one. Everything else stays as it was. */
export async function removeFromPi(agentDir: string, ref: string): Promise<boolean> {
  const path = pathOf(agentDir)
  if (!existsSync(path)) return false
  return withLock(path, () => {
    const entries = entriesOf(path)
    if (!entries || !Object.hasOwn(entries, ref)) return false
    // oxlint-disable-next-line typescript/no-dynamic-delete -- it was read a moment ago, and is written back
    delete entries[ref]
    writeAtomically(path, `${JSON.stringify(entries, undefined, 2)}\n`)
    return true
  })
}

/** pi locks the file that a link leads to. */
function pathOf(agentDir: string): string {
  const path = join(agentDir, 'auth.json')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return existsSync(path) ? realpathSync(path) : path
}

/** Never quotes the file. Throws rather than lose what stands in it. */
function entriesOf(path: string): Record<string, unknown> | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read (${code}).`, { cause: thrown })
  }
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    throw new Error(`${path} is not valid JSON: it was left alone. Fix it, then try again.`)
  }
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries))
    throw new Error(`${path} holds no object: it was left alone. Fix it, then try again.`)
  return entries as Record<string, unknown>
}
