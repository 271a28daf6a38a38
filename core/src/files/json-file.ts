import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JsonFile, JsonFileOptions } from '../types/index.ts'
import { withLock } from './lock.ts'
import { writeAtomically } from './writing.ts'

/** A JSON file that is written atomically and never overwritten when its content cannot be used. */
export function jsonFile<T>(options: JsonFileOptions<T>): JsonFile<T> {
  const { path, lock } = options
  const content = (): T | 'missing' | 'unusable' => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
      throw thrown
    }
    try {
      const parsed: unknown = JSON.parse(text)
      return options.accepts(parsed) ? parsed : 'unusable'
    } catch {
      return 'unusable'
    }
  }
  return {
    path,
    read: () => {
      const found = content()
      return found === 'missing' || found === 'unusable' ? options.empty() : found
    },
    update: async (change) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const work = (): T => {
        let found = content()
        // Under the lock, or a good file that another process has just written could be set aside.
        if (found === 'unusable') {
          const keptAs = `${path}.unreadable-${Date.now()}`
          renameSync(path, keptAs)
          options.onSetAside?.(path, keptAs)
          found = 'missing'
        }
        const before = found === 'missing' ? options.empty() : found
        const next = change(before)
        if (next === before) return before
        writeAtomically(path, `${JSON.stringify(next, undefined, 2)}\n`)
        return next
      }
      return withLock(path, work, lock)
    },
  }
}
