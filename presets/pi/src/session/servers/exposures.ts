import type { Exposure } from '@tapline/core'

/** Every exposure, and what it means for a server's tools. */
export const EXPOSURES: Readonly<Record<Exposure, string>> = {
  codemode: 'callable from codemode scripts',
  deferred: 'found and loaded with tool_search',
  direct: 'declared to the model',
  hidden: 'unreachable',
}
