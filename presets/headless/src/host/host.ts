import type { Host } from '@tapline/core'
import type { TaplineOptions } from './options.ts'

/** The host that plugins see: what of it there is here. */
export function hostOf(options: TaplineOptions): Host {
  const { info, mode, env, paths, chat, credentials, isModelProvider } = options
  return {
    ...info,
    mode,
    paths,
    env,
    ...(chat ? { chat } : {}),
    ...(credentials ? { credentials } : {}),
    ...(isModelProvider ? { isModelProvider } : {}),
  }
}
