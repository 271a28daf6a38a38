/** Which directories of this machine belong together. */
export interface Projects {
  /**
   * A directory without links; one that is gone, or cannot be looked at, is resolved as far as it can be. What is no
   * absolute path stays as it is. What was found counts for a moment: asking for many costs little. Never throws.
   */
  real(directory: string): string
  /** Whether `inner` is `outer` or lies in it. `/` and the home directory hold nothing but themselves. */
  holds(outer: string, inner: string): boolean
  /** Whether two directories are one project: one holds the other. */
  same(a: string, b: string): boolean
}
