import { createRequire } from 'node:module'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** What servers are told of who connects. */
export const INFO = { name: 'tapline', version } as const
