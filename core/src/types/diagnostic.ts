/** Something a person should know about a file, a server or a plugin. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info'
  /** One sentence or two: what is wrong, where, what to do. Already free of secrets. */
  readonly message: string
  readonly path?: string
  /** 1-based. */
  readonly line?: number
  readonly server?: string
}
