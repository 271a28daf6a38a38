/** One process on this machine that takes part: an interactive pi, or the headless host. */
export interface WindowRecord {
  readonly pid: number
  /** Tells apart sessions of one process, and processes that had the same pid. */
  readonly instance: string
  readonly sessionId?: string
  /** Real path of the project. */
  readonly cwd: string
  readonly kind: 'interactive' | 'host'
  /** RFC 3339. */
  readonly heartbeatAt: string
  /** It is ending: what waits elsewhere is not left to it. */
  readonly leaving?: boolean
}

/** Who takes part on this machine. Everyone computes the same answers from the same files. */
export interface Windows {
  readonly self: WindowRecord
  /** Every live one, this one included, by pid and instance. A killed process is no longer here at once. */
  list(): readonly WindowRecord[]
  /** The one that does what is done once per machine: the interactive one with the lowest pid, else the host. */
  leader(): WindowRecord
  /**
   * The one that does what is done once per project: the one whose session is `sessionId`, else the interactive one
   * with the lowest pid in the project (its directory or one below), else the leader.
   */
  ownerOf(cwd: string, sessionId?: string): WindowRecord
  /** Whether that is this one. */
  isSelf(record: WindowRecord): boolean
}
