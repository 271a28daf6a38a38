import type { Channels } from '@tapline/channels'
import type { Cron } from '@tapline/cron'
import type { InboxService } from '@tapline/inbox-sink'
import type { SignIns } from '@tapline/oauth'
import type { Prompts } from '@tapline/prompts'
import type { Resources } from '@tapline/resources'
import type { Rules } from '@tapline/rules-sink'

/** What built-in plugins offer to the program around them, once they are set up. */
export interface Services {
  channels?: Channels
  cron?: Cron
  inbox?: InboxService
  prompts?: Prompts
  resources?: Resources
  rules?: Rules
  signIns?: SignIns
}
