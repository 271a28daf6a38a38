import type { Chat, ChatMessage, Trigger } from '@tapline/core'
import type { InboxEntry } from './entry.ts'
import { frameFinding } from './framing.ts'
import { type Inbox, LONGEST_TEXT, type Triage } from './inbox.ts'
import { oneLine } from './text.ts'

const METHOD = 'inbox'

/** What became of a claim that was to start a turn. `onlyShown` says why the chat started none. */
export type ChatClaim = Triage & { readonly onlyShown?: string }

/** The inbox as a running Tapline offers it. */
export interface InboxService {
  readonly inbox: Inbox
  /**
   * Claims a finding and starts one turn with it, framed as data from outside. Where the chat refuses the turn, the
   * finding is only shown, for the next prompt to take along. Absent where there is no chat; rejects when the chat has
   * ended, and then the finding is claimed all the same.
   */
  readonly claimInChat?: (id: string, by?: string) => Promise<ChatClaim>
}

export function inboxService(inbox: Inbox, chat: Chat | undefined): InboxService {
  if (!chat) return { inbox }
  return {
    inbox,
    claimInChat: async (id, by) => {
      const triage = await inbox.claim(id, by)
      if (!triage.done) return triage
      const message = messageOf(triage.entry)
      try {
        chat.run(message)
        return triage
      } catch (thrown) {
        chat.show(message)
        return { ...triage, onlyShown: thrown instanceof Error ? thrown.message : String(thrown) }
      }
    },
  }
}

function messageOf(entry: InboxEntry): ChatMessage {
  const { run_id: traceId, source: server } = entry
  const text = frameFinding(entry)
  return { text, traceId, server, method: METHOD, asked: true, trigger: findingAnew(entry) }
}

/** What comes back to the inbox of a turn that never came: of its run, there is a finding already. */
function findingAnew({ id, source: from, cwd, text }: InboxEntry): Trigger {
  const label = from.replace(/^trigger:/, '')
  const server = label.replace(/^mcp:/, '')
  return {
    kind: 'trigger',
    traceId: `${id}:turn`,
    source: server === label ? label : 'mcp',
    server,
    method: METHOD,
    key: id,
    replacement: 'drop',
    summary: oneLine(text, LONGEST_TEXT),
    cwd,
    receivedAt: Date.now(),
  }
}
