import { chatSink } from '@tapline/chat-sink'
import { configLoops } from '@tapline/config-loops'
import { configPi } from '@tapline/config-pi'
import type { Plugin } from '@tapline/core'
import { dedupWindow } from '@tapline/dedup-window'
import { keychain } from '@tapline/keychain'
import { stdio } from '@tapline/stdio'
import { streamableHttp } from '@tapline/streamable-http'
import { tools } from '@tapline/tools'
import { triggers } from '@tapline/triggers'

/** The plugins of every preset, in order: reading this list is reading the product. */
export function builtInPlugins(): readonly Plugin[] {
  return [
    configPi(),
    configLoops(),
    keychain(),
    stdio(),
    streamableHttp(),
    triggers(),
    dedupWindow(),
    chatSink(),
    tools(),
  ]
}
