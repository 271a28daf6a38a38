import { channels } from '@tapline/channels'
import { chatSink } from '@tapline/chat-sink'
import { configLoops } from '@tapline/config-loops'
import { configPi } from '@tapline/config-pi'
import type { Plugin } from '@tapline/core'
import { cron } from '@tapline/cron'
import { dedupWindow } from '@tapline/dedup-window'
import { inboxSink } from '@tapline/inbox-sink'
import { keychain } from '@tapline/keychain'
import { oauth } from '@tapline/oauth'
import { prompts } from '@tapline/prompts'
import { resources } from '@tapline/resources'
import { rulesSink } from '@tapline/rules-sink'
import { stdio } from '@tapline/stdio'
import { streamableHttp } from '@tapline/streamable-http'
import { tools } from '@tapline/tools'
import { redact, triggers } from '@tapline/triggers'
import { pushTrail } from './push-trail.ts'
import type { Services } from './services.ts'

/** The plugins of every preset, in order: reading this list is reading the product. They fill `services` as they are set up. */
export function builtInPlugins(services: Services = {}): readonly Plugin[] {
  return [
    configPi(),
    configLoops(),
    keychain(),
    oauth({ onReady: (signIns) => (services.signIns = signIns) }),
    stdio(),
    streamableHttp(),
    channels({ redact, onReady: (contract) => (services.channels = contract) }),
    triggers(),
    dedupWindow(),
    chatSink(),
    inboxSink({ onReady: (service) => (services.inbox = service) }),
    rulesSink({ onReady: (rules) => (services.rules = rules) }),
    cron({ onReady: (jobs) => (services.cron = jobs) }),
    pushTrail(),
    tools(),
    resources({ onReady: (ready) => (services.resources = ready) }),
    prompts({ onReady: (ready) => (services.prompts = ready) }),
  ]
}
