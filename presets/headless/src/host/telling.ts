import type { Diagnostic } from '@tapline/core'

/** What a person is told of, and what was told. */
export interface Telling {
  readonly told: readonly Diagnostic[]
  tell(diagnostic: Diagnostic): void
  /** Plugins say the same again and again; a person hears it once. */
  warnOnce(message: string): void
}

/** Keeps what it passes on. */
export function createTelling(onDiagnostic: (diagnostic: Diagnostic) => void): Telling {
  const told: Diagnostic[] = []
  const warned = new Set<string>()
  const tell = (diagnostic: Diagnostic): void => {
    told.push(diagnostic)
    onDiagnostic(diagnostic)
  }
  return {
    told,
    tell,
    warnOnce: (message) => {
      if (warned.has(message)) return
      warned.add(message)
      tell({ severity: 'warning', message })
    },
  }
}
